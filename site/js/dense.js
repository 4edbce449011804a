// Dense axes: how threads lie along the columns and the atoms (evenly's device/dense.cuh and device/split_dense.cuh).
import { lineOf, shareOf } from "./schedules.js";

const BANKS = 32; // numbers of 4 bytes that a warp loads at a time

/**
 * A walk of `along` lanes has `together` columns, of which a lane has runs, and of an odd number of words the last one alone.
 * Returns {walks, of: the walk and the lane of a column}.
 */
function lanesOf(along, vector, columns) {
  const together = along * vector;
  const word = [4, 2, 1].find((w) => vector % w === 0 && columns % w === 0); // columns that one instruction loads, of float32
  const run = runOf(along, vector, columns, word), inRuns = Math.floor(vector / run) * run * along;
  const lane = (c) => Math.floor(c < inRuns ? c / run : (c - inRuns) / word) % along;
  return { walks: Math.ceil(columns / together), of: (column) => [Math.floor(column / together), lane(column % together)] };
}

/** The columns of a run, if a walk has all of them but the last run of some lanes; else a word. */
function runOf(along, vector, columns, word) {
  const words = vector / word, even = words - (words % 2), left = columns % (along * vector);
  const run = word * Math.max(1, Math.min(even & -even, Math.floor(BANKS / (word * along))));
  const last = vector % run ? word : run;
  return columns >= last && (left === 0 || left >= (vector - last) * along) ? run : word;
}

/**
 * A team {size, lanes, vector} that has a tile. Returns for each atom of a tile of `atoms`, and each of `columns`, the thread of
 * the team and its step: a thread reads an atom once for up to `vector` columns.
 * {thread, step: arrays of atoms * columns, steps, walks: how often the team walks the atoms, ranks, along}
 */
export function dense({ size, lanes, vector }, atoms, columns) {
  const along = Math.min(size, lanes), ranks = size / along, each = Math.ceil(atoms / ranks);
  const { walks, of } = lanesOf(along, vector, columns);
  const thread = new Int32Array(atoms * columns), step = new Int32Array(atoms * columns);
  for (let column = 0; column < columns; column++) {
    const [walk, lane] = of(column);
    for (let atom = 0; atom < atoms; atom++) {
      thread[atom * columns + column] = (atom % ranks) * along + lane;
      step[atom * columns + column] = walk * each + Math.floor(atom / ranks);
    }
  }
  return { thread, step, steps: walks * each, walks, ranks, along };
}

/**
 * Teams that split tiles: {name: "merge_path" or "nonzero_split", block, items, lanes, vector}. Each has `items * lanes` of the
 * line that the schedule divides, in any tiles, and walks it in order. The teams of a block begin the next columns together.
 * {team: of each atom, thread, step: arrays of atoms * columns, steps, walks, parts: of tiles that teams have, teams}
 */
export function denseSplit(s, laid, columns) {
  const each = s.items * s.lanes, teams = Math.ceil(lineOf(s, laid) / each), { walks, of } = lanesOf(s.lanes, s.vector, columns);
  const shares = Array.from({ length: teams }, (_, p) => shareOf(s, laid, each, p));
  const team = new Int32Array(laid.atoms), longest = new Int32Array(Math.ceil((teams * s.lanes) / s.block));
  const blockOf = (p) => Math.floor((p * s.lanes) / s.block);
  let parts = 0;
  shares.forEach(({ first, last, start, stop }, p) => {
    team.fill(p, start, stop);
    longest[blockOf(p)] = Math.max(longest[blockOf(p)], stop - start);
    for (let tile = first; tile < last; tile++) parts += Math.max(laid.offsets[tile], start) < Math.min(laid.offsets[tile + 1], stop);
  });
  const thread = new Int32Array(laid.atoms * columns), step = new Int32Array(laid.atoms * columns);
  for (let column = 0; column < columns; column++) {
    const [walk, lane] = of(column);
    team.forEach((p, atom) => {
      thread[atom * columns + column] = p * s.lanes + lane;
      step[atom * columns + column] = walk * longest[blockOf(p)] + atom - shares[p].start;
    });
  }
  return { team, thread, step, steps: walks * longest.reduce((a, b) => Math.max(a, b), 0), walks, parts, teams };
}
