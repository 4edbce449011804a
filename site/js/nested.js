// Loops over items: the outer schedule hands out items, the inner one the tiles of each. A port of evenly/balance/items.py.
import { blocksOf, firstThread, groupsInBlock, handOut, WARP } from "./schedules.js";

/**
 * outer: a schedule that owns whole tiles (schedules.js). inner: {name: "thread_mapped"}, {name: "group_mapped", size} or
 * {name: "per_item"}. laid: of a batch, with `items`.
 * Returns {blocks, block, worker, step, owner, size, width, order}: of each item the first thread that has it, how many have
 * it, and how many of these walk a tile together; and the items in the order in which they are handed out.
 */
export function nested(outer, inner, laid) {
  const { offsets, items } = laid, count = items.length - 1;
  const before = Int32Array.from(items, (tile) => tile + offsets[tile]);
  const asTiles = { tiles: count, atoms: before[count], offsets: before };
  const blocks = blocksOf(outer, asTiles), done = new Int32Array(blocks * outer.block);
  const worker = new Int32Array(laid.atoms), step = new Int32Array(laid.atoms);
  const [owner, size, width] = [0, 1, 2].map(() => new Int32Array(count)), order = [];
  handOut(outer, asTiles, blocks, (item, first, threads) => {
    order.push(item);
    owner[item] = first;
    size[item] = threads;
    width[item] = widthOf(inner, laid, item, threads);
    walkItem(laid, item, first, threads, width[item], (atom, thread) => {
      worker[atom] = thread;
      step[atom] = done[thread]++;
    });
  });
  return { blocks, block: outer.block, worker, step, owner, size, width, order };
}

/** The threads of a group that walks a tile of an item. */
function widthOf(inner, { offsets, items }, item, threads) {
  if (inner.name === "thread_mapped") return 1;
  if (inner.name === "group_mapped") return Math.min(inner.size, threads);
  const tiles = items[item + 1] - items[item], atoms = offsets[items[item + 1]] - offsets[items[item]];
  const wanted = tiles ? Math.floor(atoms / (6 * tiles)) : 1;
  let width = 1;
  while (width < wanted && width < 32 && threads % (2 * width) === 0) width *= 2;
  return width;
}

function walkItem({ offsets, items }, item, owner, threads, width, take) {
  const whole = width > 1 && threads >= WARP, first = items[item];
  const groups = whole ? groupsInBlock(width, threads) : Math.floor(threads / width);
  for (let group = 0; group < groups; group++) {
    const from = owner + (whole ? firstThread(group, width, threads) : group * width);
    for (let tile = first + group; tile < items[item + 1]; tile += groups) {
      for (let k = offsets[tile]; k < offsets[tile + 1]; k++) take(k, from + ((k - offsets[tile]) % width));
    }
  }
}
