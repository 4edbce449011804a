// How evenly a launch divides the work: the numbers of `plan.profile()`. A port of evenly/balance; tests/site compares.
import { WARP } from "./schedules.js";

/** Returns {threads, warps, blocks, idle, idleLanes, idleWarps, idleBlocks, most} of a launch. */
export function balance({ blocks, block, worker }) {
  const atoms = new Int32Array(blocks * block);
  for (const thread of worker) atoms[thread]++;
  const threads = { lanes: 1, time: atoms, atoms };
  const warps = joined(atoms, WARP), whole = joined(atoms, block);
  return {
    threads, warps, blocks: whole,
    idle: lost(sum(whole.atoms), sum(whole.time) * block),
    idleLanes: lost(sum(warps.atoms), sum(warps.time) * WARP),
    idleWarps: lost(sum(warps.time), sum(whole.time) * Math.ceil(block / WARP)),
    idleBlocks: lost(sum(whole.time), most(whole.time) * blocks),
    most: most(atoms),
  };
}

/** The longest time of the mean, 1 where there is no work. */
export function skew(level) {
  const total = sum(level.time);
  return total ? (most(level.time) * level.time.length) / total : 1;
}

function joined(atoms, lanes) {
  const n = Math.ceil(atoms.length / lanes), level = { lanes, time: new Int32Array(n), atoms: new Int32Array(n) };
  for (let i = 0; i < atoms.length; i++) {
    const at = Math.floor(i / lanes);
    level.atoms[at] += atoms[i];
    if (atoms[i] > level.time[at]) level.time[at] = atoms[i];
  }
  return level;
}

export function most(values) {
  let found = 0;
  for (const value of values) if (value > found) found = value;
  return found;
}

function sum(values) {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

const lost = (used, held) => (held ? 1 - used / held : 0);

/** A share of 1 in per cent, as evenly prints it: 0 and 100 only if they are exact. */
export function percent(share) {
  if (share > 0 && share < 0.005) return "<1%";
  return share >= 0.995 && share < 1 ? ">99%" : `${Math.round(share * 100)}%`;
}
