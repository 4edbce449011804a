"""The commands of `evenly bench` and their options. Each command imports its code when it runs."""

from __future__ import annotations

from typing import Annotated

import typer

# The options that several commands have.
Folder = Annotated[
    str | None,
    typer.Argument(
        metavar="[FOLDER]", help="Matrix Market (plain, .gz, .bz2) and SciPy's .npz, and below."
    ),
]
Dtype = Annotated[str, typer.Option(metavar="TYPE", help="float32 or float64.")]
CsvFile = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Write all times, and what they were taken on."),
]
Target = Annotated[str, typer.Option(metavar="NAME", help="auto (the best there is), cuda or cpu.")]

bench = typer.Typer(
    help="Compare with other libraries.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@bench.callback(invoke_without_command=True)
def commands(context: typer.Context) -> None:
    """Compare with other libraries."""
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise typer.Exit


SPMV = (
    "Multiply ten generated matrices, and those in FOLDER, by vectors: every schedule, `auto`, and "
    "the other libraries that are installed.\n\n"
    "Runs are interleaved; values and vectors are rewritten between them; every result is checked "
    "against SciPy's in float64. On a GPU: cuSPARSE, CuPy, PyTorch and kernels by hand; kernels are "
    "timed in replayed graphs, with a warm and with a flushed L2 cache. On a CPU: SciPy and MKL.\n\n"
    "With --families: 60 random matrices instead, of families of row lengths and of columns. Caches are warm, and "
    "there are no kernels by hand, and on a GPU no schedules that cannot be the fastest.\n\n"
    "Example: evenly bench spmv matrices --csv times.csv --plots figures --seconds 600"
)


@bench.command(help=SPMV)
def spmv(
    folder: Folder = None,
    dtype: Dtype = "float32",
    csv: CsvFile = None,
    plots: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Draw three figures (needs Matplotlib).")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Only this matrix, or the matrices of this family; may be given several times.",
        ),
    ] = None,
    seconds: Annotated[
        int | None,
        typer.Option(metavar="S", help="About how long it may take: fewer rounds, then matrices."),
    ] = None,
    target: Target = "auto",
    families: Annotated[
        bool, typer.Option("--families", metavar="", help="Draw matrices by families.")
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", show_default="0", help="Which matrices --families draws."),
    ] = None,
    largest: Annotated[
        int | None,
        typer.Option(
            metavar="NNZ",
            show_default="60,000,000",
            help="About the most nonzeros that --families draws.",
        ),
    ] = None,
) -> int:
    from evenly.cli.bench_run import Options, run

    options = (folder, dtype, csv, plots, tuple(only or ()), seconds, target)
    return run(Options(*options, families, seed, largest))


GRAPH = (
    "Search through generated graphs, and those in FOLDER, from the vertex with most edges: breadth-first and for "
    "shortest paths, under every schedule, and on a CPU by SciPy.\n\n"
    "Times are those of whole calls, interleaved. A matrix is a graph if it is square; weights are the absolute "
    "values of its entries.\n\n"
    "Example: evenly bench graph matrices --csv times.csv --plots figures --validate"
)


@bench.command(help=GRAPH)
def graph(
    folder: Folder = None,
    algorithm: Annotated[str, typer.Option(metavar="NAME", help="bfs, sssp, or all.")] = "all",
    csv: CsvFile = None,
    plots: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Draw landscapes and speedups (needs Matplotlib)."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this graph; may be given several times."),
    ] = None,
    seconds: Annotated[
        int | None,
        typer.Option(metavar="S", help="About how long it may take: fewer rounds, then graphs."),
    ] = None,
    target: Target = "auto",
    validate: Annotated[
        bool, typer.Option("--validate", metavar="", help="Compare every entry with SciPy's.")
    ] = False,
    gunrock: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Also Gunrock's programs bfs and sssp, built there."),
    ] = None,
) -> int:
    from evenly.cli.bench_graph import Options, run

    options = (folder, algorithm, csv, plots, tuple(only or ()), seconds, target, validate)
    return run(Options(*options, gunrock))


LINALG = (
    "Multiply generated matrices, and those in FOLDER, by dense ones, at their pattern, or by themselves: `ev.linalg` "
    "beside other libraries.\n\n"
    "Runs are interleaved, and every result is checked in float64. Products: spmm (A B), sddmm (X Z^T at A's pattern), "
    "spgemm (A A, or A A^T). On a GPU: cuSPARSE's algorithms, preprocessed, and for spmm a kernel by hand, in replayed "
    "graphs; spgemm by whole calls, beside CuPy's. On a CPU: SciPy and NumPy.\n\n"
    "Example: evenly bench linalg matrices --product sddmm --columns 32 --csv times.csv"
)


@bench.command(help=LINALG)
def linalg(
    folder: Folder = None,
    product: Annotated[str, typer.Option(metavar="NAME", help="spmm, sddmm or spgemm.")] = "spmm",
    columns: Annotated[
        list[int] | None,
        typer.Option(
            metavar="K",
            show_default="8, 32, 128",
            help="The columns of dense operands; may be given several times.",
        ),
    ] = None,
    dtype: Dtype = "float32",
    csv: CsvFile = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this matrix; may be given several times."),
    ] = None,
    seconds: Annotated[
        int | None,
        typer.Option(metavar="S", help="About how long it may take: fewer rounds, then matrices."),
    ] = None,
    rounds: Annotated[int, typer.Option(metavar="N", help="How many rounds.")] = 10,
    target: Target = "auto",
) -> int:
    from evenly.cli.bench_linalg import Options, run

    chosen = tuple(columns or ()), dtype, csv, tuple(only or ())
    return run(Options(folder, product, *chosen, seconds, rounds, target))


RAGGED = (
    "Run the functions of `ev.ragged` on lists of six kinds of lengths, beside how other libraries do it.\n\n"
    "Runs are interleaved, and every result is checked against NumPy's in float64. The share is that of the time in "
    "which a copy moves each byte once. On a GPU: PyTorch's ways, its functions on matrices where all lists have one "
    "length, and CUB through cuda.compute; kernels are timed in replayed graphs, and what is no single kernel by whole "
    "calls. On a CPU: NumPy.\n\n"
    "Example: evenly bench ragged --only softmax --only 'power law'"
)


@bench.command(help=RAGGED)
def ragged(
    elements: Annotated[
        int, typer.Option(metavar="N", help="About how many elements.")
    ] = 50_000_000,
    dtype: Dtype = "float32",
    csv: CsvFile = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Only this function, or these lengths; may be given several times.",
        ),
    ] = None,
    rounds: Annotated[int, typer.Option(metavar="N", help="How many rounds.")] = 10,
    target: Target = "auto",
) -> int:
    from evenly.cli.bench_ragged import Options, run

    return run(Options(elements, dtype, csv, tuple(only or ()), rounds, target))


@bench.command()
def replot(
    csv: Annotated[
        str, typer.Argument(metavar="CSV", help="What `evenly bench spmv --csv` wrote.")
    ],
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="Where the figures go.")],
) -> int:
    """Draw the figures of a CSV file, and print its summary."""
    from evenly.cli.bench_run import replot

    return replot(csv, folder)
