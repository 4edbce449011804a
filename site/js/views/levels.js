// A breadth-first search of a small graph: the frontier of each level, its edges by the thread that takes them, and the time of it.
import { balance, percent } from "../balance.js";
import { levelsOf, ofLists, subset } from "../layouts.js";
import { launch, schedule, SCHEDULES, WARP } from "../schedules.js";

const GRAPHS = { "a few hubs": hubs, "a grid": grid, "a tree": tree };
const LEFT = 8, TOP = 26, DOT = 9;

function chances(seed) {
  return () => (seed = (seed * 1103515245 + 12345) % 2 ** 31) / 2 ** 31;
}

/** Vertices that new ones prefer to join the more edges they have (Barabási, Albert 1999): undirected. */
function hubs(count) {
  const chance = chances(11), ends = [0], lists = Array.from({ length: count }, () => new Set());
  for (let v = 1; v < count; v++) {
    for (let i = 0; i < 2; i++) {
      const to = ends[Math.floor(chance() * ends.length)];
      if (to === v) continue;
      lists[v].add(to);
      lists[to].add(v);
      ends.push(to, v);
    }
  }
  return lists;
}

function grid(count) {
  const side = Math.max(1, Math.floor(Math.sqrt(count)));
  return Array.from({ length: side * side }, (_, v) => {
    const x = v % side, y = Math.floor(v / side), near = [];
    for (const [dx, dy] of [[0, -1], [-1, 0], [1, 0], [0, 1]]) {
      if (x + dx >= 0 && x + dx < side && y + dy >= 0 && y + dy < side) near.push((y + dy) * side + x + dx);
    }
    return near;
  });
}

function tree(count) {
  return Array.from({ length: count }, (_, v) => [...(v ? [Math.floor((v - 1) / 3)] : []), ...[1, 2, 3].map((i) => 3 * v + i).filter((child) => child < count)]);
}

/** The search: its levels, each with its work and how the schedule divides it, one after another in time. */
export function search(pattern, from, s) {
  let begin = 0;
  return levelsOf(pattern, from).map((rows) => {
    const laid = subset(pattern, rows), found = launch(s, laid), level = { rows, laid, found, balance: balance(found), begin };
    begin += level.balance.most;
    return level;
  });
}

export const levels = {
  name: "levels",
  title: "Frontiers",
  lead: "A breadth-first search visits a graph level by level. A level's frontier is a layout: its tiles are the vertices that were found last, their atoms the edges that leave them. Each level is a launch of the schedule, and all wait for its longest thread.",
  docs: "docs/graph.html",
  docsTitle: "Graphs",
  kernel: "levels",
  work: [
    { name: "graph", start: "a few hubs", words: Object.keys(GRAPHS) },
    { name: "vertices", start: 80, least: 4, most: 200 },
    { name: "from", start: 30, least: 0, most: 199, title: "first vertex" },
  ],
  schedule: [
    { name: "schedule", start: "thread_mapped", words: Object.keys(SCHEDULES), of: "schedules" },
    { name: "block", start: 32, least: 32, most: 128, step: 32 },
    { name: "size", start: 8, values: [2, 4, 8, 16, 32], title: "threads of a vertex", when: (s) => s.schedule === "group_mapped" },
    { name: "items", start: 3, least: 1, most: 16, when: (s) => ["merge_path", "nonzero_split", "work_oriented"].includes(s.schedule) },
  ],
  start: [{ schedule: "thread_mapped" }, { schedule: "merge_path" }],
  legend: "Above: vertices by level, with the edges that lead on, in the colour of the thread that takes them. Below: a line for each thread that has work, time to the right; what is shaded is idle.",

  scene(work, s, wide) {
    const pattern = ofLists(GRAPHS[work.graph](work.vertices)), made = schedule(s.schedule, { block: s.block, size: s.size, items: s.items, chunk: 4, lanes: 4 });
    const from = Math.min(work.from, pattern.rows - 1), all = search(pattern, from, made);
    const end = all.at(-1), most = end.begin + end.balance.most, high = 250, scene = { marks: [], links: [], labels: [], shades: [], lines: [], most, wide };
    const column = (wide - 2 * LEFT) / Math.max(1, all.length), place = new Map();
    all.forEach(({ rows }, level) => {
      const x = LEFT + column * (level + 0.5), dot = Math.min(DOT, Math.max(3, (high - 8) / rows.length - 1));
      scene.labels.push({ x, y: 14, text: column > 62 ? `level ${level}` : `${level}`, anchor: "center" });
      rows.forEach((v, i) => place.set(v, { x, y: TOP + (high * (i + 0.5)) / rows.length, dot, level }));
    });
    const foundAt = new Map([[from, -1]]);
    for (const { laid, found, begin, rows } of all) {
      for (let tile = 0; tile < laid.tiles; tile++) {
        for (let k = laid.offsets[tile]; k < laid.offsets[tile + 1]; k++) {
          const a = place.get(rows[tile]), to = laid.column(tile, k), b = place.get(to), step = begin + found.step[k];
          if (b.level !== a.level + 1) continue;
          scene.links.push({ x1: a.x, y1: a.y, x2: b.x, y2: b.y, hue: found.worker[k], step });
          foundAt.set(to, Math.min(foundAt.get(to) ?? Infinity, step));
        }
      }
    }
    for (const [v, { x, y, dot, level }] of place) {
      const degree = pattern.offsets[v + 1] - pattern.offsets[v];
      scene.marks.push({
        x: x - dot / 2, y: y - dot / 2, w: dot, h: dot, round: true, hue: 0, step: foundAt.get(v),
        text: `Vertex ${v}, of level ${level}: ${degree} edge${degree === 1 ? "" : "s"}, found ${level ? `at step ${foundAt.get(v) + 1}` : "at the start"}.`,
      });
    }
    threads(scene, all, most, high, wide);
    const idle = scene.idle;
    scene.numbers = [[percent(idle), "idle"], [`${most} steps`, `in ${all.length} level${all.length === 1 ? "" : "s"}`], [`${place.size}`, `of ${pattern.rows} vertices found`]];
    scene.label = `A search from vertex ${from}: ${place.size} vertices in ${all.length} levels, ${most} steps, ${percent(idle)} of the threads' time idle`;
    scene.call = `search["${s.schedule}"](graph, ...)`;
    return scene;
  },
};

/** The threads of every level as lines, below the graph. */
function threads(scene, all, most, high, wide) {
  const rows = Math.max(...all.map(({ found }) => found.blocks * found.block)), tall = Math.max(1, Math.min(5, 320 / rows)), top = TOP + high + 34;
  const cell = (wide - 2 * LEFT) / Math.max(1, most);
  let used = 0, held = 0;
  scene.labels.push({ x: LEFT, y: top - 8, text: `threads, up to ${rows}; time →` });
  all.forEach(({ laid, found, balance: of, begin, rows: vertices }, level) => {
    const x = LEFT + begin * cell, count = found.blocks * found.block;
    scene.shades.push({ x, y: top, w: of.most * cell, h: count * tall });
    if (level) scene.lines.push({ x, y: top, h: rows * tall });
    used += laid.atoms;
    held += count * of.most;
    for (let tile = 0; tile < laid.tiles; tile++) {
      for (let k = laid.offsets[tile]; k < laid.offsets[tile + 1]; k++) {
        const thread = found.worker[k], step = begin + found.step[k];
        scene.marks.push({
          x: LEFT + step * cell, y: top + thread * tall, w: Math.max(0.8, cell - 0.6), h: Math.max(0.8, tall - 0.4), hue: thread, step,
          text: `Level ${level}: the edge from vertex ${vertices[tile]} to ${laid.column(tile, k)}, taken by thread ${thread % found.block} of block ${Math.floor(thread / found.block)} (warp ${Math.floor((thread % found.block) / WARP)}), at step ${step + 1}.`,
        });
      }
    }
  });
  scene.idle = held ? 1 - used / held : 0;
  scene.high = top + rows * tall + 6;
}
