// The merge path: tiles downwards, atoms to the right, and the path between them cut into equal shares.
import { hue, theme } from "./colours.js";
import { mergeSearch } from "./schedules.js";

/**
 * Draws the path of `laid` on a canvas, in pieces of `share` tiles and atoms; `marked` is a piece, or -1.
 * looks: the tiles at which a binary search looks, along the diagonal where the marked piece begins.
 */
export function drawPath(canvas, laid, share, marked = -1, looks = []) {
  const { tiles, atoms, offsets } = laid, ratio = Math.min(2, window.devicePixelRatio || 1);
  const wide = Math.max(120, canvas.parentElement.clientWidth), edge = 26;
  const cell = Math.min(36, (wide - 2 * edge) / Math.max(1, atoms));
  const high = Math.min(420, Math.max(80, tiles * Math.max(cell, 0.02) + 2 * edge));
  const cellHigh = (high - 2 * edge) / Math.max(1, tiles);
  canvas.width = wide * ratio;
  canvas.height = high * ratio;
  canvas.style.height = `${high}px`;
  const pen = canvas.getContext("2d"), colours = theme();
  pen.scale(ratio, ratio);
  const x = (atom) => edge + atom * cell, y = (tile) => edge + tile * cellHigh;
  if (cell > 5 && cellHigh > 5) mesh(pen, colours, x, y, laid);
  const total = tiles + atoms, pieces = Math.ceil(total / Math.max(1, share));
  for (let piece = 0; piece < pieces; piece++) {
    const from = piece * share, to = Math.min(total, from + share);
    const first = mergeSearch(offsets, from);
    if (pieces <= 400) diagonal(pen, colours, x, y, from, tiles, atoms);
    pen.strokeStyle = hue(piece);
    pen.lineWidth = marked === piece ? 7 : marked >= 0 || cell <= 5 ? 2 : 4;
    pen.beginPath();
    pen.moveTo(x(from - first), y(first));
    let tile = first, atom = from - first;
    while (tile + atom < to) {
      const end = Math.min(offsets[tile + 1] ?? atoms, to - tile);
      if (end > atom) atom = end;
      else tile++;
      pen.lineTo(x(atom), y(tile));
    }
    pen.stroke();
  }
  looks.forEach((tile, i) => number(pen, colours, x(marked * share - tile), y(tile), i + 1));
  pen.textAlign = "left";
  pen.fillStyle = colours.muted;
  pen.font = "12px system-ui, sans-serif";
  pen.fillText("atoms →", edge, 14);
  pen.save();
  pen.translate(8, edge);
  pen.rotate(Math.PI / 2);
  pen.fillText("tiles →", 0, 0);
  pen.restore();
}

/** Lines between tiles and atoms, and the atoms of each tile. */
function mesh(pen, colours, x, y, { tiles, atoms, offsets }) {
  pen.fillStyle = colours.soft;
  for (let tile = 0; tile < tiles; tile++) pen.fillRect(x(offsets[tile]), y(tile), x(offsets[tile + 1]) - x(offsets[tile]), y(tile + 1) - y(tile));
  pen.strokeStyle = colours.faint;
  pen.lineWidth = 1;
  pen.beginPath();
  for (let atom = 0; atom <= atoms; atom++) stroke(pen, x(atom), y(0), x(atom), y(tiles));
  for (let tile = 0; tile <= tiles; tile++) stroke(pen, x(0), y(tile), x(atoms), y(tile));
  pen.stroke();
}

/** A place that a search looks at, in its order. */
function number(pen, colours, x, y, nth) {
  pen.fillStyle = colours.ink;
  pen.beginPath();
  pen.arc(x, y, 9, 0, 7);
  pen.fill();
  pen.fillStyle = colours.paper;
  pen.font = "bold 12px system-ui, sans-serif";
  pen.textAlign = "center";
  pen.fillText(nth, x, y + 4);
}

/** All places where tiles + atoms = `at`: the path crosses each such line once. */
function diagonal(pen, colours, x, y, at, tiles, atoms) {
  const high = Math.min(tiles, at), low = Math.max(0, at - atoms);
  pen.strokeStyle = colours.line;
  pen.lineWidth = 1;
  pen.setLineDash([3, 3]);
  pen.beginPath();
  stroke(pen, x(at - high), y(high), x(at - low), y(low));
  pen.stroke();
  pen.setLineDash([]);
}

function stroke(pen, x, y, toX, toY) {
  pen.moveTo(x, y);
  pen.lineTo(toX, toY);
}
