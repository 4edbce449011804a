// Schedules: who does what. A port of evenly/schedules and of the engines' shares; tests/site holds it equal to Python's.

export const WARP = 32;
const MULTIPROCESSORS = 132, THREADS = 2048; // of the GPU that evenly's numbers were measured on

const BLOCK = { name: "block", start: 256, least: 32, most: 1024, step: 32 };
const SIZE = { name: "size", start: 32, least: 2, most: 256 };
const items = (start, most) => ({ name: "items", start, least: 1, most });
const powers = (name, start) => ({ name, start, values: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096] });

// owner: whom a tile belongs to. size: the threads of a group.
// covers: the launch gives every tile a thread or a group of its own.
export const SCHEDULES = {
  thread_mapped: { title: "ThreadMapped", owner: () => "thread", size: () => 1, parameters: [BLOCK] },
  group_mapped: {
    title: "GroupMapped", owner: (s) => (s.flatten ? "share" : "group"), size: (s) => s.size,
    parameters: [SIZE, BLOCK, { name: "flatten", start: 0, values: [0, 1] }],
  },
  warp_mapped: { title: "WarpMapped", owner: () => "group", size: () => WARP, parameters: [BLOCK] },
  block_mapped: { title: "BlockMapped", owner: () => "group", size: (s) => s.block, parameters: [BLOCK] },
  dynamic_chunks: {
    title: "DynamicChunks", owner: (s) => (s.size === 1 ? "thread" : "group"), size: (s) => s.size,
    parameters: [{ name: "chunk", start: 64, least: 1, most: 256 }, { ...SIZE, start: 8, least: 1 }, BLOCK],
  },
  lrb: {
    title: "Lrb", owner: () => "thread", size: () => 1,
    parameters: [BLOCK, { name: "lanes", start: 8, values: [2, 4, 8, 16, 32] }, powers("thread", 8), powers("group", 64), powers("warp", 1024)],
  },
  work_oriented: { title: "WorkOriented", owner: () => "share", size: () => 1, parameters: [BLOCK, items(8, 64)] },
  // Their teams along a dense axis (lanes, vector) leave the shares of blocks as they are (dense.js).
  merge_path: { title: "MergePath", owner: () => "share", size: () => WARP, parameters: [BLOCK, items(3, 64)] },
  nonzero_split: { title: "NonzeroSplit", owner: () => "share", size: () => WARP, parameters: [BLOCK, items(4, 64)] },
};

/** Makes a schedule {name, ...parameters}; what is not given is as in Python. Throws RangeError for parameters that it refuses. */
export function schedule(name, given = {}) {
  const s = { name };
  for (const p of SCHEDULES[name].parameters) s[p.name] = given[p.name] ?? p.start;
  if ((name === "group_mapped" || name === "dynamic_chunks") && s.size > s.block) {
    throw new RangeError(`size: at most ${s.block}, the threads of a block`);
  }
  if (name === "lrb" && !(s.thread <= s.group && s.group <= s.warp)) {
    throw new RangeError("thread, group, warp: ascending lengths");
  }
  return s;
}

const ownerOf = (s) => SCHEDULES[s.name].owner(s);
export const sizeOf = (s) => (ownerOf(s) === "group" ? SCHEDULES[s.name].size(s) : 1);

// ---- any number of processors: `schedule.partition(layout, n)` -----------------------------------------

/** Returns the pieces [tile, first atom, end, step] that member `rank` of processor `p` of `n` walks, in order. */
export function walk(s, laid, n, p, rank = 0) {
  const { offsets, tiles } = laid, size = sizeOf(s), pieces = [];
  const share = sharing(s, laid, n, p);
  if (share) {
    for (let tile = share.first; tile < share.last; tile++) {
      pieces.push([tile, Math.max(offsets[tile], share.start), Math.min(offsets[tile + 1], share.stop), 1]);
    }
    return pieces;
  }
  const own = (tile) => pieces.push([tile, offsets[tile] + rank, offsets[tile + 1], size]);
  if (s.name === "dynamic_chunks" || s.name === "lrb" || s.flatten) {
    const each = ceil(tiles, n), first = Math.min(p * each, tiles);
    for (let tile = first; tile < Math.min(first + each, tiles); tile++) own(tile);
  } else {
    for (let tile = p; tile < tiles; tile += n) own(tile);
  }
  return pieces;
}

const MERGE = ["merge_path", "work_oriented"];

/** The consecutive share of processor `p` of `n`; null for schedules whose tiles belong to one. */
export function sharing(s, laid, n, p) {
  if (!MERGE.includes(s.name) && s.name !== "nonzero_split") return null;
  return shareOf(s, laid, ceil(lineOf(s, laid), n), p);
}

/** How long the line is that is divided: of tiles and atoms, or of atoms. */
export const lineOf = (s, { tiles, atoms }) => (MERGE.includes(s.name) ? tiles + atoms : atoms);

/** The `p`th of shares of `each`: tiles first .. last-1, of which it takes the atoms start .. stop-1. */
export function shareOf(s, laid, each, p) {
  const { offsets, tiles } = laid, merge = MERGE.includes(s.name), total = lineOf(s, laid);
  const from = Math.min(p * each, total), to = Math.min(from + each, total);
  const ended = merge ? mergeSearch : tilesEnded;
  const first = merge || p > 0 ? ended(offsets, from) : 0;
  const last = ended(offsets, to);
  const start = merge ? from - first : from, stop = merge ? to - last : to;
  const partial = last < tiles && stop > offsets[Math.min(last, tiles - 1)];
  return { first, last: last + (partial ? 1 : 0), start, stop, from, to };
}

/** How many tiles end before the point of the merge path where tiles + atoms = `diagonal`. look(middle): called for each tile that is looked at. */
export function mergeSearch(offsets, diagonal, look = () => {}) {
  const tiles = offsets.length - 1;
  let low = Math.max(diagonal - offsets[tiles], 0), high = Math.min(diagonal, tiles);
  while (low < high) {
    const middle = (low + high) >> 1;
    look(middle);
    if (offsets[middle + 1] <= diagonal - middle - 1) low = middle + 1;
    else high = middle;
  }
  return low;
}

function tilesEnded(offsets, atom) {
  let low = 0, high = offsets.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (offsets[middle + 1] <= atom) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the walks of all `n` processors as a launch of one block: `plan.trace(processors=n)`. */
export function partition(s, laid, n) {
  const size = sizeOf(s), worker = new Int32Array(laid.atoms), step = new Int32Array(laid.atoms);
  for (let p = 0; p < n; p++) {
    for (let rank = 0; rank < size; rank++) {
      let done = 0;
      for (const [, first, end, stride] of walk(s, laid, n, p, rank)) {
        for (let atom = first; atom < end; atom += stride) {
          worker[atom] = p * size + rank;
          step[atom] = done++;
        }
      }
    }
  }
  return { blocks: 1, block: n * size, worker, step, processors: n };
}

// ---- a launch on a GPU: `plan.trace()` ------------------------------------------------------------------

/** Returns {blocks, block, worker, step}: the thread that takes each atom, and how many it takes before. */
export function launch(s, laid) {
  const blocks = blocksOf(s, laid), block = s.block;
  const taken = { worker: new Int32Array(laid.atoms), step: new Int32Array(laid.atoms) };
  if (HANDED_OUT[s.name]) {
    const done = new Int32Array(blocks * block);
    HANDED_OUT[s.name](s, laid, blocks, (tile, first, size) => take(tile, first, size, laid.offsets, done, taken));
  } else inGroups(s, laid, blocks, taken);
  return { blocks, block, ...taken };
}

/** Calls `give(tile, first thread, threads)` for each tile of a launch, in the order in which a schedule hands out whole tiles. */
export function handOut(s, laid, blocks, give) {
  if (HANDED_OUT[s.name]) return HANDED_OUT[s.name](s, laid, blocks, give);
  const size = SCHEDULES[s.name].size(s), groups = blocks * groupsInBlock(size, s.block);
  for (let group = 0; group < groups; group++) {
    for (let tile = group; tile < laid.tiles; tile += groups) give(tile, firstThread(group, size, s.block), size);
  }
}

export function blocksOf(s, { tiles, atoms }) {
  const atOnce = MULTIPROCESSORS * Math.floor(THREADS / s.block);
  switch (s.name) {
    case "thread_mapped":
      return ceil(tiles, s.block);
    case "dynamic_chunks":
      return Math.min(ceil(ceil(tiles, s.chunk), takersInBlock(s.size, s.block)), atOnce);
    case "lrb": {
      const least = Math.min(s.warp, s.group * (s.block / WARP), s.thread * Math.floor(s.block / s.lanes));
      return Math.min(tiles, ceil(tiles, s.block) + Math.floor(atoms / least) + 3, 4 * atOnce);
    }
    case "work_oriented":
    case "merge_path":
      return ceil(tiles + atoms, s.block * s.items);
    case "nonzero_split":
      return Math.max(1, ceil(atoms, s.block * s.items), ceil(tiles, 8 * s.block * s.items));
    default: {
      const size = SCHEDULES[s.name].size(s);
      return ceil(s.flatten ? ceil(tiles, size) : tiles, groupsInBlock(size, s.block));
    }
  }
}

/** Groups of lanes that take consecutive atoms: each lane every size-th of them. */
function inGroups(s, laid, blocks, { worker, step }) {
  const size = SCHEDULES[s.name].size(s);
  const counts = atomsOfGroups(s, laid, blocks);
  let atom = 0;
  counts.forEach((count, group) => {
    const first = firstThread(group, size, s.block);
    for (let at = 0; at < count; at++, atom++) {
      worker[atom] = first + (at % size);
      step[atom] = Math.floor(at / size);
    }
  });
}

function atomsOfGroups(s, { offsets, tiles, atoms }, blocks) {
  if (s.name === "work_oriented") {
    const threads = blocks * s.block;
    return alongPath(offsets, threads ? ceil(tiles + atoms, threads) : 0, threads);
  }
  if (s.name === "merge_path") return ofWarps(s, alongPath(offsets, s.block * s.items, blocks));
  if (s.name === "nonzero_split") {
    const share = s.block * s.items;
    return ofWarps(s, Array.from({ length: blocks }, (_, b) => Math.min((b + 1) * share, atoms) - Math.min(b * share, atoms)));
  }
  const each = s.flatten ? s.size : 1; // tiles of a group
  return Array.from({ length: ceil(tiles, each) }, (_, g) => offsets[Math.min((g + 1) * each, tiles)] - offsets[g * each]);
}

/** The atoms in each of `count` pieces of the merge path; a piece has `share` tiles and atoms. */
function alongPath(offsets, share, count) {
  const tiles = offsets.length - 1, total = tiles + offsets[tiles];
  const before = (piece) => {
    const cut = Math.min(piece * share, total);
    return cut - mergeSearch(offsets, cut);
  };
  return Array.from({ length: count }, (_, piece) => before(piece + 1) - before(piece));
}

/** Divides each block's atoms among its warps, in order; a warp has 32 slots an item. */
function ofWarps(s, atoms) {
  const slots = WARP * s.items, warps = s.block / WARP, counts = [];
  for (const count of atoms) {
    for (let warp = 0; warp < warps; warp++) counts.push(Math.max(0, Math.min(count - warp * slots, slots)));
  }
  return counts;
}

/** Tiles in bins by the power of two of their length, the longest first, for teams of four widths. */
function inBins(s, { offsets, tiles }, blocks, give) {
  const bits = (tile) => 32 - Math.clz32(offsets[tile + 1] - offsets[tile]);
  const order = Array.from({ length: tiles }, (_, tile) => tile).sort((a, b) => bits(b) - bits(a) || a - b);
  const least = [s.warp, s.group, s.thread, 0].map((n) => 32 - Math.clz32(n));
  const widths = [s.block, WARP, s.lanes, 1];
  let next = 0, unit = 0;
  widths.forEach((size, width) => {
    const first = next, teams = Math.floor(s.block / size);
    for (; next < tiles && bits(order[next]) >= least[width]; next++) {
      const turn = Math.floor((next - first) / teams), team = (next - first) % teams;
      give(order[next], ((unit + turn) % blocks) * s.block + team * size, size);
    }
    unit += ceil(next - first, teams);
  });
}

/** Each chunk of tiles goes to the taker that is free first; if several are, to the one with the lowest number. */
function inChunks(s, { offsets, tiles }, blocks, give) {
  const { size, chunk, block } = s, perBlock = takersInBlock(size, block);
  const groups = size > WARP ? 1 : Math.floor(WARP / size), wide = ceil(size, WARP) * WARP;
  const free = new Heap(blocks * perBlock);
  for (let first = 0; first < tiles; first += chunk) {
    const taker = free.first(), last = Math.min(first + chunk, tiles);
    let time = 0;
    for (let round = first; round < last; round += groups) {
      let longest = 0;
      for (let tile = round; tile < Math.min(round + groups, last); tile++) {
        const thread = Math.floor(taker / perBlock) * block + (taker % perBlock) * wide + (tile - round) * size;
        give(tile, thread, size);
        longest = Math.max(longest, ceil(offsets[tile + 1] - offsets[tile], size));
      }
      time += longest;
    }
    free.later(time);
  }
}

const HANDED_OUT = { lrb: inBins, dynamic_chunks: inChunks };

/** A team of `size` threads from `first` on takes a tile; `done` counts the atoms of each thread. */
function take(tile, first, size, offsets, done, { worker, step }) {
  for (let atom = offsets[tile], rank = 0; atom < offsets[tile + 1]; atom++, rank = (rank + 1) % size) {
    worker[atom] = first + rank;
    step[atom] = done[first + rank]++;
  }
}

/** Takers by the time when they are free, then by number. */
class Heap {
  constructor(count) {
    this.at = Array.from({ length: count }, (_, taker) => [0, taker]);
  }
  first() {
    return this.at[0][1];
  }
  later(time) {
    const at = this.at, moved = [at[0][0] + time, at[0][1]];
    const before = (a, b) => a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child + 1 < at.length && before(at[child + 1], at[child])) child++;
      if (child >= at.length || !before(at[child], moved)) break;
      at[place] = at[child];
      place = child;
    }
    at[place] = moved;
  }
}

function takersInBlock(size, block) {
  return size <= WARP ? block / WARP : groupsInBlock(size, block);
}

export function groupsInBlock(size, block) {
  if (size === 1) return block;
  if (size <= WARP) return (block / WARP) * Math.floor(WARP / size);
  return Math.min(15, Math.floor(block / (ceil(size, WARP) * WARP)));
}

/** The first thread of a group among all threads; small groups never straddle two warps. */
export function firstThread(group, size, block) {
  const perBlock = groupsInBlock(size, block), among = group % perBlock;
  const perWarp = Math.max(1, Math.floor(WARP / size));
  const place = size > WARP ? among * ceil(size, WARP) * WARP : Math.floor(among / perWarp) * WARP + (among % perWarp) * size;
  return Math.floor(group / perBlock) * block + place;
}

function ceil(n, d) {
  return d ? Math.ceil(n / d) : 0;
}
