// The grid of atoms on a canvas: a pixel an atom in an image, which is drawn enlarged.
import { hueOf, tables, theme, words } from "./colours.js";
import { WARP } from "./schedules.js";

const LARGEST = 18, MOST_HIGH = 2600, TALLEST = 16000; // pixels of a cell, of a grid, and of all its copies

export class Grid {
  constructor(canvas) {
    this.canvas = canvas;
    this.image = document.createElement("canvas");
  }

  /** Takes what is to be shown; colour: thread, warp or block; arrange: auto, rows or packed. */
  show(laid, launch, { arrange, colour, dense = 1 }) {
    Object.assign(this, { laid, launch, dense });
    const wide = this.width(), fit = this.longest() <= wide && laid.tiles <= MOST_HIGH;
    this.note = arrange === "rows" && !fit ? "packed, since a line a tile is too wide or too high" : "";
    this.arrange = arrange === "auto" ? this.fitting() : fit ? arrange : "packed";
    const by = { thread: 1, warp: WARP, block: launch.block }[colour];
    this.hues = Uint8Array.from(launch.worker, (w) => hueOf(Math.floor(w / by)));
    this.tile = new Int32Array(laid.atoms);
    for (let t = 0; t < laid.tiles; t++) this.tile.fill(t, laid.offsets[t], laid.offsets[t + 1]);
    this.place();
  }

  width() {
    return Math.max(120, this.canvas.parentElement.clientWidth);
  }

  fitting() {
    const { laid } = this, longest = this.longest();
    return laid.tiles <= 160 && longest <= 160 ? "rows" : "packed";
  }

  longest() {
    let most = 1;
    for (let t = 0; t < this.laid.tiles; t++) most = Math.max(most, this.laid.offsets[t + 1] - this.laid.offsets[t]);
    return most;
  }

  /** Gives each atom a place in the image, and the image a scale, for the canvas's width. */
  place() {
    const { laid } = this, wide = this.width();
    if (this.arrange === "rows") {
      this.columns = this.longest();
      this.lines = Math.max(1, laid.tiles);
      this.cell = clamp(Math.floor(wide / this.columns), 1, LARGEST);
    } else {
      const aim = Math.sqrt((wide * wide * 0.9) / Math.max(1, laid.atoms));
      this.cell = clamp(Math.floor(aim), 1, LARGEST);
      this.columns = Math.floor(wide / this.cell);
      this.lines = Math.max(1, Math.ceil(laid.atoms / this.columns));
    }
    while (this.cell > 1 && this.lines * this.cell > MOST_HIGH) this.cell--;
    if (this.arrange === "packed") this.lines = Math.max(1, Math.ceil(laid.atoms / (this.columns = Math.floor(wide / this.cell))));
    this.at = new Int32Array(laid.atoms);
    for (let k = 0; k < laid.atoms; k++) {
      const x = this.arrange === "rows" ? k - laid.offsets[this.tile[k]] : k % this.columns;
      const y = this.arrange === "rows" ? this.tile[k] : Math.floor(k / this.columns);
      this.at[k] = y * this.columns + x;
    }
    this.image.width = this.columns;
    this.image.height = this.lines;
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    this.gap = this.dense > 1 ? 6 : 0;
    this.high = this.lines * this.cell;
    this.dense = Math.max(1, Math.min(this.dense, Math.floor(TALLEST / this.high)));
    const height = this.high * this.dense + this.gap * (this.dense - 1);
    this.ratio = height * ratio > 8000 ? 1 : ratio;
    this.canvas.width = this.columns * this.cell * this.ratio;
    this.canvas.height = height * this.ratio;
    this.canvas.style.width = `${this.columns * this.cell}px`;
    this.canvas.style.height = `${height}px`;
    this.pixels = this.image.getContext("2d").createImageData(this.columns, this.lines);
    this.words = new Uint32Array(this.pixels.data.buffer);
  }

  /** Draws the state before step `now`; `marked(atom)`, if given, says which atoms stay in colour. */
  draw(now, marked = null, focus = -1) {
    const { laid, launch, hues, at, words: out } = this, colours = theme();
    const { done, ahead, aside, padding } = tables(colours.paper), active = words(colours.mark);
    out.fill(0);
    for (let k = 0; k < laid.atoms; k++) {
      const step = launch.step[k];
      let colour = step < now ? done[hues[k]] : ahead[hues[k]];
      if (step === now) colour = active;
      if (marked && !marked(k)) colour = aside[hues[k]];
      if (laid.masked?.[k]) colour = padding;
      out[at[k]] = colour;
    }
    this.image.getContext("2d").putImageData(this.pixels, 0, 0);
    const pen = this.canvas.getContext("2d");
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.imageSmoothingEnabled = false;
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    for (let copy = 0; copy < this.dense; copy++) {
      const top = copy * (this.high + this.gap);
      pen.drawImage(this.image, 0, top, this.columns * this.cell, this.high);
      this.rule(pen, colours, top);
    }
    if (focus >= 0) this.frame(pen, colours, focus);
  }

  /** Draws lines between cells, and heavier ones between tiles and items. */
  rule(pen, colours, top) {
    const { cell, columns, lines, laid } = this;
    if (cell >= 5) {
      pen.strokeStyle = colours.paper;
      pen.lineWidth = 1;
      pen.beginPath();
      for (let x = 0; x <= columns; x++) line(pen, x * cell, top, x * cell, top + this.high);
      for (let y = 0; y <= lines; y++) line(pen, 0, top + y * cell, columns * cell, top + y * cell);
      pen.stroke();
    }
    pen.fillStyle = colours.ink;
    if (this.arrange === "packed" && cell >= 4) {
      for (let t = 1; t < laid.tiles; t++) {
        const k = laid.offsets[t];
        if (k > 0 && k < laid.atoms) pen.fillRect((k % columns) * cell - 0.75, top + Math.floor(k / columns) * cell, 1.5, cell);
      }
    }
    if (!laid.items) return;
    for (const tile of laid.items) {
      const y = this.arrange === "rows" ? tile : Math.floor(laid.offsets[tile] / columns);
      pen.fillRect(0, top + y * cell - 0.75, columns * cell, 1.5);
    }
  }

  frame(pen, colours, k) {
    const x = (this.at[k] % this.columns) * this.cell, y = Math.floor(this.at[k] / this.columns) * this.cell;
    pen.strokeStyle = colours.ink;
    pen.lineWidth = 2;
    pen.strokeRect(x - 1, y - 1, this.cell + 2, this.cell + 2);
  }

  /** The atom at a place of the canvas, in CSS pixels; -1 for none. */
  atomAt(x, y) {
    const column = Math.floor(x / this.cell), row = Math.floor((y % (this.high + this.gap)) / this.cell);
    if (column < 0 || column >= this.columns || row < 0 || row >= this.lines) return -1;
    const { laid } = this;
    if (this.arrange === "packed") {
      const k = row * this.columns + column;
      return k < laid.atoms ? k : -1;
    }
    if (row >= laid.tiles) return -1;
    const k = laid.offsets[row] + column;
    return k < laid.offsets[row + 1] ? k : -1;
  }
}

function line(pen, x, y, toX, toY) {
  pen.moveTo(x, y);
  pen.lineTo(toX, toY);
}

const clamp = (x, least, most) => Math.max(least, Math.min(most, x));
