// Tasks over time: which worker runs which task, how many wait, and what is handed over.
import { percent } from "../balance.js";
import { RUNS, TREES } from "../tasks.js";

const LEFT = 72, TOP = 22, GRAPH = 90;

export const queues = {
  name: "queues",
  title: "Tasks",
  lead: "A task is a tile that is made while the kernel runs: a search tree, an integral that needs more points in places. Here is who runs which task when, and how many wait. A worker is a team of threads; each task takes a step.",
  docs: "docs/tasks.html",
  docsTitle: "Tasks",
  kernel: "queues",
  work: [
    { name: "tree", start: "halves of a range", words: Object.keys(TREES) },
    { name: "tasks", start: 160, least: 1, most: 600 },
    { name: "workers", start: 8, least: 1, most: 32 },
  ],
  schedule: [{ name: "schedule", start: "static_list", words: Object.keys(RUNS), of: "tasks" }],
  start: [{ schedule: "static_list" }, { schedule: "task_pool" }],
  legend: "Colours are depths of the tree. A line from worker to worker: tasks change hands. A model: on a GPU the workers do not keep step, so the order of a pool differs from run to run, and what a lock or an atomic costs is not shown.",

  scene(work, s, wide) {
    const tree = TREES[work.tree](work.tasks);
    return this.picture(tree, RUNS[s.schedule](tree, work.workers), work.workers, wide);
  },

  /** The scene of a run of a tree, which may be that of a trace (parseTasks). */
  picture(tree, run, workers, wide) {
    const cell = Math.min(18, (wide - LEFT - 4) / Math.max(1, run.steps)), tall = Math.max(workers > 60 ? 2 : 6, Math.min(18, 340 / workers)), count = tree.children.length;
    const bottom = TOP + workers * tall, floor = bottom + 30 + GRAPH, most = Math.max(1, ...run.waiting), scene = { marks: [], links: [], labels: [], shades: [], lines: [], wide, most: run.steps, high: floor + 8 };
    for (let worker = 0; worker < workers; worker++) {
      scene.shades.push({ x: LEFT, y: TOP + worker * tall, w: run.steps * cell, h: tall - 1 });
      if (tall >= 11) scene.labels.push({ x: 0, y: TOP + worker * tall + tall - 4, text: `worker ${worker}` });
    }
    let last = -Infinity;
    run.marks.forEach(({ step, text }) => {
      const x = LEFT + step * cell;
      scene.lines.push({ x, y: TOP - 4, h: bottom - TOP + 4 });
      if (x - last > 60) scene.labels.push({ x: (last = x), y: 12, text });
    });
    for (let task = 0; task < count; task++) {
      const step = run.step[task], worker = run.worker[task], made = tree.children[task].length;
      scene.marks.push({
        x: LEFT + step * cell, y: TOP + worker * tall, w: Math.max(1, cell - 1), h: tall - 1, hue: tree.depth[task], step,
        text: `Task ${task}, of depth ${tree.depth[task]}${task ? `, made by task ${tree.parent[task]}` : ""}: run by worker ${worker} at step ${step + 1}; it makes ${made} task${made === 1 ? "" : "s"}.`,
      });
    }
    for (const { step, from, to } of run.gifts) {
      const x = LEFT + (step + 1) * cell - 0.5;
      scene.links.push({ x1: x - cell / 2, y1: TOP + (from + 0.5) * tall, x2: x + cell / 2, y2: TOP + (to + 0.5) * tall, hue: 6, step });
    }
    scene.labels.push({ x: 0, y: bottom + 40, text: "tasks that" }, { x: 0, y: bottom + 54, text: `wait: ${most}` }, { x: 0, y: bottom + 68, text: "at most" });
    run.waiting.forEach((waiting, step) => {
      const h = (GRAPH * waiting) / most;
      if (waiting) scene.marks.push({ x: LEFT + step * cell, y: floor - h, w: Math.max(1, cell - 1), h, hue: 0, step, text: `After step ${step + 1}, ${waiting} task${waiting === 1 ? " waits" : "s wait"}.` });
    });
    const idle = 1 - count / (workers * Math.max(1, run.steps));
    scene.numbers = [[`${run.steps} steps`, `for ${count} tasks`], [percent(idle), "idle"], [`${most}`, `task${most === 1 ? "" : "s"} wait at most`], ...beside(run)];
    scene.label = `${count} tasks on ${workers} workers: ${run.steps} steps, ${percent(idle)} idle, at most ${most} wait`;
    return scene;
  },
};

/** What a schedule does beside running tasks. */
function beside({ marks, gifts }) {
  if (marks.length) return [[`${marks.length}`, `round${marks.length === 1 ? "" : "s"}`]];
  return gifts.length ? [[`${gifts.length}`, `time${gifts.length === 1 ? "" : "s"} tasks change hands`]] : [];
}
