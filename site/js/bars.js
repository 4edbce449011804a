// Bars of work and of idle time: one for each thread, warp or block of a launch, in the order of the launch.
import { theme } from "./colours.js";

export class Bars {
  constructor(canvas) {
    this.canvas = canvas;
  }

  /** level: of `balance`. held: for each processor how long it is held, by its warp, its block or the launch. */
  show(level, held, most) {
    Object.assign(this, { level, held, most: Math.max(1, most) });
  }

  /** Draws the times up to step `now`; `marked` is the number of a processor that is pointed at, or -1. */
  draw(now, marked = -1) {
    const { canvas, level, held, most } = this, ratio = Math.min(2, window.devicePixelRatio || 1);
    const wide = Math.max(60, canvas.parentElement.clientWidth), high = 64, n = level.time.length;
    canvas.width = wide * ratio;
    canvas.height = high * ratio;
    canvas.style.height = `${high}px`;
    const pen = canvas.getContext("2d"), colours = theme();
    pen.scale(ratio, ratio);
    pen.fillStyle = colours.faint;
    pen.fillRect(0, high - 1, wide, 1);
    const pieces = Math.min(n, Math.floor(wide)), each = wide / Math.max(1, pieces), inner = each >= 4 ? each - 1 : each;
    const y = (time) => (Math.min(time, now) / most) * (high - 4);
    for (let piece = 0; piece < pieces; piece++) {
      const first = Math.floor((piece * n) / pieces), last = Math.max(first + 1, Math.floor(((piece + 1) * n) / pieces));
      let time = 0, atoms = 0, whole = 0;
      for (let i = first; i < last; i++) {
        time = Math.max(time, level.time[i]);
        whole = Math.max(whole, held[i]);
        atoms += level.atoms[i] / level.lanes;
      }
      const busy = atoms / (last - first), x = piece * each, hit = marked >= first && marked < last;
      bar(pen, x, inner, y(whole), high, colours.idle);
      if (level.lanes > 1) bar(pen, x, inner, y(time), high, colours.idle);
      bar(pen, x, inner, y(busy), high, hit ? colours.mark : colours.busy);
      if (hit) {
        pen.fillStyle = colours.mark;
        pen.fillRect(x, 0, Math.max(2, inner), 3);
      }
    }
    this.pieces = pieces;
    this.wide = wide;
  }

  /** The first processor at a place of the canvas, in CSS pixels. */
  processorAt(x) {
    const piece = Math.max(0, Math.min(this.pieces - 1, Math.floor((x / this.wide) * this.pieces)));
    return Math.floor((piece * this.level.time.length) / this.pieces);
  }
}

function bar(pen, x, wide, tall, high, colour) {
  if (tall <= 0) return;
  pen.fillStyle = colour;
  pen.fillRect(x, high - tall, Math.max(wide, 0.5), tall);
}
