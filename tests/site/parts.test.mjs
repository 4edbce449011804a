// The parts of the explorer that need no browser: links, what readers type and drop, refusals. Run by `node --test`.
import assert from "node:assert/strict";
import { test } from "node:test";

import { percent, skew } from "../../site/js/balance.js";
import { meaningOf } from "../../site/js/code.js";
import { lay, ofLengths } from "../../site/js/layouts.js";
import { parseLengths, parseMarket, parseTrace } from "../../site/js/matrices.js";
import { schedule, sharing } from "../../site/js/schedules.js";
import { fromFragment, toFragment } from "../../site/js/state.js";
import { parseTasks } from "../../site/js/tasks.js";

const lengthsOf = (p) => [...p.offsets].slice(1).map((end, row) => end - p.offsets[row]);

test("a link holds the view", () => {
  for (const link of [
    "#m=rmat-10&l=csr&s=merge_path,block=64,items=3",
    "#m=lengths&n=3.0.5x2&l=sell,slice_height=4,sigma=16&s=lrb,block=64,lanes=4&s2=thread_mapped&v=rows&c=block&t=7&d=3&p=12",
  ]) assert.equal(toFragment(fromFragment(link)), link);
});

test("what is unknown or out of range in a link is as at the start", () => {
  const start = toFragment(fromFragment(""));
  assert.equal(start, "#m=power-law&l=csr&s=thread_mapped,block=64");
  for (const link of ["#l=nosuch", "#s=constructor", "#v=up&c=x&t=-1&d=9", "#m=../../etc", "#s=thread_mapped,block=64,items=99,size=<b>"]) {
    assert.equal(toFragment(fromFragment(link)), start, link);
  }
  assert.deepEqual(fromFragment("#s=merge_path,block=33,items=4").schedules, [{ name: "merge_path", items: 4 }]);
});

test("lengths are numbers, or a count and a number", () => {
  assert.deepEqual(lengthsOf(parseLengths("3 0,2; 3x4\n1")), [3, 0, 2, 4, 4, 4, 1]);
  assert.deepEqual(lengthsOf(parseLengths("")), []);
  assert.throws(() => parseLengths("3 -1"), /^Error: "-1" is no length: write numbers such as 3 0 2, or 5x4 for five rows of 4$/);
  assert.throws(() => parseLengths("300000x1"), /at most 200,000 rows/);
  assert.throws(() => parseLengths("2000x1000"), /at most 1,000,000 atoms; these are 2,000,000/);
});

test("a Matrix Market file has a structure; symmetric ones have both halves", () => {
  const p = parseMarket("%%MatrixMarket matrix coordinate real symmetric\n% note\n3 3 3\n2 1 5.0\n3 3 1\n3 1 -1\n");
  assert.deepEqual([p.rows, p.columns, lengthsOf(p), [...p.indices]], [3, 3, [2, 1, 2], [1, 2, 0, 0, 2]]);
  for (const [text, said] of [
    ["1 2 3", /no Matrix Market file/],
    ["%%MatrixMarket matrix array real general\n", /coordinate format/],
    ["%%MatrixMarket matrix coordinate real general\n", /the line of sizes is missing/],
    ["%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n", /2 entries are announced, and 1 are there/],
    ["%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 1\n", /line 3: no entry of a 2 x 2 matrix/],
    ["%%MatrixMarket matrix coordinate real general\n300000 2 1\n", /for more, load a trace of `evenly trace`/],
  ]) assert.throws(() => parseMarket(text), said);
});

test("a trace is read or refused in a line", () => {
  const phase = { layout: "A", kind: "Csr", line: 3, schedule: "merge_path", blocks: 1, block: 32, offsets: [0, 2], worker: [0, 1], step: [0, 0], masked: [1] };
  const held = { format: "evenly-trace", version: 1, kernel: "spmv", source: "", phases: [phase] };
  const [read] = parseTrace(JSON.stringify(held)).phases;
  assert.deepEqual([read.laid.tiles, [...read.laid.masked], [...read.launch.worker]], [1, [0, 1], [0, 1]]);
  assert.equal(read.laid.items, null);
  const [batch] = parseTrace(JSON.stringify({ ...held, phases: [{ ...phase, items: [0, 1] }] })).phases;
  assert.deepEqual([...batch.laid.items], [0, 1]);
  for (const [change, said] of [
    [{ version: 2 }, /a trace of version 2; this page reads version 1/],
    [{ format: "other" }, /not written by plan\.trace\(\)/],
    [{ phases: [] }, /no pass over atoms/],
    [{ phases: [{ ...phase, step: [0] }] }, /its arrays differ in length/],
  ]) assert.throws(() => parseTrace(JSON.stringify({ ...held, ...change })), said);
  assert.throws(() => parseTrace("{"), /not JSON/);
});

test("a trace of tasks is a tree and its run", () => {
  const phase = { layout: "T", schedule: "static_list", processors: 2, parent: [-1, -1, 0, 0, 3], round: [0, 0, 1, 1, 2], worker: [0, 1, 0, 1, 0], step: [0, 0, 1, 1, 2] };
  const held = { format: "evenly-trace", version: 1, kernel: "halves", source: "", phases: [phase] };
  const { tree, run, workers } = parseTasks(JSON.stringify(held));
  assert.deepEqual(tree.children, [[2, 3], [], [], [4], []]);
  assert.deepEqual(tree.depth, [0, 0, 1, 1, 2]);
  assert.deepEqual([workers, run.steps, run.waiting, run.marks.map(({ step }) => step)], [2, 3, [2, 1, 0], [0, 1, 2]]);
  assert.throws(() => parseTrace(JSON.stringify(held)), /a trace of tasks: the page Views shows it/);
  assert.throws(() => parseTasks(JSON.stringify({ ...held, phases: [{ offsets: [0] }] })), /no trace of tasks: the explorer shows it/);
  assert.throws(() => parseTasks(JSON.stringify({ ...held, phases: [{ ...phase, step: [0] }] })), /its arrays differ in length/);
});

test("parameters that evenly refuses are refused", () => {
  assert.throws(() => schedule("group_mapped", { size: 128, block: 64 }), /size: at most 64, the threads of a block/);
  assert.throws(() => schedule("lrb", { thread: 64, group: 8 }), /ascending lengths/);
  assert.throws(() => lay(ofLengths([3000, ...Array(3000).fill(0)]), "ell"), /9,003,000 atoms; at most 4,000,000 are shown/);
});

test("pieces of the merge path follow each other, and have equal steps", () => {
  const laid = lay(ofLengths([2, 0, 1, 5, 0, 0, 3, 1]), "csr");
  for (let n = 1; n < 25; n++) {
    let atom = 0;
    for (let p = 0; p < n; p++) {
      const { start, stop, from, to } = sharing({ name: "merge_path" }, laid, n, p);
      assert.ok(to - from <= Math.ceil(20 / n));
      assert.equal(start, atom);
      atom = stop;
    }
    assert.equal(atom, 12);
  }
});

test("numbers are written as evenly writes them", () => {
  assert.deepEqual([0, 0.001, 0.004, 0.5, 0.996, 1].map(percent), ["0%", "<1%", "<1%", "50%", ">99%", "100%"]);
  assert.equal(skew({ time: Int32Array.of(0, 0) }), 1);
});

test("lines of kernels are known by what they do", () => {
  const kernel = ["    for row in A.tiles():", "        y[row] = sum(A.value(k) for k in A.atoms(row))", "        y[row] = total", "def spmv(A, x, y):"];
  assert.deepEqual(kernel.map(meaningOf), ["tiles", "atoms", "ends", null]);
});
