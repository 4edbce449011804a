"""The CSV file of a run. It has a row for each contender, matrix and state of the cache."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from evenly.errors import InputError, shown

# (bound, class): a matrix belongs to the first class whose bound exceeds its nonzeros.
SIZES = ((10_000, "under 10 k"), (100_000, "10 k to 100 k"), (1_000_000, "100 k to 1 M"))
LARGEST = "1 M and more"


@dataclass(frozen=True, slots=True)
class Row:
    """The columns of the file.

    clock: "kernels" (GPU events around replayed graphs) or "call" (the host's clock).
    cache: "warm" or "flushed". us, us_min, us_max: median, least and greatest of `rounds` rounds;
    0 if there are none. floor_us: see floors. share: floor_us / us. wrong: the number of entries of y
    whose error exceeds its bound. detail: the schedule that ran. note: why a contender was left out.
    """

    machine: str
    versions: str
    target: str
    dtype: str
    matrix: str
    origin: str
    rows: int
    cols: int
    nnz: int
    size: str
    contender: str
    family: str = ""
    detail: str = ""
    clock: str = ""
    cache: str = ""
    us: float = 0.0
    us_min: float = 0.0
    us_max: float = 0.0
    rounds: int = 0
    gb_per_s: float = 0.0
    floor_us: float = 0.0
    share: float = 0.0
    wrong: int = 0
    note: str = ""

    @property
    def spread(self) -> float:
        """The slowest round minus the fastest, relative to the fastest."""
        return self.us_max / self.us_min - 1


@dataclass(frozen=True, slots=True)
class FamilyRow(Row):
    """The columns of a run over families: a matrix has one of lengths, and one of columns.

    stream: 1 if neighbouring atoms gather from the same lines, by what the families say.
    """

    lengths: str = ""
    columns: str = ""
    stream: int = 0


def columns_of(row: Any) -> tuple[str, ...]:
    """Return the columns of a file: the fields of the dataclass of its rows."""
    return tuple(field.name for field in fields(row))


COLUMNS = columns_of(Row)


def size_of(nnz: int) -> str:
    """Return the class of size of a matrix with so many nonzeros."""
    return next((name for bound, name in SIZES if nnz < bound), LARGEST)


class Recorder:
    """Writes the rows of a run after each matrix, so that an interrupted run keeps what it has measured.

    row: the dataclass of the rows. Its fields are the columns.

    An existing file is replaced. Raises InputError if the file cannot be written.
    """

    def __init__(self, path: str, row: Any = Row) -> None:
        self.path = Path(path)
        self._write("w", [columns_of(row)])

    def add(self, rows: Iterable[Any]) -> None:
        """Append rows."""
        self._write("a", [tuple(map(_text, asdict(row).values())) for row in rows])

    def _write(self, mode: str, lines: Iterable[tuple[object, ...]]) -> None:
        try:
            with self.path.open(mode, encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(lines)
        except OSError as error:
            given = (error.strerror or str(error)).lower()
            raise InputError(str(self.path), expected="a CSV file to write", given=given) from None


def _text(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float) else value


BENCH = "a CSV file of `evenly bench spmv`"


def read(
    path: str, kinds: tuple[type[Any], ...] = (Row, FamilyRow), expected: str = BENCH
) -> list[Any]:
    """Read the rows of a file. Raises InputError if it has other columns.

    kinds: dataclasses, of which one has the file's columns. expected: what the file should be, in words.
    """
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            lines = list(csv.reader(file))
    except OSError as error:
        given = (error.strerror or str(error)).lower()
        raise InputError(path, expected=expected, given=given) from None
    except (UnicodeDecodeError, csv.Error):
        raise InputError(path, expected=expected, given="a file that is no text") from None
    kind = next((k for k in kinds if lines and columns_of(k) == tuple(lines[0])), None)
    if kind is None:
        given = shown(",".join(lines[0])) if lines else "an empty file"
        hint = f"it begins with {','.join(columns_of(kinds[0])[:5])},..."
        raise InputError(path, expected=expected, given=given, hint=hint)
    return [_row(kind, path, number, line) for number, line in enumerate(lines[1:], 2)]


def _row(kind: type[Any], path: str, number: int, line: list[str]) -> Any:
    kinds: dict[str, Callable[[str], Any]] = {"int": _count, "float": _number, "str": _printed}
    try:
        made = [
            kinds[str(field.type)](text) for field, text in zip(fields(kind), line, strict=True)
        ]
    except ValueError as error:
        expected = f"{len(fields(kind))} columns with numbers where they belong"
        raise InputError(f"{path}, line {number}", expected=expected, given=str(error)) from None
    return kind(*made)


def _count(text: str) -> int:
    count = int(text)
    if not 0 <= count < 2**63:
        raise ValueError(f"{shown(text)}, which counts nothing")
    return count


def _number(text: str) -> float:
    number = float(text)
    if not 0 <= number < math.inf:
        raise ValueError(f"{shown(text)}, which measures nothing")
    return number


def _printed(text: str) -> str:
    if not text.isprintable():
        raise ValueError(f"{shown(text)}, which cannot be printed")
    return text
