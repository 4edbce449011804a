"""The commands on the matrix in a file, and their options. Each imports its code when it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from evenly.cli.options import (
    AnySchedule,
    AnyTarget,
    CsvFile,
    Dtype,
    LayoutName,
    MatrixFile,
    OneTarget,
    Repeat,
    Validate,
)

SPMV = (
    "Multiply the matrix in FILE by a random vector: y = A x.\n\n"
    "The time is that of the kernels (cuda) or of a call (elsewhere); for csc and coo, which "
    "add to y with atomics, it leaves out the clearing of y.\n\n"
    "Example: evenly spmv examples/karate.mtx --schedule merge_path --validate"
)


def spmv(
    file: MatrixFile,
    schedule: AnySchedule = "auto",
    layout: LayoutName = "csr",
    target: AnyTarget = "auto",
    dtype: Dtype = "float32",
    repeat: Repeat = None,
    csv: CsvFile = None,
    validate: Validate = False,
    balance: Annotated[
        bool,
        typer.Option("--balance", metavar="", help="Sketch how evenly schedules divide the work."),
    ] = False,
    picture: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Draw that, as .png or .svg (needs Matplotlib)."),
    ] = None,
    seed: Annotated[
        int, typer.Option(metavar="N", help="The order of threads that --target simt takes.")
    ] = 0,
    profile: Annotated[
        bool,
        typer.Option(
            "--profile",
            metavar="",
            help="Print what a profiler of a GPU would count; with --target simt.",
        ),
    ] = False,
) -> int:
    from evenly.cli.spmv import Options, run

    options = (file, schedule, layout, target, dtype, repeat, csv, validate, balance, picture)
    return run(Options(*options, seed, profile))


SPMM = (
    "Multiply the matrix in FILE by a random dense matrix: C = A B.\n\n"
    "The time is that of the kernels (cuda) or of a call (elsewhere). B and C are in C order.\n\n"
    "Example: evenly spmm examples/karate.mtx --columns 32 --validate"
)


def spmm(
    file: MatrixFile,
    columns: Annotated[int, typer.Option(metavar="N", help="The columns of B.")] = 32,
    schedule: AnySchedule = "auto",
    layout: LayoutName = "csr",
    target: AnyTarget = "auto",
    dtype: Dtype = "float32",
    repeat: Repeat = None,
    csv: CsvFile = None,
    validate: Validate = False,
) -> int:
    from evenly.cli.spmv import Options, run

    options = file, schedule, layout, target, dtype, repeat, csv, validate
    return run(Options(*options, columns=columns))


SPGEMM = (
    "Multiply the matrix in FILE by itself, or by its transpose if it is not square: C = A A.\n\n"
    "The time is that of a whole call, which counts the nonzeros of C and makes it.\n\n"
    "Example: evenly spgemm examples/karate.mtx --validate"
)


def spgemm(
    file: MatrixFile,
    target: AnyTarget = "auto",
    dtype: Annotated[
        str,
        typer.Option(metavar="TYPE", help="float32, float64, complex64 or complex128."),
    ] = "float32",
    max_workspace: Annotated[
        int | None,
        typer.Option(metavar="BYTES", help="The most memory to use beside A and C."),
    ] = None,
    repeat: Repeat = None,
    csv: CsvFile = None,
    validate: Validate = False,
) -> int:
    from evenly.cli.spgemm import Options, run

    return run(Options(file, target, dtype, max_workspace, repeat, csv, validate))


GRAPH = (
    "Run a graph algorithm on the matrix in FILE, whose entry (i, j) is the edge from i to j.\n\n"
    "ALGORITHM is bfs, sssp, pagerank, components, triangles or cores. The time is that of a whole call.\n\n"
    "Example: evenly graph bfs examples/karate.mtx --validate"
)


def graph(
    algorithm: Annotated[str, typer.Argument(metavar="ALGORITHM", help="Its name, see above.")],
    file: MatrixFile,
    source: Annotated[
        int | None,
        typer.Option(metavar="N", show_default="0", help="The first vertex of bfs and sssp."),
    ] = None,
    schedule: Annotated[
        str, typer.Option(metavar="NAME", help="One of `evenly schedules`, or auto.")
    ] = "auto",
    target: Annotated[
        str,
        typer.Option(metavar="NAME", help="auto (the best there is), cuda, cpu, python or simt."),
    ] = "auto",
    repeat: Repeat = None,
    csv: CsvFile = None,
    validate: Annotated[
        bool,
        typer.Option(
            "--validate", metavar="", help="Compare every entry with SciPy's, or the definition."
        ),
    ] = False,
    picture: Annotated[
        bool,
        typer.Option(
            "--picture", metavar="", help="Also the vertices of each level, or range of distances."
        ),
    ] = False,
) -> int:
    from evenly.cli.graph import Options, run

    about = algorithm, file, source, schedule, target, repeat, csv, validate, picture
    return run(Options(*about))


TUNE = (
    "Measure every schedule on the matrix in FILE, and remember the fastest.\n\n"
    "Plans of the same kernel for the same structure, types and device take it from then on: "
    "`evenly spmv FILE` does. `evenly tuning list` prints what is remembered.\n\n"
    "Example: evenly tune examples/karate.mtx --seconds 10"
)


def tune(
    file: MatrixFile,
    schedule: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this schedule; may be given several times."),
    ] = None,
    layout: LayoutName = "csr",
    target: OneTarget = "auto",
    dtype: Dtype = "float32",
    seconds: Annotated[
        int | None,
        typer.Option(
            metavar="S",
            show_default="2 on cuda, 5 on cpu",
            help="About how long to measure; compiling comes on top.",
        ),
    ] = None,
    no_save: Annotated[
        bool, typer.Option("--no-save", metavar="", help="Measure, and remember nothing.")
    ] = False,
    locality: Annotated[
        bool,
        typer.Option(
            "--locality",
            metavar="",
            help="Also with columns numbered anew, by how often they occur.",
        ),
    ] = False,
) -> int:
    from evenly.cli.spmv import Options
    from evenly.cli.tune import run

    options = Options(file, layout=layout, target=target, dtype=dtype)
    return run(options, schedule or [], seconds, not no_save, locality)


TRACE = (
    "Write which thread takes which nonzero of the matrix in FILE, and when, for the site's explorer.\n\n"
    "It follows a launch on a GPU, or a partition. Nothing runs, and no GPU is needed.\n\n"
    "Example: evenly trace examples/karate.mtx --schedule merge_path"
)


def trace(
    file: MatrixFile,
    schedule: Annotated[
        str, typer.Option(metavar="NAME", help="One of `evenly schedules`.")
    ] = "merge_path",
    layout: LayoutName = "csr",
    output: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            show_default="NAME-SCHEDULE.json.gz",
            help="Where to write it: .json or .json.gz.",
        ),
    ] = None,
    processors: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Instead of a launch, the schedule's partition for N processors."
        ),
    ] = None,
) -> int:
    from evenly.cli.spmv import Options
    from evenly.cli.trace import run

    return run(Options(file, schedule, layout, "python"), output, processors)


COMMANDS: dict[Callable[..., int], str] = {
    spmv: SPMV,
    spmm: SPMM,
    spgemm: SPGEMM,
    graph: GRAPH,
    tune: TUNE,
    trace: TRACE,
}
