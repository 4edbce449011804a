"""Matrix Market files as compressed .npz files of SciPy, for a machine that they have to travel to.

    python benchmarks/pack_matrices.py FOLDER OUT

OUT gets the same folders. Values that float32 holds exactly are kept as float32; the others are
kept as they are. `evenly bench spmv OUT` reads them many times as fast as text.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from evenly.bench.matrices import from_folder, in_type
from evenly.interop.matrix_files import to_npz


def narrowed(matrix: Any) -> Any:
    """The same csr_array with float32 values, where they are the same numbers."""
    with np.errstate(over="ignore"):
        values = matrix.data.astype(np.float32)
    same = np.array_equal(values.astype(matrix.data.dtype), matrix.data)
    return in_type(matrix, np.float32) if same else matrix


def main(folder: str, out: str) -> None:
    total = 0
    for source in from_folder(Path(folder)):
        path = Path(out, source.name + ".npz")
        path.parent.mkdir(parents=True, exist_ok=True)
        content = to_npz(narrowed(source.make()), compressed=True)
        path.write_bytes(content)
        total += len(content)
        print(f"{path}: {len(content) / 2**20:.2f} MiB", flush=True)
    print(f"{total / 2**20:.1f} MiB in all")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
