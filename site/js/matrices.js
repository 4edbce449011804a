// Where patterns come from: presets, typed lengths, Matrix Market files, traces.
import { ofLengths, summed } from "./layouts.js";

const MOST_TILES = 200_000, MOST_NONZEROS = 1_000_000;

/** Parses "3 0 2, 5x4": lengths, and five rows of 4. Throws Error in one line. */
export function parseLengths(text) {
  const lengths = [];
  for (const word of text.split(/[\s,;]+/).filter(Boolean)) {
    const found = /^(?:(\d{1,6})x)?(\d{1,7})$/.exec(word);
    if (!found) throw new Error(`"${word}" is no length: write numbers such as 3 0 2, or 5x4 for five rows of 4`);
    const count = Number(found[1] ?? 1);
    if (lengths.length + count > MOST_TILES) throw new Error(`at most ${MOST_TILES.toLocaleString("en")} rows`);
    for (let i = 0; i < count; i++) lengths.push(Number(found[2]));
  }
  const total = lengths.reduce((a, b) => a + b, 0);
  if (total > MOST_NONZEROS) throw new Error(`at most ${MOST_NONZEROS.toLocaleString("en")} atoms; these are ${total.toLocaleString("en")}`);
  return ofLengths(lengths);
}

/** Makes a pattern of a preset's file: {rows, columns, lengths, indices}. */
export function ofPreset({ rows, columns, lengths, indices }) {
  return { rows, columns, offsets: summed(lengths), indices: Int32Array.from(indices) };
}

/** Reads the structure of a Matrix Market file (coordinate format). Throws Error in one line. */
export function parseMarket(text) {
  const lines = text.split(/\r?\n/);
  const [head, object, format, , symmetry] = (lines[0] ?? "").toLowerCase().split(/\s+/);
  if (head !== "%%matrixmarket" || object !== "matrix") throw new Error("no Matrix Market file: it does not begin with %%MatrixMarket matrix");
  if (format !== "coordinate") throw new Error("only Matrix Market files in coordinate format are read here");
  const mirrored = ["symmetric", "skew-symmetric", "hermitian"].includes(symmetry);
  let at = 1;
  while (at < lines.length && (lines[at].startsWith("%") || !lines[at].trim())) at++;
  const [rows, columns, entries] = (lines[at] ?? "").trim().split(/\s+/).map(Number);
  if (![rows, columns, entries].every(Number.isInteger)) throw new Error("the line of sizes is missing");
  if (rows > MOST_TILES || entries > MOST_NONZEROS) {
    throw new Error(`at most ${MOST_TILES.toLocaleString("en")} rows and ${MOST_NONZEROS.toLocaleString("en")} nonzeros; for more, load a trace of \`evenly trace\``);
  }
  const pairs = [];
  let stored = 0;
  for (at++; at < lines.length; at++) {
    const line = lines[at].trim();
    if (!line || line.startsWith("%")) continue;
    const [row, column] = line.split(/\s+/, 2).map(Number);
    const inside = (n, most) => Number.isInteger(n) && n >= 1 && n <= most;
    if (!inside(row, rows) || !inside(column, columns)) throw new Error(`line ${at + 1}: no entry of a ${rows} x ${columns} matrix`);
    stored++;
    pairs.push([row - 1, column - 1]);
    if (mirrored && row !== column) pairs.push([column - 1, row - 1]);
  }
  if (stored !== entries) throw new Error(`${entries} entries are announced, and ${stored} are there`);
  return ofPairs(rows, columns, pairs);
}

function ofPairs(rows, columns, pairs) {
  const lengths = new Int32Array(rows);
  for (const [row] of pairs) lengths[row]++;
  const offsets = summed(lengths), next = offsets.slice(0, -1), indices = new Int32Array(pairs.length);
  for (const [row, column] of pairs) indices[next[row]++] = column;
  for (let row = 0; row < rows; row++) indices.subarray(offsets[row], offsets[row + 1]).sort();
  return { rows, columns, offsets, indices };
}

/** Reads a file of `plan.trace()`, as it is. Throws Error in one line. */
export function readTrace(text) {
  let held;
  try {
    held = JSON.parse(text);
  } catch {
    throw new Error("no trace: the file is not JSON");
  }
  if (held?.format !== "evenly-trace") throw new Error("no trace: the file was not written by plan.trace()");
  if (held.version !== 1) throw new Error(`a trace of version ${held.version}; this page reads version 1`);
  if (!held.phases.length) throw new Error("the trace has no pass over atoms");
  return held;
}

/** Reads a trace: its phases, each {laid, launch, label, ...}. Throws Error in one line. */
export function parseTrace(text) {
  const held = readTrace(text);
  const phases = held.phases.map((phase) => {
    if (!phase.offsets) throw new Error("a trace of tasks: the page Views shows it");
    const offsets = Int32Array.from(phase.offsets), atoms = offsets[offsets.length - 1];
    if (phase.worker.length !== atoms || phase.step.length !== atoms) throw new Error("a broken trace: its arrays differ in length");
    let masked = null;
    if (phase.masked.length) {
      masked = new Uint8Array(atoms);
      for (const k of phase.masked) masked[k] = 1;
    }
    return {
      label: phase.schedule,
      layout: `${phase.layout} (${phase.kind})`,
      line: phase.line,
      laid: { tiles: offsets.length - 1, atoms, offsets, masked, items: phase.items ? Int32Array.from(phase.items) : null, row: (tile) => tile, column: () => -1 },
      launch: { processors: phase.processors, blocks: phase.blocks, block: phase.block, worker: Int32Array.from(phase.worker), step: Int32Array.from(phase.step) },
    };
  });
  return { kernel: held.kernel, source: held.source, phases };
}

/** The text of a file that was dropped; those that end in .gz are unpacked. */
export async function textOf(file) {
  if (!file.name.endsWith(".gz")) return file.text();
  return new Response(file.stream().pipeThrough(new DecompressionStream("gzip"))).text();
}
