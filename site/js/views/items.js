// A batch: the outer of two nested schedules gives each item to an owner, the inner one divides its tiles there.
import { percent } from "../balance.js";
import { summed } from "../layouts.js";
import { nested } from "../nested.js";
import { schedule, SCHEDULES } from "../schedules.js";

const OUTER = ["block_mapped", "warp_mapped", "group_mapped", "thread_mapped", "lrb", "dynamic_chunks"];
const INNER = ["thread_mapped", "group_mapped", "per_item"];
const KINDS = ["of many sizes", "alike", "with a long row each"];
const SCALES = [[1, 1], [0.25, 4], [2, 0.5], [0.25, 1], [0.5, 3]]; // of rows, and of their lengths
const CELL = 8, GAP = 26, TOP = 24, LETTER = 6.4; // pixels

/** The rows' lengths of each item. */
export function lengthsOf({ items, rows, mean, kind }) {
  let seed = 7;
  const chance = () => (seed = (seed * 1103515245 + 12345) % 2 ** 31) / 2 ** 31;
  return Array.from({ length: items }, (_, item) => {
    const [more, longer] = kind === "of many sizes" ? SCALES[item % SCALES.length] : [1, 1];
    const lengths = Array.from({ length: Math.max(1, Math.round(rows * more)) }, () => Math.round(mean * longer * (0.5 + chance())));
    if (kind === "with a long row each") lengths[item % lengths.length] = 8 * mean;
    return lengths;
  });
}

export function laidOut(lengths) {
  const offsets = summed(lengths.flat()), tiles = offsets.length - 1;
  return { tiles, atoms: offsets[tiles], offsets, items: summed(lengths.map((one) => one.length)), masked: null };
}

/** Times: an owner runs its items one after another, and its threads wait for each other at the end of each. */
export function timesOf(found, laid) {
  const begin = new Int32Array(found.owner.length), length = new Int32Array(found.owner.length), at = new Int32Array(laid.atoms);
  const free = new Int32Array(found.blocks * found.block), taken = new Int32Array(free.length);
  for (const item of found.order) {
    const first = found.owner[item], last = first + found.size[item];
    begin[item] = free.subarray(first, last).reduce((most, time) => Math.max(most, time), 0);
    taken.fill(0, first, last);
    for (let k = laid.offsets[laid.items[item]]; k < laid.offsets[laid.items[item + 1]]; k++) at[k] = begin[item] + taken[found.worker[k]]++;
    length[item] = taken.subarray(first, last).reduce((most, count) => Math.max(most, count), 0);
    free.fill(begin[item] + length[item], first, last);
  }
  const most = free.reduce((a, b) => Math.max(a, b), 0);
  let held = 0;
  for (let block = 0; block < found.blocks; block++) {
    held += found.block * free.subarray(block * found.block, (block + 1) * found.block).reduce((a, b) => Math.max(a, b), 0);
  }
  return { begin, length, at, most, idle: held ? 1 - laid.atoms / held : 0 };
}

function outerOf(s) {
  const given = { block: s.block };
  if (s.outer === "group_mapped" || s.outer === "dynamic_chunks") given.size = Math.min(s.owner ?? 8, s.block);
  if (s.outer === "dynamic_chunks") given.chunk = 1;
  if (s.outer === "lrb") Object.assign(given, { lanes: 4, thread: 8, group: 32, warp: 256 });
  return schedule(s.outer, given);
}

const innerOf = (s) => ({ name: s.inner, size: s.width });

function said(s) {
  const outer = outerOf(s), size = ["group_mapped", "dynamic_chunks"].includes(s.outer) ? `${s.outer === "group_mapped" ? "" : "1, size="}${outer.size}, ` : "";
  const inner = { thread_mapped: "ev.ThreadMapped()", group_mapped: `ev.GroupMapped(${s.width})`, per_item: "ev.per_item()" }[s.inner];
  return `ev.Nested(ev.${SCHEDULES[s.outer].title}(${size}block=${s.block}), ${inner})`;
}

/** How long each block is held. */
function blockTimes(found, times) {
  const until = new Int32Array(found.blocks);
  found.owner.forEach((first, item) => {
    const block = Math.floor(first / found.block);
    until[block] = Math.max(until[block], times.begin[item] + times.length[item]);
  });
  return until;
}

/** The places of boxes that are so many steps wide, line by line, as words in a text; and the scene's height and labels. */
function shelves(steps, cell, high, wide, scene) {
  let x = 1, y = TOP;
  const corners = Array.from(steps, (count, block) => {
    const w = Math.max(60, count * cell);
    if (x > 1 && x + w > wide) [x, y] = [1, y + high + TOP + 18];
    const corner = [x, y];
    scene.labels.push({ x, y: y + high + 14, text: `block ${block}` });
    x += w + GAP;
    return corner;
  });
  scene.high = y + high + 20;
  return corners;
}

export const items = {
  name: "items",
  title: "Batches",
  lead: "Many small problems in one launch, as “for item in B.items()” walks them. The outer schedule gives an item to a thread, a few threads, a warp or a block; the inner one divides the item's rows among these. Each box is a block of threads, one a line; time goes to the right.",
  docs: "docs/schedules.html#nested-schedules",
  docsTitle: "Nested schedules",
  kernel: "items",
  work: [
    { name: "items", start: 8, least: 1, most: 24 },
    { name: "rows", start: 16, least: 1, most: 64 },
    { name: "mean", start: 5, least: 1, most: 24, title: "atoms of a row" },
    { name: "kind", start: KINDS[0], words: KINDS, title: "kind of items" },
  ],
  schedule: [
    { name: "outer", start: "block_mapped", words: OUTER, title: "outer: who has an item" },
    { name: "block", start: 32, least: 32, most: 128, step: 32 },
    { name: "owner", start: 8, values: [2, 4, 8, 16, 32], title: "threads of an item", when: (s) => ["group_mapped", "dynamic_chunks"].includes(s.outer) },
    { name: "inner", start: "thread_mapped", words: INNER, title: "inner: who has a row" },
    { name: "width", start: 4, values: [2, 4, 8, 16, 32], title: "threads of a row", when: (s) => s.inner === "group_mapped" && s.outer !== "thread_mapped" },
  ],
  start: [{ outer: "block_mapped", inner: "thread_mapped" }, { outer: "block_mapped", inner: "per_item" }],
  legend: "Colours are rows of an item. A frame is an item: the threads that have it, for as long as they have it. What is shaded is idle.",

  scene(work, s, wide) {
    const laid = laidOut(lengthsOf(work)), found = nested(outerOf(s), innerOf(s), laid), times = timesOf(found, laid);
    const tall = found.block > 64 ? 3 : 5, cell = Math.min(CELL, (wide - 2) / Math.max(1, times.most));
    const scene = { marks: [], frames: [], labels: [], shades: [], most: times.most, wide };
    const corners = shelves(blockTimes(found, times), cell, found.block * tall, wide, scene);
    for (const item of found.order) place(item);
    scene.label = `${work.items} items in ${found.blocks} blocks of ${found.block} threads: ${percent(times.idle)} idle`;
    scene.numbers = [[percent(times.idle), "idle"], [`${times.most} steps`, ""], [`${found.blocks} block${found.blocks === 1 ? "" : "s"}`, `of ${found.block} threads`]];
    scene.call = said(s);
    return scene;

    /** Names the item that a block has, if it has one. */
    function named(x, y, item, inside, w) {
      const all = `item ${item}: ${inside}`, alone = times.begin[item] === 0;
      if (alone) scene.labels.push({ x, y: y - 6, text: all.length * LETTER < Math.max(w, 60) + GAP - 4 ? all : `item ${item}` });
    }

    function place(item) {
      const first = found.owner[item], block = Math.floor(first / found.block), [left, top] = corners[block], y = top + (first % found.block) * tall;
      const x = left + times.begin[item] * cell, w = times.length[item] * cell, h = found.size[item] * tall;
      scene.shades.push({ x, y, w, h });
      scene.frames.push({ x, y, w, h });
      const inside = found.width[item] === 1 ? "a thread a row" : `${found.width[item]} threads a row`;
      if (found.size[item] === found.block) named(left, top, item, inside, w);
      for (let tile = laid.items[item]; tile < laid.items[item + 1]; tile++) {
        for (let k = laid.offsets[tile]; k < laid.offsets[tile + 1]; k++) {
          const thread = found.worker[k], row = tile - laid.items[item];
          scene.marks.push({
            x: left + times.at[k] * cell, y: top + (thread % found.block) * tall, w: Math.max(1, cell - 1), h: Math.max(1, tall - 1), hue: row, step: times.at[k],
            text: `Item ${item}, its row ${row}, atom ${k - laid.offsets[tile] + 1} of ${laid.offsets[tile + 1] - laid.offsets[tile]}: thread ${thread % found.block} of block ${block}, at step ${times.at[k] + 1}. ` +
              `The item has ${found.size[item]} thread${found.size[item] === 1 ? "" : "s"}, and a row ${found.width[item]} of them.`,
          });
        }
      }
    }
  },
};
