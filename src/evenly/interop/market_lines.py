"""The grammar of Matrix Market files: the header, and a line with an entry (`Header.pattern`).

Source: Boisvert, Pozo, Remington, "The Matrix Market Exchange Formats: Initial Design",
NISTIR 5935 (1996). evenly decides what the source leaves open: spaces and tabs separate fields;
lines end with LF or CRLF; blank lines may come anywhere after the first line; comments may come
between the first line and the sizes; integers have 64 bits; `inf` and `nan` are numbers, as
SciPy writes them. A leading plus, hexadecimal digits and Fortran's exponent D are refused.
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

LONGEST = 1 << 22  # bytes that a line may have; the specification allows 1,024
SHOWN = 60  # characters of a line that a message shows

BLANKS = rb"[ \t]*"
INDEX = rb"([0-9]+)"
REAL = rb"(-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|-?[iI][nN][fF](?:[iI][nN][iI][tT][yY])?|-?[nN][aA][nN])"
NUMBERS = {"integer": rb"(-?[0-9]+)", "unsigned-integer": rb"([0-9]+)"}
RANGES = {"integer": np.iinfo(np.int64), "unsigned-integer": np.iinfo(np.uint64)}


Entry = tuple[int, int, list[float]]  # row, column and number (or its two parts)


class Unfit(Exception):
    """A line of the file is wrong. line: its number in the file, or the number of lines before it in a piece."""

    def __init__(self, line: int, expected: str, given: str, hint: str = "") -> None:
        super().__init__(line, expected, given, hint)
        self.line, self.expected, self.given, self.hint = line, expected, given, hint


@dataclass(frozen=True)
class Header:
    """The header of a file. listed: the number of entries that follow. line: the number of the header's last line."""

    format: str
    field: str
    symmetry: str
    rows: int = 0
    columns: int = 0
    listed: int = 0
    line: int = dataclasses.field(default=0, compare=False)

    @property
    def indexed(self) -> bool:
        """Whether each line has a row and a column."""
        return self.format == "coordinate"

    @property
    def numbers(self) -> int:
        """How many numbers an entry has: 0, 1, or 2 for a complex one."""
        return FIELDS[self.field]

    @property
    def above(self) -> int:
        """The bound of column - row of all entries: a symmetric file lists the lower triangle only."""
        return {"general": 1 << 62, "skew-symmetric": 0}.get(self.symmetry, 1)

    @cached_property
    def pattern(self) -> re.Pattern[bytes]:
        """A regular expression for a line with an entry."""
        number = NUMBERS.get(self.field, REAL)
        parts = [INDEX] * (2 * self.indexed) + [number] * self.numbers
        return re.compile(BLANKS + rb"[ \t]+".join(parts) + BLANKS)

    def entry(self, line: bytes) -> Entry | None:
        """Parse a line: (row, column, numbers), with indices from 0. None: a blank line. Raises Unfit, with line 0."""
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
            if math.isinf(value) and b"n" not in text.lower():  # 1e999 is refused, "inf" is not
                raise Unfit(0, "a number in the range of float64", shown(text))
            return value
        ends = RANGES[self.field]
        least = -ends.max if self.symmetry == "skew-symmetric" else ends.min  # it is negated later
        if not least <= whole(text) <= ends.max:
            raise Unfit(0, f"an integer in {least} .. {ends.max}", shown(text))
        return whole(text)

    def _described(self) -> str:
        """Describe a line with an entry, for error messages."""
        place = ["a row", "a column"] * self.indexed
        kind = {"integer": "an integer", "unsigned-integer": "an integer of 0 or more"}
        if self.field == "complex":
            numbers = ["the two parts of a complex number"]
        else:
            numbers = [kind.get(self.field, "a real number")] * self.numbers
        *first, last = place + numbers
        return f"{', '.join(first)} and {last}" if first else last


def read_header(file: BinaryIO) -> Header:
    """Read the header, and leave the file at the line after it. Raises Unfit."""
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
    """Return a line without its LF or CRLF."""
    return line.removesuffix(b"\n").removesuffix(b"\r")


def _check_length(line: bytes, number: int) -> None:
    """Raise Unfit for a line of LONGEST bytes: `readline` has cut it."""
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
    """Return an integer. For more than 20 digits, return one that is too large for any check."""
    digits = text.lstrip(b"-0")
    value = int(digits or b"0") if len(digits) <= 20 else 1 << 70
    return -value if text.startswith(b"-") else value


def shown(text: bytes) -> str:
    """Quote bytes for a message, shortened and without control characters."""
    cut = text[:SHOWN]
    return ascii(cut.decode("latin-1")) + ("..." if len(text) > SHOWN else "")
