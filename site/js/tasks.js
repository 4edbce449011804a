// Tasks over time: which worker runs which task of a tree when. A worker is a team of threads; each task takes a step.
// A model: a GPU's workers do not keep step, so where they exchange tasks the order there differs from run to run.

import { readTrace } from "./matrices.js";

const MOST_TASKS = 50_000, MOST_WORKERS = 2_000;

/** Trees: children of each task, by number; task 0 is the first. Each maker gets about how many tasks there shall be. */
export const TREES = {
  "halves of a range": (wanted) => grown(wanted, (depth) => (2 << depth <= wanted ? 2 : 0)),
  "a random search": (wanted) => grown(wanted, (depth, chance) => (depth < 2 ? 4 : chance() < 0.3 ? 4 : 0)),
  "a long chain": (wanted) => grown(wanted, (depth, chance, nth) => (nth === 0 ? 3 : 0)),
};

/** kids(depth, chance, nth): how many children a task has that is the nth child of its parent. */
function grown(wanted, kids) {
  let seed = 5;
  const chance = () => (seed = (seed * 1103515245 + 12345) % 2 ** 31) / 2 ** 31;
  const tree = { children: [[]], depth: [0], parent: [-1] }, nth = [0];
  for (let task = 0; task < tree.children.length; task++) {
    const count = kids(tree.depth[task], chance, nth[task]);
    for (let i = 0; i < count && tree.children.length < wanted; i++) {
      tree.children[task].push(tree.children.length);
      tree.depth.push(tree.depth[task] + 1);
      tree.parent.push(task);
      nth.push(i);
      tree.children.push([]);
    }
  }
  return tree;
}

/**
 * Schedules of tasks by name: (tree, workers) gives {worker, step: of each task; steps; waiting: tasks that wait at the end of
 * each step; marks: [{step, text}], what happens beside; gifts: [{step, from, to, tasks}]}. evenly says which of them it has.
 */
export const RUNS = {
  static_list: inRounds,
  task_pool: (tree, workers) => fromStacks(tree, workers, give),
  work_stealing: (tree, workers) => fromStacks(tree, workers, steal),
  blocking_queue: inOrder,
  lock_free_queue: inOrder,
};

/** Reads a trace of a loop over tasks: {kernel, schedule, tree, run, workers}. Throws Error in one line. */
export function parseTasks(text) {
  const { kernel, source, phases } = readTrace(text), phase = phases.find(({ parent }) => parent);
  if (!phase) throw new Error("no trace of tasks: the explorer shows it");
  const { parent, round, worker, step, processors, schedule } = phase, tree = { children: parent.map(() => []), depth: [], parent };
  if (parent.length > MOST_TASKS || processors > MOST_WORKERS) throw new Error(`at most ${MOST_TASKS.toLocaleString("en")} tasks and ${MOST_WORKERS.toLocaleString("en")} processors are shown`);
  if ([round, worker, step].some((one) => one.length !== parent.length)) throw new Error("a broken trace: its arrays differ in length");
  parent.forEach((from, task) => {
    if (from >= 0) tree.children[from].push(task);
    tree.depth.push(from < 0 ? 0 : tree.depth[from] + 1);
  });
  const steps = step.reduce((most, one) => Math.max(most, one + 1), 0), marks = [];
  round.forEach((number, task) => {
    if (number === marks.length) marks.push({ step: step[task], text: `round ${number}` });
  });
  return { kernel, source, schedule, tree, workers: processors, run: { worker, step, steps, marks, gifts: [], waiting: waiting(tree, step, steps) } };
}

/** How many tasks have been made by the end of each step, and not run. The first ones are there from the start. */
function waiting({ parent }, step, steps) {
  const change = new Int32Array(steps + 1);
  let now = 0;
  parent.forEach((from, task) => {
    if (from < 0) now++;
    else change[step[from]]++;
    change[step[task]]--;
  });
  return Array.from({ length: steps }, (_, at) => (now += change[at]));
}

function begun(tree) {
  const of = () => new Int32Array(tree.children.length);
  return { worker: of(), step: of(), waiting: [], marks: [], gifts: [] };
}

function inRounds(tree, workers) {
  const run = begun(tree);
  let list = [0], step = 0, mostListed = 0;
  while (list.length) {
    run.marks.push({ step, text: `round ${run.marks.length}` });
    const next = [];
    for (let first = 0; first < list.length; first += workers, step++) {
      list.slice(first, first + workers).forEach((task, worker) => {
        run.worker[task] = worker;
        run.step[task] = step;
        next.push(...tree.children[task]);
      });
      run.waiting.push(Math.max(0, list.length - first - workers) + next.length);
    }
    mostListed = Math.max(mostListed, next.length);
    list = next;
  }
  return { ...run, steps: step, mostListed };
}

/** Each worker runs the newest task of its own stack. move(stacks, idle, gift): how those that have none get some. */
function fromStacks(tree, workers, move) {
  const run = begun(tree), stacks = Array.from({ length: workers }, () => []), idle = []; // in the order in which they wait
  stacks[0].push(0);
  let left = tree.children.length, step = 0;
  for (; left; step++) {
    stacks.forEach((stack, worker) => {
      const task = stack.pop();
      if (task === undefined) {
        if (!idle.includes(worker)) idle.push(worker);
        return;
      }
      run.worker[task] = worker;
      run.step[task] = step;
      stack.push(...tree.children[task]);
      left--;
    });
    move(stacks, idle, (from, to, tasks) => {
      stacks[to].push(...stacks[from].splice(0, tasks)); // the oldest
      run.gifts.push({ step, from, to, tasks });
    });
    run.waiting.push(stacks.reduce((sum, stack) => sum + stack.length, 0));
  }
  return { ...run, steps: step };
}

/** One that has tasks to spare gives the oldest to the one that has waited longest. */
function give(stacks, idle, gift) {
  for (let from = 0; from < stacks.length && idle.length; from++) {
    if (stacks[from].length >= 2) gift(from, idle.shift(), 1);
  }
}

/** One that has none takes a task of the next worker that has one to spare. */
function steal(stacks, idle, gift) {
  for (const to of idle.splice(0)) {
    const from = stacks.map((_, i) => (to + 1 + i) % stacks.length).find((i) => stacks[i].length > 1);
    if (from !== undefined) gift(from, to, 1);
  }
}

/** One queue for all: the oldest tasks first. */
function inOrder(tree, workers) {
  const run = begun(tree), queue = [0];
  let head = 0, step = 0;
  for (; head < queue.length; step++) {
    const now = queue.slice(head, head + workers);
    head += now.length;
    now.forEach((task, worker) => {
      run.worker[task] = worker;
      run.step[task] = step;
      queue.push(...tree.children[task]);
    });
    run.waiting.push(queue.length - head);
  }
  return { ...run, steps: step };
}
