// Dense axes: rows of atoms times columns, and which thread of a row's team has which of them when.
import { dense } from "../dense.js";
import { parseLengths } from "../matrices.js";

const LENGTHS = { "four rows": "6 3 12 1", "a long row": "24", "short rows": "2 1 3 1 0 2 1 2" };

export const axes = {
  name: "axes",
  title: "Dense axes",
  lead: "An SpMM has several columns, and each needs the same atoms. Of the threads that a row has, some lie along the columns (lanes), each with several of them (vector); the others share the row's atoms. A thread reads an atom once for all of its columns.",
  docs: "docs/schedules.html#dense-axes",
  docsTitle: "Dense axes",
  kernel: "axes",
  work: [
    { name: "rows", start: "four rows", words: Object.keys(LENGTHS) },
    { name: "columns", start: 32, least: 1, most: 64 },
  ],
  schedule: [
    { name: "size", start: 16, values: [1, 2, 4, 8, 16, 32], title: "size: threads of a row" },
    { name: "lanes", start: 8, values: [1, 2, 4, 8, 16, 32], title: "lanes: along the columns" },
    { name: "vector", start: 4, least: 1, most: 32, title: "vector: columns of a thread" },
  ],
  start: [{ size: 16, lanes: 1, vector: 1 }, { size: 16, lanes: 8, vector: 4 }],
  legend: "A line is an atom, a place in it a column. Colours are threads of the row's team. Rows are apart; all of them have a team of their own.",

  scene(work, s, wide) {
    if (s.lanes > s.size) throw new RangeError(`lanes: at most ${s.size}, the threads of a row`);
    const { offsets } = parseLengths(LENGTHS[work.rows]), left = 62, rows = offsets.length - 1, tall = 13, gap = 10, top = 18;
    const cell = Math.min(20, (wide - left - 2) / work.columns), scene = { marks: [], labels: [], frames: [], wide, most: 0 };
    let y = top, reads = 0, atomsAll = 0;
    scene.labels.push({ x: left, y: 12, text: "columns →" });
    for (let row = 0; row < rows; row++) {
      const atoms = offsets[row + 1] - offsets[row], found = dense(s, atoms, work.columns);
      if (!atoms) continue;
      scene.labels.push({ x: 0, y: y + 11, text: `row ${row}` });
      scene.most = Math.max(scene.most, found.steps);
      reads += atoms * found.walks;
      atomsAll += atoms;
      for (let atom = 0; atom < atoms; atom++) {
        for (let column = 0; column < work.columns; column++) {
          const at = atom * work.columns + column, thread = found.thread[at];
          scene.marks.push({
            x: left + column * cell, y, w: Math.max(1, cell - 1), h: tall - 1, hue: thread, step: found.step[at],
            text: `Row ${row}, atom ${atom}, column ${column}: thread ${thread} of the row's ${s.size}, at its step ${found.step[at] + 1} of ${found.steps}. It is lane ${thread % found.along} of ${found.along} along the columns, and takes every ${found.ranks === 1 ? "atom" : `${found.ranks}th atom`}.`,
          });
        }
        y += tall;
      }
      y += gap;
    }
    scene.high = y;
    scene.numbers = [[`${scene.most} steps`, "of the longest row"], [`${(reads / Math.max(1, atomsAll)).toFixed(0)} time${reads === atomsAll ? "" : "s"}`, "each atom is walked"]];
    scene.label = `${atomsAll} atoms times ${work.columns} columns: ${scene.most} steps of the longest row`;
    scene.call = `ev.GroupMapped(${s.size}, lanes=${s.lanes}, vector=${s.vector})`;
    if (s.size === 1) scene.call = `ev.ThreadMapped(vector=${s.vector})`;
    return scene;
  },
};
