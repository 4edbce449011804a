"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

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
OneTarget = Annotated[
    str, typer.Option(metavar="NAME", help="auto (the best there is), cuda or cpu.")
]
