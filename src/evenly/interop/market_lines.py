"""What a Matrix Market file may say: its header, and each of its lines.

The spelling of an entry is in `Header.pattern`.

Source: Boisvert, Pozo, Remington, "The Matrix Market Exchange Formats: Initial Design",
NISTIR 5935 (1996). Where it is silent: fields are divided by spaces and tabs, lines end as on
Unix or Windows, blank lines may stand everywhere but before the first, and comments between the
first line and the sizes. Integers are of 64 bits; `inf` and `nan` are numbers, as SciPy and
others write them. No number has a plus, a hexadecimal digit, or Fortran's D.
"""

from __future__ import annotations

import dataclasses
import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import BinaryIO

import numpy as np

EXPECTED = "a Matrix Market file"
EXAMPLE = "%%MatrixMarket matrix coordinate real general"
HINT = f"it begins with '{EXAMPLE}'"

FORMATS = ("coordinate", "array")
FIELDS = {"real": 1, "integer": 1, "unsigned-integer": 1, "complex": 2, "pattern": 0}  # numbers
SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")

LONGEST = 1 << 22  # bytes of a line; the specification has 1,024
SHOWN = 60  # characters of a line that a message shows

BLANKS = rb"[ \t]*"
INDEX = rb"([0-9]+)"
REAL = rb"(-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|-?[iI][nN][fF](?:[iI][nN][iI][tT][yY])?|-?[nN][aA][nN])"
NUMBERS = {"integer": rb"(-?[0-9]+)", "unsigned-integer": rb"([0-9]+)"}
RANGES = {"integer": np.iinfo(np.int64), "unsigned-integer": np.iinfo(np.uint64)}


Entry = tuple[int, int, list[float]]  # row, column and number (or its two parts)


class Unfit(Exception):
    """A line that is not right. line: its number, or how many lines are before it in its part."""

    def __init__(self, line: int, expected: str, given: str, hint: str = "") -> None:
        super().__init__(line, expected, given, hint)
        self.line, self.expected, self.given, self.hint = line, expected, given, hint


@dataclass(frozen=True)
class Header:
    """What the first lines say. listed: how many entries follow; line: the number of the last one."""

    format: str
    field: str
    symmetry: str
    rows: int = 0
    columns: int = 0
    listed: int = 0
    line: int = dataclasses.field(default=0, compare=False)

    @property
    def indexed(self) -> bool:
        """Whether each entry has its row and column."""
        return self.format == "coordinate"

    @property
    def numbers(self) -> int:
        """How many an entry has."""
        return FIELDS[self.field]

    @property
    def above(self) -> int:
        """Entries have column - row < above: a symmetric file lists one triangle."""
        return {"general": 1 << 62, "skew-symmetric": 0}.get(self.symmetry, 1)

    @cached_property
    def pattern(self) -> re.Pattern[bytes]:
        """What a line with an entry looks like."""
        number = NUMBERS.get(self.field, REAL)
        parts = [INDEX] * (2 * self.indexed) + [number] * self.numbers
        return re.compile(BLANKS + rb"[ \t]+".join(parts) + BLANKS)

    def entry(self, line: bytes) -> Entry | None:
        """What a line says, with indices from 0; None: nothing. Raises Unfit (of line 0) for what is not right."""
        line = line.removesuffix(b"\r")
        if not line.strip(b" \t"):
            return None
        found = self.pattern.fullmatch(line)
        if found is None:
            raise Unfit(0, self._described(), shown(line))
        fields = found.groups()
        row, column = self._place(*fields[:2]) if self.indexed else (1, 1)
        return row - 1, column - 1, [self._number(text) for text in fields[2 * self.indexed :]]

    def _place(self, row_text: bytes, column_text: bytes) -> tuple[int, int]:
        row, column = whole(row_text), whole(column_text)
        for what, index, text, size in (
            ("row", row, row_text, self.rows),
            ("column", column, column_text, self.columns),
        ):
            if not 1 <= index <= size:
                raise Unfit(0, f"a {what} in 1 .. {size:,}" if size else "no entries", shown(text))
        if column - row >= self.above:
            where = "below" if self.above == 0 else "on or below"
            expected = f"entries {where} the diagonal, the file being {self.symmetry}"
            raise Unfit(0, expected, f"row {row}, column {column}")
        return row, column

    def _number(self, text: bytes) -> float:
        if self.field not in RANGES:
            value = float(text)
            if math.isinf(value) and b"n" not in text.lower():  # "inf" is meant, 1e999 is not
                raise Unfit(0, "a number in the range of float64", shown(text))
            return value
        ends = RANGES[self.field]
        least = -ends.max if self.symmetry == "skew-symmetric" else ends.min  # which is negated
        if not least <= whole(text) <= ends.max:
            raise Unfit(0, f"an integer in {least} .. {ends.max}", shown(text))
        return whole(text)

    def _described(self) -> str:
        """A line with an entry, in words."""
        place = ["a row", "a column"] * self.indexed
        kind = {"integer": "an integer", "unsigned-integer": "an integer of 0 or more"}
        if self.field == "complex":
            numbers = ["the two parts of a complex number"]
        else:
            numbers = [kind.get(self.field, "a real number")] * self.numbers
        *first, last = place + numbers
        return f"{', '.join(first)} and {last}" if first else last


def read_header(file: BinaryIO) -> Header:
    """The header that `file` begins with; what follows is left to be read. Raises Unfit."""
    first = file.readline(LONGEST)
    text = _ended(first).rstrip(b" \t")
    words = re.split("[ \t]+", text.decode("latin-1"))
    if words[0].lower() != "%%matrixmarket":
        raise Unfit(1, EXPECTED, shown(text), HINT)
    _check_length(first, 1)
    header = _banner(words[1:])
    line = 1
    while text := file.readline(LONGEST):
        line += 1
        _check_length(text, line)
        text = _ended(text)
        if text.startswith(b"%") or not text.strip(b" \t"):
            continue
        return _sized(header, text, line)
    raise Unfit(line, f"{_sizes(header)} after the comments", "the end of the file")


def _ended(line: bytes) -> bytes:
    """A line without its end."""
    return line.removesuffix(b"\n").removesuffix(b"\r")


def _check_length(line: bytes, number: int) -> None:
    """Raise Unfit for a line that was cut where it was read."""
    if len(line) == LONGEST:
        raise Unfit(number, f"lines of less than {LONGEST:,} bytes", "a longer one")


def _banner(words: list[str]) -> Header:
    known = (("matrix",), FORMATS, FIELDS, SYMMETRIES)
    given = [word.lower() for word in words]
    for position, choice in enumerate(known):
        word = given[position] if position < len(given) else ""
        if word not in choice:
            said = ascii(words[position][:SHOWN]) if word else "the end of the line"
            raise Unfit(1, " or ".join(choice) + f" as word {position + 2}", said, HINT)
    if len(given) > len(known):
        raise Unfit(1, "five words", f"{len(given) + 1}", HINT)
    _, format, field, symmetry = given
    if field == "pattern" and format == "array":
        raise Unfit(1, "numbers in an array", "pattern")
    if not _go_together(field, symmetry):
        raise Unfit(1, f"a {field} matrix that can be {symmetry}", f"{field} {symmetry}")
    return Header(format, field, symmetry)


def _go_together(field: str, symmetry: str) -> bool:
    if symmetry == "hermitian":
        return field == "complex"
    return symmetry != "skew-symmetric" or field not in ("pattern", "unsigned-integer")


def _sizes(header: Header) -> str:
    return "rows, columns and entries" if header.indexed else "rows and columns"


def _sized(header: Header, text: bytes, line: int) -> Header:
    count = 3 if header.indexed else 2
    found = re.fullmatch(BLANKS + rb"[ \t]+".join([INDEX] * count) + BLANKS, text)
    numbers = [whole(number) for number in found.groups()] if found else []
    if not numbers or max(numbers) >= 1 << 62:
        raise Unfit(line, f"{_sizes(header)} as {count} integers", shown(text))
    rows, columns = numbers[:2]
    if header.symmetry != "general" and rows != columns:
        given = f"{rows:,} x {columns:,}"
        raise Unfit(line, f"as many rows as columns, being {header.symmetry}", given)
    triangle = {"general": rows * columns, "skew-symmetric": rows * (rows - 1) // 2}
    full = triangle.get(header.symmetry, rows * (rows + 1) // 2)
    listed = numbers[2] if header.indexed else full
    return Header(header.format, header.field, header.symmetry, rows, columns, listed, line)


def whole(text: bytes) -> int:
    """An integer; of one with too many digits for any size, one that is too large."""
    digits = text.lstrip(b"-0")
    value = int(digits or b"0") if len(digits) <= 20 else 1 << 70
    return -value if text.startswith(b"-") else value


def shown(text: bytes) -> str:
    """Bytes for a message: quoted, cut, and with nothing that a terminal would obey."""
    cut = text[:SHOWN]
    return ascii(cut.decode("latin-1")) + ("..." if len(text) > SHOWN else "")
