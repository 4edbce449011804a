"""What an experiment is: figures that yield rows, and a function that holds them against what was published."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from evenly.bench.place import Bench


def silent(text: str) -> None:
    """Say nothing."""


@dataclass(frozen=True, slots=True)
class Site:
    """Where an experiment runs, and what the user asked for.

    folder: with the paper's matrices; None: there is none. quick: smallest sizes, to see that everything works.
    say: shows what is being done. rows: by the number of a figure, those that there are: of figures that this run has
    measured, and of an earlier run that it goes on with.
    """

    place: Bench
    folder: str | None = None
    quick: bool = False
    say: Callable[[str], None] = silent
    rows: dict[int, list[Any]] = field(default_factory=dict)
    kept: dict[Any, Any] = field(default_factory=dict)

    @property
    def on_gpu(self) -> bool:
        return self.place.target == "cuda"

    @property
    def xp(self) -> Any:
        """The module of this place's arrays: CuPy on a GPU, else NumPy."""
        return importlib.import_module("cupy" if self.on_gpu else "numpy")

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return `make()`, or what it returned for this key before."""
        if key not in self.kept:
            self.kept[key] = make()
        return self.kept[key]


@dataclass(frozen=True, slots=True)
class Row:
    """One contender at one point of a figure; the fields are the columns of the CSV file.

    case: what was multiplied; x: the place on the figure's axis. stand_ins: how many of its matrices are none of the
    paper's. curve: the contender's column in the table. stored: entries, padding included. gflop_per_s: 2 floating
    point operations a nonzero, padding not counted. gb_per_s: the bytes of the matrices as they are stored, with
    padding, and of x and y, over the time. us: the median of `rounds` rounds; 0 rounds: left out, `note` says why.
    wrong: entries of y out of their bound.
    """

    machine: str
    versions: str
    target: str
    figure: int
    case: str
    x: float
    items: int
    stand_ins: int
    rows: int
    nonzeros: int
    curve: str
    contender: str
    detail: str = ""
    clock: str = ""
    stored: int = 0
    bytes: int = 0
    us: float = 0.0
    us_min: float = 0.0
    us_max: float = 0.0
    rounds: int = 0
    gflop_per_s: float = 0.0
    gb_per_s: float = 0.0
    wrong: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of the paper, or a table.

    axis: what `x` is. values: the columns of Row to print, each in a table of its own, and to draw. published: what the
    paper's figure shows. measure: yields its rows, some at a time. apart: a panel for each case. kind: "Figure" or
    "Table".

    A figure that is not values over `x` has rows of another dataclass (`row`; it has `wrong`), and says how they are
    printed (`lines`) and drawn: `draw` yields (name, matplotlib Figure). None: it is not drawn.
    """

    number: int
    title: str
    axis: str
    values: tuple[str, ...]
    published: str
    measure: Callable[[Site], Iterator[list[Any]]]
    apart: bool = False
    kind: str = "Figure"
    row: type = Row
    lines: Callable[[list[Any]], Iterator[str]] | None = None
    draw: Callable[[list[Any]], Iterator[tuple[str, Any]]] | None = None

    @property
    def name(self) -> str:
        return f"{self.kind} {self.number}"

    @property
    def file(self) -> str:
        """The name of its files, without an ending."""
        return f"{self.kind.lower()}-{self.number}"


@dataclass(frozen=True, slots=True)
class Conclusion:
    """One conclusion of the paper. holds: None if this run cannot tell."""

    published: str
    here: str
    holds: bool | None


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment. curves: the columns of its tables. remarks: what a reader has to know before the figures.

    goes_on: whether it takes points from the rows of an earlier run, in place of measuring them again.
    """

    paper: str
    curves: tuple[str, ...]
    figures: tuple[Figure, ...]
    remarks: Callable[[Site], list[str]]
    conclusions: Callable[[Site, list[Any]], list[Conclusion]]
    goes_on: bool = False
