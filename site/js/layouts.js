// Layouts: which atoms a tile has. A port of evenly/layouts; tests/site holds it equal to Python's.
//
// A pattern is a sparse matrix without values: {rows, columns, offsets, indices}, as in CSR.
// A laid-out pattern is {tiles, atoms, offsets, masked, row, column, items}:
//   offsets: where each tile begins, and at the end the number of atoms.
//   masked: 1 for padding, by atom; null if there is none.
//   row(tile, atom), column(tile, atom): what a kernel sees there; -1 for padding.
//   items: where each item of a batch begins, in tiles; null for others.

export const LAYOUTS = {
  csr: { title: "csr: rows", make: csr, parameters: [] },
  csc: { title: "csc: columns", make: csc, parameters: [] },
  coo: { title: "coo: nonzeros", make: coo, parameters: [] },
  ell: { title: "ell: padded rows", make: ell, parameters: [] },
  sell: {
    title: "sell: sliced ell", make: sell,
    parameters: [
      { name: "slice_height", start: 32, values: [1, 2, 4, 8, 16, 32, 64] },
      { name: "sigma", start: 1, values: [1, 2, 4, 8, 16, 32, 64, 128, 256] },
    ],
  },
  bcsr: {
    title: "bcsr: dense blocks", make: bcsr,
    parameters: [{ name: "rows", start: 2, least: 1, most: 8 }, { name: "columns", start: 2, least: 1, most: 8 }],
  },
  dia: { title: "dia: diagonals", make: dia, parameters: [] },
  ragged: { title: "ragged: lists", make: ragged, parameters: [] },
  uniform: {
    title: "uniform: k atoms to a tile", make: uniform,
    parameters: [{ name: "size", start: 4, least: 1, most: 64 }],
  },
  subset: {
    title: "subset: every n-th row", make: everyNth,
    parameters: [{ name: "every", start: 3, least: 1, most: 16 }],
  },
  frontier: {
    title: "frontier: a level of a search", make: frontier,
    parameters: [{ name: "level", start: 1, least: 0, most: 12 }, { name: "from", start: 0, least: 0, most: 64 }],
  },
  batch: {
    title: "batch: copies as items", make: batch,
    parameters: [{ name: "items", start: 4, least: 1, most: 32 }],
  },
};

const MOST_ATOMS = 4_000_000;

export function lay(pattern, name, options = {}) {
  const entry = LAYOUTS[name];
  const given = entry.parameters.map((p) => options[p.name] ?? p.start);
  return entry.make(pattern, ...given);
}

/** Makes a pattern of row lengths, whose columns are the first ones. */
export function ofLengths(lengths) {
  const offsets = summed(lengths);
  const indices = new Int32Array(offsets[lengths.length]);
  lengths.forEach((n, row) => {
    for (let j = 0; j < n; j++) indices[offsets[row] + j] = j;
  });
  return { rows: lengths.length, columns: lengths.reduce((a, b) => Math.max(a, b), 0), offsets, indices };
}

/** Makes the pattern of a graph of lists of neighbours, each ascending. */
export function ofLists(lists) {
  const sorted = lists.map((list) => [...list].sort((a, b) => a - b));
  return { rows: lists.length, columns: lists.length, offsets: summed(sorted.map((list) => list.length)), indices: Int32Array.from(sorted.flat()) };
}

export function summed(lengths) {
  const offsets = new Int32Array(lengths.length + 1);
  for (let i = 0; i < lengths.length; i++) offsets[i + 1] = offsets[i] + lengths[i];
  return offsets;
}

function made(offsets, row, column, more = {}) {
  const tiles = offsets.length - 1;
  return { tiles, atoms: offsets[tiles], offsets, masked: null, items: null, row, column, ...more };
}

function fits(atoms) {
  if (atoms > MOST_ATOMS) {
    throw new RangeError(`this layout has ${atoms.toLocaleString("en")} atoms; at most ${MOST_ATOMS.toLocaleString("en")} are shown`);
  }
}

function csr(p) {
  return made(p.offsets, (tile) => tile, (_, k) => p.indices[k]);
}

function ragged(p) {
  return made(p.offsets, (tile) => tile, () => -1);
}

function csc(p) {
  const counts = new Int32Array(p.columns);
  for (const column of p.indices) counts[column]++;
  const offsets = summed(counts), next = offsets.slice(0, -1), rows = new Int32Array(p.indices.length);
  for (let row = 0; row < p.rows; row++) {
    for (let k = p.offsets[row]; k < p.offsets[row + 1]; k++) rows[next[p.indices[k]]++] = row;
  }
  return made(offsets, (_, k) => rows[k], (tile) => tile);
}

function coo(p) {
  const owner = rowsOf(p);
  return made(Int32Array.from({ length: p.indices.length + 1 }, (_, i) => i), (_, k) => owner[k], (_, k) => p.indices[k]);
}

function rowsOf(p) {
  const owner = new Int32Array(p.indices.length);
  for (let row = 0; row < p.rows; row++) owner.fill(row, p.offsets[row], p.offsets[row + 1]);
  return owner;
}

function lengthsOf(p) {
  return Array.from({ length: p.rows }, (_, row) => p.offsets[row + 1] - p.offsets[row]);
}

/** Rows padded to `width(tile)` slots; `order` says which row is at a tile. */
function padded(p, widths, order) {
  const offsets = summed(widths);
  fits(offsets[widths.length]);
  const masked = new Uint8Array(offsets[widths.length]);
  for (let tile = 0; tile < widths.length; tile++) {
    const row = order[tile];
    masked.fill(1, offsets[tile] + p.offsets[row + 1] - p.offsets[row], offsets[tile + 1]);
  }
  const column = (tile, k) => (masked[k] ? -1 : p.indices[p.offsets[order[tile]] + k - offsets[tile]]);
  return made(offsets, (tile) => order[tile], column, { masked: masked.includes(1) ? masked : null });
}

function ell(p) {
  const lengths = lengthsOf(p), width = lengths.reduce((a, b) => Math.max(a, b), 0);
  fits(width * p.rows);
  return padded(p, lengths.map(() => width), lengths.map((_, row) => row));
}

function sell(p, height, sigma) {
  const lengths = lengthsOf(p), order = lengths.map((_, row) => row);
  for (let first = 0; first < order.length; first += sigma) {
    const sorted = order.slice(first, first + sigma).sort((a, b) => lengths[b] - lengths[a] || a - b);
    order.splice(first, sorted.length, ...sorted);
  }
  const widths = order.map((_, tile) => {
    const first = tile - (tile % height);
    return order.slice(first, first + height).reduce((most, row) => Math.max(most, lengths[row]), 0);
  });
  return padded(p, widths, order);
}

function bcsr(p, height, width) {
  const strips = Math.ceil(p.rows / height), blocks = [];
  for (let strip = 0; strip < strips; strip++) {
    const seen = new Set();
    const last = p.offsets[Math.min((strip + 1) * height, p.rows)];
    for (let k = p.offsets[strip * height]; k < last; k++) seen.add(Math.floor(p.indices[k] / width));
    blocks.push([...seen]); // in the order in which they come, as in SciPy
  }
  const offsets = summed(Array.from({ length: p.rows }, (_, row) => blocks[Math.floor(row / height)].length * width));
  fits(offsets[p.rows]);
  const column = (tile, k) => {
    const at = k - offsets[tile];
    const found = blocks[Math.floor(tile / height)][Math.floor(at / width)] * width + (at % width);
    return found < p.columns ? found : -1;
  };
  return masking(made(offsets, (tile) => tile, column), p.columns % width !== 0);
}

function dia(p) {
  const found = new Set();
  for (let row = 0; row < p.rows; row++) {
    for (let k = p.offsets[row]; k < p.offsets[row + 1]; k++) found.add(p.indices[k] - row);
  }
  const diagonals = [...found].sort((a, b) => a - b);
  fits(p.rows * diagonals.length);
  const offsets = summed(Array.from({ length: p.rows }, () => diagonals.length));
  const column = (tile, k) => {
    const at = tile + diagonals[k - offsets[tile]];
    return at >= 0 && at < p.columns ? at : -1;
  };
  return masking(made(offsets, (tile) => tile, column), true);
}

/** Fills in `masked` by asking for the column of every atom. */
function masking(laid, may) {
  if (!may) return laid;
  const masked = new Uint8Array(laid.atoms);
  for (let tile = 0; tile < laid.tiles; tile++) {
    for (let k = laid.offsets[tile]; k < laid.offsets[tile + 1]; k++) masked[k] = laid.column(tile, k) < 0 ? 1 : 0;
  }
  laid.masked = masked.includes(1) ? masked : null;
  return laid;
}

function uniform(p, size) {
  const tiles = Math.ceil(p.indices.length / size), owner = rowsOf(p);
  const offsets = Int32Array.from({ length: tiles + 1 }, (_, t) => Math.min(t * size, p.indices.length));
  return made(offsets, (_, k) => owner[k], (_, k) => p.indices[k]);
}

export function subset(p, selected) {
  const offsets = summed(selected.map((row) => p.offsets[row + 1] - p.offsets[row]));
  const column = (tile, k) => p.indices[p.offsets[selected[tile]] + k - offsets[tile]];
  return made(offsets, (tile) => selected[tile], column);
}

function everyNth(p, every) {
  const selected = [];
  for (let row = 0; row < p.rows; row += every) selected.push(row);
  return subset(p, selected);
}

function frontier(p, level, from) {
  const levels = levelsOf(p, from);
  return { ...subset(p, levels[level] ?? []), levels };
}

/** The rows of each level of a breadth-first search along the pattern's columns, ascending. */
export function levelsOf(p, from) {
  const seen = new Uint8Array(Math.max(p.rows, p.columns)), levels = [];
  let now = from < p.rows ? [from] : [];
  if (now.length) seen[from] = 1;
  while (now.length) {
    levels.push(now);
    const next = [];
    for (const row of now) {
      for (let k = p.offsets[row]; k < p.offsets[row + 1]; k++) {
        const column = p.indices[k];
        if (column < p.rows && !seen[column]) {
          seen[column] = 1;
          next.push(column);
        }
      }
    }
    now = next.sort((a, b) => a - b);
  }
  return levels;
}

function batch(p, count) {
  const nonzeros = p.indices.length;
  fits(nonzeros * count);
  const all = Array.from({ length: count }, () => lengthsOf(p)).flat();
  const column = (tile, k) => {
    const item = Math.floor(tile / p.rows);
    return item * p.columns + p.indices[k - item * nonzeros];
  };
  const items = Int32Array.from({ length: count + 1 }, (_, item) => item * p.rows);
  return made(summed(all), (tile) => tile, column, { items });
}
