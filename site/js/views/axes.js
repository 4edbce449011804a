// Dense axes: rows of atoms times columns, and which thread of a team has which of them when.
import { dense, denseSplit } from "../dense.js";
import { parseLengths } from "../matrices.js";
import { SCHEDULES } from "../schedules.js";

const LENGTHS = { "four rows": "6 3 12 1", "a long row": "24", "short rows": "2 1 3 1 0 2 1 2", "a long row among short ones": "2 1 1 26 0 1 2 3" };
const ROW = 13, GAP = 10, TOP = 18, LETTERS = 62; // pixels

const splits = ({ schedule }) => schedule === "merge_path" || schedule === "nonzero_split";
const teamOf = (s) => (s.schedule === "thread_mapped" ? { ...s, size: 1, lanes: 1 } : s);

export const axes = {
  name: "axes",
  title: "Dense axes",
  lead: "An SpMM has several columns, and each needs the same atoms. So a team of threads lies along the columns: each of its lanes has several of them (vector), and reads an atom once for all of these. Under GroupMapped a row has a team of its own, whose other threads share the row's atoms. Under MergePath and NonzeroSplit all teams have equal parts of all rows; of a row that is cut, the parts' sums, a number for each column, are added in order.",
  docs: "docs/schedules.html#dense-axes",
  docsTitle: "Dense axes",
  kernel: "axes",
  work: [
    { name: "rows", start: "a long row among short ones", words: Object.keys(LENGTHS) },
    { name: "columns", start: 32, least: 1, most: 64 },
  ],
  schedule: [
    { name: "schedule", start: "group_mapped", words: ["thread_mapped", "group_mapped", "merge_path", "nonzero_split"], of: "schedules" },
    { name: "size", start: 16, values: [2, 4, 8, 16, 32], title: "size: threads of a row", when: (s) => s.schedule === "group_mapped" },
    { name: "block", start: 32, values: [32, 64, 128, 256], title: "block: threads of a block", when: splits },
    { name: "items", start: 1, least: 1, most: 16, title: "items: a thread's part of the work", when: splits },
    { name: "lanes", start: 8, values: [1, 2, 4, 8, 16, 32], title: "lanes: along the columns", when: (s) => s.schedule !== "thread_mapped" },
    { name: "vector", start: 4, least: 1, most: 32, title: "vector: columns of a thread" },
  ],
  start: [{ schedule: "group_mapped", size: 16, lanes: 8, vector: 4 }, { schedule: "merge_path", items: 1, lanes: 8, vector: 4 }],
  legend: "A line is an atom, a place in it a column. Colours are threads: of a row's team, or of all teams. Teams work at the same time.",

  scene(work, s, wide) {
    const { offsets } = parseLengths(LENGTHS[work.rows]), tiles = offsets.length - 1, laid = { offsets, tiles, atoms: offsets[tiles] };
    const found = splits(s) ? split(s, laid, work.columns) : owned(teamOf(s), laid, work.columns);
    const scene = { marks: [], labels: [], wide, most: found.steps, numbers: found.numbers, call: call(s) };
    const left = LETTERS * (splits(s) ? 2 : 1), cell = Math.min(20, (wide - left - 2) / work.columns);
    scene.labels.push({ x: left, y: 12, text: "columns →" });
    scene.high = TOP;
    for (let row = 0; row < tiles; row++) {
      if (offsets[row] === offsets[row + 1]) continue;
      scene.labels.push({ x: 0, y: scene.high + 11, text: `row ${row}` });
      for (let atom = offsets[row]; atom < offsets[row + 1]; atom++) {
        const y = scene.high;
        const begins = atom === offsets[row] || found.team?.[atom] !== found.team?.[atom - 1];
        if (splits(s) && begins) scene.labels.push({ x: LETTERS, y: y + 11, text: `team ${found.team[atom]}` });
        for (let column = 0; column < work.columns; column++) {
          const at = atom * work.columns + column;
          scene.marks.push({
            x: left + column * cell, y, w: Math.max(1, cell - 1), h: ROW - 1, hue: found.thread[at], step: found.step[at],
            text: `Row ${row}, atom ${atom - offsets[row]}, column ${column}: ${found.said(row, atom, at)}`,
          });
        }
        scene.high += ROW;
      }
      scene.high += GAP;
    }
    scene.label = `${laid.atoms} atoms times ${work.columns} columns: ${found.numbers.map(([number, of]) => `${number} ${of}`).join(", ")}`;
    return scene;
  },
};

/** A team for each row. */
function owned(s, laid, columns) {
  if (s.lanes > s.size) throw new RangeError(`lanes: at most ${s.size}, the threads of a row`);
  const thread = new Int32Array(laid.atoms * columns), step = new Int32Array(thread.length), of = [];
  for (let row = 0; row < laid.tiles; row++) {
    const first = laid.offsets[row] * columns;
    of.push(dense(s, laid.offsets[row + 1] - laid.offsets[row], columns));
    thread.set(of[row].thread, first);
    step.set(of[row].step, first);
  }
  const steps = Math.max(...of.map((row) => row.steps)), { along, ranks, walks } = of[0];
  const said = (row, atom, at) => `thread ${thread[at]} of the row's ${s.size}, at its step ${step[at] + 1} of ${of[row].steps}. It is lane ${thread[at] % along} of ${along} along the columns, and takes every ${ranks === 1 ? "atom" : `${ranks}th atom`}.`;
  return { thread, step, steps, said, numbers: [[`${steps} steps`, "of the longest row"], walked(walks)] };
}

/** Teams that have equal parts of all rows. */
function split(s, laid, columns) {
  const found = denseSplit({ ...s, name: s.schedule }, laid, columns), { offsets } = laid;
  const said = (row, atom, at) => {
    const team = found.team[atom], others = found.team[offsets[row + 1] - 1] - found.team[offsets[row]];
    const joined = others ? ` The row is in ${others + 1} teams, whose sums are added in order.` : "";
    return `lane ${found.thread[at] % s.lanes} of ${s.lanes} of team ${team}, which is in block ${Math.floor((team * s.lanes) / s.block)}, at step ${found.step[at] + 1} of ${found.steps}.${joined}`;
  };
  const whole = offsets.filter((from, row) => row < laid.tiles && from < offsets[row + 1]).length, handed = found.parts - whole;
  const numbers = [[`${found.steps} steps`, `of the longest of ${found.teams} team${found.teams === 1 ? "" : "s"}`], walked(found.walks), [`${handed}`, `sum${handed === 1 ? "" : "s"} of parts handed on`]];
  return { ...found, said, numbers };
}

const walked = (walks) => [`${walks} time${walks === 1 ? "" : "s"}`, "each atom is walked"];

function call(s) {
  const name = `ev.${SCHEDULES[s.schedule].title}`;
  if (s.schedule === "thread_mapped") return `${name}(vector=${s.vector})`;
  return `${name}(${splits(s) ? `${s.block}, ${s.items}` : s.size}, lanes=${s.lanes}, vector=${s.vector})`;
}
