// Prints, for the problems on stdin, what the site's port says: digests of arrays, and the numbers of the balance.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

import { balance } from "../../site/js/balance.js";
import { lay, LAYOUTS, levelsOf } from "../../site/js/layouts.js";
import { SCHEDULES, launch, partition, schedule, sizeOf, walk } from "../../site/js/schedules.js";

const digest = (...parts) => {
  const hash = createHash("sha1");
  for (const part of parts) hash.update(new Uint8Array(Int32Array.from(part).buffer));
  return hash.digest("hex");
};

const { patterns, layouts, schedules, processors, verbose } = JSON.parse(readFileSync(0, "utf8"));
const answers = { known: Object.keys(LAYOUTS), parameters: {}, layouts: {}, levels: {}, launches: {}, balances: {}, walks: {}, partitions: {} };
for (const [name, { parameters }] of Object.entries(SCHEDULES)) {
  answers.parameters[name] = Object.fromEntries(parameters.map((p) => [p.name, p.start]));
}
for (const [name, given] of Object.entries(patterns)) {
  const pattern = { ...given, offsets: Int32Array.from(given.offsets), indices: Int32Array.from(given.indices) };
  answers.levels[name] = levelsOf(pattern, 0);
  for (const [label, layout, options] of layouts) {
    const laid = lay(pattern, layout, options), key = `${name}/${label}`;
    const columns = [];
    for (let tile = 0; tile < laid.tiles; tile++) {
      for (let k = laid.offsets[tile]; k < laid.offsets[tile + 1]; k++) columns.push(laid.column(tile, k), laid.row(tile, k));
    }
    answers.layouts[key] = digest(laid.offsets, laid.masked ?? new Uint8Array(laid.atoms), columns);
    for (const [kind, scheduleName, parameters] of schedules) {
      const made = schedule(scheduleName, parameters);
      const found = launch(made, laid), where = `${key}/${kind}`;
      answers.launches[where] = digest([found.blocks, found.block], found.worker, found.step);
      if (verbose) answers.launches[where] = { ...found, worker: [...found.worker], step: [...found.step] };
      const { idle, idleLanes, idleWarps, idleBlocks, most } = balance(found);
      answers.balances[where] = [idle, idleLanes, idleWarps, idleBlocks, most];
      for (const n of processors) {
        const pieces = [];
        for (let p = 0; p < n; p++) {
          for (let rank = 0; rank < sizeOf(made); rank++) pieces.push(p, rank, ...walk(made, laid, n, p, rank).flat());
        }
        answers.walks[`${where}/${n}`] = verbose ? pieces : digest(pieces);
        const parts = partition(made, laid, n);
        answers.partitions[`${where}/${n}`] = digest([parts.blocks, parts.block], parts.worker, parts.step);
      }
    }
  }
}
process.stdout.write(JSON.stringify(answers));
