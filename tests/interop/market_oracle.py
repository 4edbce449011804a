"""A slow, strict reader of Matrix Market files: it returns a dense matrix, or None for a malformed file.

It shares no code with evenly's reader. It parses one line after the other, with Python's own numbers.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

REAL = r"-?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|-?inf|-?infinity|-?nan"
KINDS = {"real": 1, "integer": 1, "unsigned-integer": 1, "complex": 2, "pattern": 0}
TYPES = {"integer": np.int64, "unsigned-integer": np.uint64, "complex": np.complex128}
LEGAL = {
    "general": set(KINDS),
    "symmetric": set(KINDS),
    "skew-symmetric": {"real", "integer", "complex"},
    "hermitian": {"complex"},
}


class Refused(Exception):
    """The file is malformed."""


class TooLarge(Exception):
    """The matrix is too large for this reader."""


def demand(condition: object) -> None:
    if not condition:
        raise Refused


def parse(content: bytes) -> np.ndarray[Any, Any] | None:
    """The matrix, dense; None for a file that is to be refused. Raises TooLarge."""
    try:
        return matrix_of(content.decode("latin-1"))
    except Refused:
        return None


def matrix_of(text: str) -> np.ndarray[Any, Any]:
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    words = re.split("[ \t]+", lines[0].rstrip(" \t").lower())
    demand(len(words) == 5 and words[:2] == ["%%matrixmarket", "matrix"])
    format, field, symmetry = words[2:]
    demand(format in ("coordinate", "array") and field in LEGAL.get(symmetry, ()))
    demand(format == "coordinate" or field != "pattern")
    lines = lines[1:]
    while lines and (lines[0].startswith("%") or not lines[0].strip(" \t")):
        del lines[0]
    demand(lines)
    sizes = [natural(word) for word in fields(lines.pop(0))]
    demand(len(sizes) == (3 if format == "coordinate" else 2))
    rows, columns = sizes[:2]
    demand(symmetry == "general" or rows == columns)
    if max(rows, columns, rows * columns) > 10**6:
        raise TooLarge
    listed = [fields(line) for line in lines if line.strip(" \t")]
    places = None if format == "coordinate" else list(walk(rows, columns, symmetry))
    demand(len(listed) == (sizes[2] if places is None else len(places)))
    matrix = np.zeros((rows, columns), TYPES.get(field, np.float64)).astype(object)
    for k, words in enumerate(listed):
        if places is None:
            demand(len(words) == 2 + KINDS[field])
            row, column = natural(words[0]), natural(words[1])
            words = words[2:]
        else:
            demand(len(words) == KINDS[field])
            row, column = places[k]
        demand(1 <= row <= rows and 1 <= column <= columns)
        add(matrix, row, column, value_of(words, field, symmetry), symmetry)
    if field in ("integer", "unsigned-integer"):
        ends = np.iinfo(TYPES[field])
        demand(all(ends.min <= value <= ends.max for value in matrix.flat))
    return matrix.astype(TYPES.get(field, np.float64))


def fields(line: str) -> list[str]:
    return [word for word in re.split("[ \t]+", line) if word]


def natural(word: str) -> int:
    demand(re.fullmatch("[0-9]+", word))
    return int(word)


def walk(rows: int, columns: int, symmetry: str) -> Any:
    """The (row, column) of each number of an array file."""
    for column in range(1, columns + 1):
        first = {"general": 1, "skew-symmetric": column + 1}.get(symmetry, column)
        for row in range(first, rows + 1):
            yield row, column


def value_of(words: list[str], field: str, symmetry: str) -> Any:
    if field == "pattern":
        return 1.0
    if field in ("integer", "unsigned-integer"):
        demand(re.fullmatch("-?[0-9]+" if field == "integer" else "[0-9]+", words[0]))
        value = int(words[0])
        ends = np.iinfo(TYPES[field])
        demand(ends.min + (symmetry == "skew-symmetric") <= value <= ends.max)
        return value
    numbers = []
    for word in words:
        demand(re.fullmatch(REAL, word.lower(), re.ASCII))
        number = float(word)
        demand(abs(number) != np.inf or "inf" in word.lower())
        numbers.append(number)
    return complex(*numbers) if field == "complex" else numbers[0]


def add(matrix: Any, row: int, column: int, value: Any, symmetry: str) -> None:
    """One entry, and its mirror image."""
    row, column = row - 1, column - 1
    if symmetry == "general":
        matrix[row, column] += value
        return
    demand(row > column or (row == column and symmetry != "skew-symmetric"))
    demand(row != column or symmetry != "hermitian" or value.imag == 0)
    matrix[row, column] += value
    if row != column:
        if symmetry == "skew-symmetric":
            value = complex(-value.real, -value.imag) if isinstance(value, complex) else -value
        matrix[column, row] += value.conjugate() if symmetry == "hermitian" else value
