"""Run `evenly spgemm FILE`: multiply the matrix in a file by itself, or by its transpose, timed and checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import evenly as ev
from evenly import targets
from evenly.bench.validation import errors_of_product
from evenly.cli import dtypes
from evenly.cli.csv_file import CsvFile, Row
from evenly.cli.failures import RIGHT, WRONG, check_range
from evenly.cli.progress import Progress
from evenly.cli.spmv import dataset_of, read
from evenly.cli.timing import host_clock, medians
from evenly.errors import InputError, printable, unknown
from evenly.interop.transfer import wait_for


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `evenly spgemm`; its `--help` describes them."""

    file: str
    target: str = "auto"
    dtype: str = "float32"
    max_workspace: int | None = None
    repeat: int | None = None
    csv: str | None = None
    validate: bool = False


def run(options: Options) -> int:
    """Run the command, print the results, and return the exit status. Raises InputError for bad input."""
    known = [d for d in dtypes.DTYPES if d not in dtypes.NARROW]
    for option, given, names in (
        ("--target", options.target, [*targets.TABLE, "auto"]),
        ("--dtype", options.dtype, known),
    ):
        if given not in names:
            raise unknown(option, given, names)
    if options.repeat is not None:
        check_range("--repeat", options.repeat, 1)
    csv = CsvFile(options.csv) if options.csv is not None else None
    with Progress(f"reading {printable(options.file)}") as progress:
        target = targets.working(options.target)
        matrix = read(options.file, options.dtype)
        rows, columns = matrix.shape
        other = matrix if rows == columns else matrix.T.tocsr()
        A, B = (ev.csr(x).to(target.place) for x in (matrix, other))
        how = {"max_workspace": options.max_workspace, "target": target.name}
        progress.say("compiling")
        size, C = _named(lambda: (ev.linalg.spgemm.estimate(A, B, **how), _product(A, B, how)))
        progress.say("measuring")
        repeat = options.repeat or (10 if target.clock else 1)
        elapsed = medians({"spgemm": host_clock(lambda: _product(A, B, how))}, repeat)["spgemm"]
        progress.say("checking")
        wrong = errors_of_product(matrix, other, C) if options.validate else None
    print(f"Elapsed (ms): {elapsed:.6f}")
    print(f"Matrix: {printable(Path(options.file).name)}")
    print(f"Dimensions: {rows} x {columns} ({matrix.nnz})")
    print(f"Result: {size.nonzeros} nonzeros, {size.bytes} bytes, of {size.products} products")
    if wrong is not None:
        print(f"Errors: {wrong}")
    if csv is not None:
        csv.append([Row("spgemm", dataset_of(options.file), rows, columns, matrix.nnz, elapsed)])
    return WRONG if wrong else RIGHT


def _product(A: Any, B: Any, how: dict[str, Any]) -> Any:
    C = ev.linalg.spgemm(A, B, **how)
    wait_for(C.values)
    return C


def _named(call: Any) -> Any:
    """Run a call whose errors name the option as the command line does."""
    try:
        return call()
    except InputError as error:
        if error.argument == "max_workspace":
            error.argument = "--max-workspace"
        raise
