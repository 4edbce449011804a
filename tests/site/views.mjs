// Prints, for the problems on stdin, what the site's views say: loops over items, dense axes, searches, tasks.
import { readFileSync } from "node:fs";

import { dense, denseSplit } from "../../site/js/dense.js";
import { nested } from "../../site/js/nested.js";
import { schedule } from "../../site/js/schedules.js";
import { RUNS, TREES } from "../../site/js/tasks.js";
import { laidOut, timesOf } from "../../site/js/views/items.js";
import { search } from "../../site/js/views/levels.js";
import { VIEWS } from "../../site/js/views/table.js";

const plain = (found) => Object.fromEntries(Object.entries(found).map(([key, value]) => [key, ArrayBuffer.isView(value) ? [...value] : value]));
const { batches, axes, split, graph, trees, wide } = JSON.parse(readFileSync(0, "utf8"));
const answers = {
  batches: batches.map(({ lengths, outer: [name, given], inner }) => {
    const laid = laidOut(lengths), found = nested(schedule(name, given), inner, laid);
    return { ...plain(found), times: plain(timesOf(found, laid)) };
  }),
  axes: axes.map(({ team, atoms, columns }) => plain(dense(team, atoms, columns))),
  split: split.map((one) => plain(denseSplit(one.schedule, laidOut([one.lengths]), one.columns))),
  levels: graph && search({ ...graph, offsets: Int32Array.from(graph.offsets), indices: Int32Array.from(graph.indices) }, 0, schedule(...graph.schedule)).map(({ rows, found, begin }) => ({ rows, begin, ...plain(found) })),
  trees: trees.map(({ kind, tasks, workers }) => {
    const tree = TREES[kind](tasks);
    return { ...plain(tree), runs: Object.fromEntries(Object.entries(RUNS).map(([name, run]) => [name, plain(run(tree, workers))])) };
  }),
  kinds: Object.keys(TREES),
  // Whether every view's scene stays within its canvas, at the start and at the ends of every parameter.
  outside: wide.flatMap((width) => Object.values(VIEWS).flatMap((view) => ends(view, width))),
};
process.stdout.write(JSON.stringify(answers));

function ends(view, width) {
  const start = (parameters) => Object.fromEntries(parameters.map((p) => [p.name, p.start])), found = [];
  const both = [...view.work.map((p) => ["work", p]), ...view.schedule.map((p) => ["schedule", p])];
  for (const [which, p] of both) {
    const values = p.words ?? (p.values ? [p.values[0], p.values.at(-1)] : [p.least, p.most]);
    for (const value of values) {
      const work = start(view.work), s = { ...start(view.schedule), ...view.start[1] };
      (which === "work" ? work : s)[p.name] = value;
      try {
        const scene = view.scene(work, { ...start(view.schedule), ...s }, width);
        const slack = 1.01;
        const bad = scene.marks.filter((m) => !(m.x >= -slack && m.y >= -slack && m.x + m.w <= scene.wide + slack && m.y + m.h <= scene.high + slack && m.step <= scene.most && m.text));
        if (bad.length || scene.wide !== width || scene.high > 16000) found.push([view.name, p.name, value, width, scene.high, bad[0]]);
      } catch (error) {
        if (!(error instanceof RangeError)) found.push([view.name, p.name, value, width, String(error.stack)]);
      }
    }
  }
  return found;
}
