"""The commands and their options. Each command imports its code when it runs, so that `--help` is fast."""

from __future__ import annotations

from typing import Annotated

import typer

from evenly.cli.bench import bench
from evenly.cli.fit import FIT, fit
from evenly.cli.reproduce import REPRODUCE, reproduce
from evenly.cli.tuning import tuning

MatrixFile = Annotated[
    str,
    typer.Argument(metavar="FILE", help="Matrix Market: plain, .gz or .bz2; or SciPy's .npz."),
]
Dtype = Annotated[
    str,
    typer.Option(
        metavar="TYPE",
        help="float16, bfloat16 (results are float32), float32, float64, complex64 or complex128.",
    ),
]
LayoutName = Annotated[str, typer.Option(metavar="NAME", help="One of `evenly layouts`.")]
Repeat = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        show_default="10; on python and simt 1",
        help="Timed runs, after one that warms up; the median is printed.",
    ),
]
CsvFile = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Append a line (kernel, dataset, rows, cols, nnzs, elapsed in ms) to this file. "
        "A new file gets a header.",
    ),
]

AnySchedule = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="One of `evenly schedules`; all: each in turn; auto; tuned: measured.",
    ),
]
AnyTarget = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="auto (the best there is), cuda, cpu, python (slow) or simt (cuda's code on the "
        "CPU, checked).",
    ),
]
Validate = Annotated[
    bool,
    typer.Option("--validate", metavar="", help="Compare every entry with SciPy's in 64 bits."),
]

app = typer.Typer(
    help="Irregular parallel work, written once, balanced by a schedule: SpMV on your matrices.",
    epilog="Exit status: 0 right, 1 a result is wrong, 2 bad input.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def evenly(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", metavar="", help="Print the version.")
    ] = False,
) -> int:
    """Irregular parallel work, written once, balanced by a schedule."""
    if version:
        from evenly.version import __version__

        print(f"evenly {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise typer.Exit
    return 0


DEMO = (
    "Multiply two generated matrices under every schedule, beside SciPy.\n\n"
    "A power-law (R-MAT) matrix and a 5-point stencil. Every result is checked against "
    "SciPy's in float64."
)


@app.command(help=DEMO)
def demo(
    target: Annotated[
        str, typer.Option(metavar="NAME", help="auto (the best there is), cuda or cpu.")
    ] = "auto",
    scale: Annotated[int, typer.Option(metavar="N", help="2**N rows a matrix, 4 to 24.")] = 18,
    repeat: Annotated[int, typer.Option(metavar="N", help="Timed runs of each.")] = 15,
) -> int:
    from evenly.cli.demo import run

    return run(target, scale, repeat)


SPMV = (
    "Multiply the matrix in FILE by a random vector: y = A x.\n\n"
    "The time is that of the kernels (cuda) or of a call (elsewhere); for csc and coo, which "
    "add to y with atomics, it leaves out the clearing of y.\n\n"
    "Example: evenly spmv examples/karate.mtx --schedule merge_path --validate"
)


@app.command(help=SPMV)
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


@app.command(help=SPMM)
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


@app.command(help=SPGEMM)
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


@app.command(help=GRAPH)
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


@app.command(help=TUNE)
def tune(
    file: MatrixFile,
    schedule: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this schedule; may be given several times."),
    ] = None,
    layout: LayoutName = "csr",
    target: Annotated[
        str, typer.Option(metavar="NAME", help="auto (the best there is), cuda or cpu.")
    ] = "auto",
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


@app.command(help=TRACE)
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


app.add_typer(bench, name="bench")
app.command(help=REPRODUCE)(reproduce)
app.command(help=FIT)(fit)
app.add_typer(tuning, name="tuning")


@app.command()
def info() -> int:
    """Show targets, devices, versions and the cache."""
    from evenly.cli.info import lines

    for line in lines():
        print(line)
    return 0


CACHE = (
    "Show the cache of compiled code: where it is, what is in it, its limit.\n\n"
    "What tune() measured is no part of it: see `evenly tuning`. The limit that is always kept is in "
    "EVENLY_CACHE_LIMIT.\n\n"
    "Example: evenly cache --limit 500MB"
)


@app.command(help=CACHE)
def cache(
    clear: Annotated[bool, typer.Option("--clear", metavar="", help="Remove everything.")] = False,
    limit: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="Remove, now, what was used longest ago, until so much is left."
        ),
    ] = None,
) -> int:
    from evenly.cli.cache import run

    for line in run(clear, limit):
        print(line)
    return 0


@app.command()
def schedules() -> int:
    """List the schedules: who does what."""
    from evenly.cli.listing import schedules as lines

    for line in lines():
        print(line)
    return 0


@app.command()
def layouts() -> int:
    """List the layouts: what the work is."""
    from evenly.cli.listing import layouts as lines

    for line in lines():
        print(line)
    return 0
