// A scene on a canvas: marks that have a step, in colours of workers, with what is around them. The views make scenes (views/).
//
// A scene is {wide, high, marks, links, frames, labels, shades, most, label}, all places in CSS pixels:
//   marks: {x, y, w, h, hue, step, text, round}. Before its step a mark is pale, at it marked, then in its hue.
//   links: {x1, y1, x2, y2, hue, step}, lines likewise.
//   frames: {x, y, w, h, text}. labels: {x, y, text, anchor}. shades: {x, y, w, h}, idle time.
//   lines: {x, y, h}: where one part ends. most: the number of steps. label: what a screen reader says.
import { hue, pale, theme } from "./colours.js";

export class Scene {
  constructor(canvas) {
    this.canvas = canvas;
  }

  width() {
    return Math.max(240, this.canvas.parentElement.clientWidth);
  }

  show(scene) {
    this.scene = scene;
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    this.ratio = scene.wide * scene.high * ratio * ratio > 30e6 ? 1 : ratio;
    this.canvas.width = scene.wide * this.ratio;
    this.canvas.height = scene.high * this.ratio;
    this.canvas.style.width = `${scene.wide}px`;
    this.canvas.style.height = `${scene.high}px`;
    this.canvas.setAttribute("aria-label", `${scene.label}. Arrow keys move from mark to mark.`);
  }

  /** Draws the state before step `now`; `focus` is the number of a mark, or -1. */
  draw(now, focus = -1) {
    const { scene, canvas } = this, pen = canvas.getContext("2d"), colours = theme();
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.clearRect(0, 0, scene.wide, scene.high);
    pen.font = "12px system-ui, sans-serif";
    pen.fillStyle = colours.idle;
    for (const { x, y, w, h } of scene.shades ?? []) pen.fillRect(x, y, w, h);
    const fresh = ({ step }) => step === now, style = (one) => fresh(one) ? colours.mark : one.step < now ? hue(one.hue) : pale(one.hue, colours.paper);
    for (const link of scene.links ?? []) {
      pen.strokeStyle = link.step > now ? colours.faint : style(link);
      pen.lineWidth = fresh(link) ? 2.5 : link.step < now ? 1.5 : 1;
      pen.beginPath();
      pen.moveTo(link.x1, link.y1);
      pen.lineTo(link.x2, link.y2);
      pen.stroke();
    }
    for (const one of scene.marks) shape(pen, one, style(one));
    pen.fillStyle = colours.line;
    for (const { x, y, h } of scene.lines ?? []) pen.fillRect(x - 0.5, y, 1, h);
    for (const frame of scene.frames ?? []) this.frame(pen, colours, frame);
    pen.fillStyle = colours.muted;
    for (const { x, y, text, anchor } of scene.labels ?? []) {
      pen.textAlign = anchor ?? "left";
      pen.fillText(text, x, y);
    }
    if (focus >= 0) outline(pen, colours, scene.marks[focus]);
  }

  frame(pen, colours, { x, y, w, h, text }) {
    pen.strokeStyle = colours.ink;
    pen.lineWidth = 1;
    pen.strokeRect(x - 0.5, y - 0.5, w + 1, h + 1);
    if (!text) return;
    pen.fillStyle = colours.ink;
    pen.textAlign = "left";
    pen.fillText(text, x, y - 5);
  }

  /** The number of the mark at a place of the canvas, in CSS pixels; -1 for none. */
  markAt(x, y) {
    const { marks } = this.scene;
    for (let i = marks.length - 1; i >= 0; i--) {
      const m = marks[i];
      if (x >= m.x - 1 && x <= m.x + m.w + 1 && y >= m.y - 1 && y <= m.y + m.h + 1) return i;
    }
    return -1;
  }

  /** The mark beside another one: the next of the list to the left and right, the nearest above and below. */
  beside(number, key) {
    const { marks } = this.scene, last = marks.length - 1;
    if (key === "Home" || key === "End") return key === "Home" ? 0 : last;
    if (key === "ArrowLeft" || key === "ArrowRight") return Math.max(0, Math.min(last, number + (key === "ArrowLeft" ? -1 : 1)));
    const from = marks[number], down = key === "ArrowDown";
    let best = number, least = Infinity;
    marks.forEach((m, i) => {
      const away = down ? m.y - from.y : from.y - m.y;
      const far = away + 3 * Math.abs(m.x - from.x);
      if (away > 0.5 && far < least) [best, least] = [i, far];
    });
    return best;
  }
}

function shape(pen, { x, y, w, h, round }, colour) {
  pen.fillStyle = colour;
  if (!round) return pen.fillRect(x, y, w, h);
  pen.beginPath();
  pen.arc(x + w / 2, y + h / 2, w / 2, 0, 7);
  pen.fill();
}

function outline(pen, colours, mark) {
  if (!mark) return;
  pen.strokeStyle = colours.ink;
  pen.lineWidth = 2;
  pen.strokeRect(mark.x - 2, mark.y - 2, mark.w + 4, mark.h + 4);
}
