// Dense axes: how the threads of a team lie along the columns and a tile's atoms (evenly's device/dense.cuh).

/**
 * team: {size, lanes, vector}. Returns for each atom of a tile of `atoms`, and each of `columns`, the thread of the team and
 * its step: a thread reads an atom once for up to `vector` columns.
 * {thread, step: arrays of atoms * columns, steps, walks: how often the team walks the atoms, ranks}
 */
export function dense({ size, lanes, vector }, atoms, columns) {
  const along = Math.min(size, lanes), ranks = size / along, together = along * vector;
  const word = [4, 2, 1].find((w) => vector % w === 0 && columns % w === 0); // columns that one instruction loads, of float32
  const walks = Math.ceil(columns / together), each = Math.ceil(atoms / ranks);
  const thread = new Int32Array(atoms * columns), step = new Int32Array(atoms * columns);
  for (let column = 0; column < columns; column++) {
    const walk = Math.floor(column / together), lane = Math.floor((column % together) / word) % along;
    for (let atom = 0; atom < atoms; atom++) {
      thread[atom * columns + column] = (atom % ranks) * along + lane;
      step[atom * columns + column] = walk * each + Math.floor(atom / ranks);
    }
  }
  return { thread, step, steps: walks * each, walks, ranks, along };
}
