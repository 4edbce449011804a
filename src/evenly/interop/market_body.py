"""Read and check the entries of a Matrix Market file, line by line. Several threads read a large file."""

from __future__ import annotations

import itertools
import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from .market_lines import LONGEST, RANGES, Header, Unfit, shown

PIECE = 1 << 22  # bytes of the file that one task parses
LARGE = 1 << 22  # if the first piece has this many bytes, compiling the fast reader pays
THREADS = 8


class Entries(NamedTuple):
    """Entries of a matrix: indices that count from 0 (empty for an "array" file), and values."""

    rows: Any
    columns: Any
    values: Any


def read_body(file: BinaryIO, header: Header) -> Entries:
    """Read all entries after the header. Raises Unfit for a line that does not agree with the header."""
    waiting: deque[tuple[bytes, Future[_Part]]] = deque()
    total = _Total(header)
    threads = min(os.cpu_count() or 1, THREADS)
    large = None
    with ThreadPoolExecutor(threads) as pool:
        for piece in _pieces(file):
            if large is None:  # this is the first piece
                large = len(piece) >= LARGE
            waiting.append((piece, pool.submit(_read, piece, header, large)))
            if len(waiting) > 2 * threads:
                total.add(*waiting.popleft())
        while waiting:
            total.add(*waiting.popleft())
    return total.entries()


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    """Yield the rest of a file in pieces. Each ends with a newline, unless a line is longer than LONGEST."""
    while piece := file.read(PIECE):
        if not piece.endswith(b"\n"):
            rest = file.readline(LONGEST)
            piece += rest if rest.endswith(b"\n") or len(rest) == LONGEST else rest + b"\n"
        yield piece


class _Part:
    """Arrays for the entries of a piece, and the number of lines and entries read so far."""

    def __init__(self, piece: bytes, header: Header) -> None:
        room = piece.count(b"\n")
        places = room if header.indexed else 0
        self.integer = header.field in RANGES
        self.rows = np.empty(places, np.int64)
        self.columns = np.empty(places, np.int64)
        self.integers = np.empty(room if self.integer else 0, np.int64)
        self.reals = np.empty((0 if self.integer else room, header.numbers))
        self.lines = self.entries = 0

    def append(self, line: bytes, header: Header) -> None:
        """Parse one line. Raises Unfit, with the number of lines before it in the piece."""
        try:
            entry = header.entry(line)
        except Unfit as unfit:
            unfit.line = self.lines
            raise
        self.lines += 1
        if entry is None:
            return
        row, column, numbers = entry
        if header.indexed:
            self.rows[self.entries], self.columns[self.entries] = row, column
        if self.integer:
            values = self.integers.view(np.uint64) if numbers[0] > 0 else self.integers
            values[self.entries] = numbers[0]
        else:
            self.reals[self.entries] = numbers
        self.entries += 1

    def narrow(self, header: Header) -> None:
        """Cut the indices to the entries read, in the integer type that the matrix will have."""
        index = np.int32 if max(header.rows, header.columns) < 2**31 else np.int64
        count = self.entries if header.indexed else 0
        self.rows = self.rows[:count].astype(index)
        self.columns = self.columns[:count].astype(index)

    def found(self, header: Header) -> Entries:
        """Return the entries read."""
        return Entries(self.rows, self.columns, self._values(header))

    def _values(self, header: Header) -> Any:
        """Return the values in the dtype that the header asks for."""
        if header.field == "complex":
            return self.reals[: self.entries].view(np.complex128)[:, 0]
        if header.field == "pattern":
            return np.ones(self.entries)
        if header.field == "unsigned-integer":
            return self.integers[: self.entries].view(np.uint64)
        return (self.integers if self.integer else self.reals[:, 0])[: self.entries]


def _read(piece: bytes, header: Header, large: bool) -> _Part:
    """Parse a piece. Raises Unfit, with the number of lines before the wrong one."""
    if not piece.endswith(b"\n"):
        raise Unfit(piece.count(b"\n"), f"lines of less than {LONGEST:,} bytes", "a longer one")
    part = _Part(piece, header)
    if large:
        _read_usual(piece, header, part)
    else:
        for line in piece.split(b"\n")[:-1]:
            part.append(line, header)
    part.narrow(header)
    return part


def _read_usual(piece: bytes, header: Header, part: _Part) -> None:
    """Parse a piece with compiled code, and the lines that it does not know one by one."""
    from .market_scan import usual_lines

    text = np.frombuffer(piece, np.uint8)
    signed = header.field != "unsigned-integer"
    form = (header.indexed, header.numbers, part.integer, signed)
    sizes = (header.rows, header.columns, header.above)
    room = (part.rows, part.columns, part.integers, part.reals)
    at = 0
    while at < len(piece):
        at, lines, part.entries = usual_lines(text, at, part.entries, *form, *sizes, *room)
        part.lines += lines
        if at < len(piece):  # the compiled code stopped at this line: it is unusual, or wrong
            end = piece.find(b"\n", at)
            part.append(piece[at:end], header)
            at = end + 1


class _Total:
    """The entries of all pieces so far."""

    def __init__(self, header: Header) -> None:
        self.header, self.lines, self.read = header, header.line, 0
        self.parts: list[Entries] = []

    def add(self, piece: bytes, reading: Future[_Part]) -> None:
        """Add a piece. Raises Unfit, with the line's number in the file, for a wrong line or an entry too many."""
        try:
            part = reading.result()
        except Unfit as unfit:
            unfit.line += self.lines + 1
            raise
        if self.read + part.entries > self.header.listed:
            raise self._extra(piece)
        self.parts.append(part.found(self.header))
        self.lines, self.read = self.lines + part.lines, self.read + part.entries

    def entries(self) -> Entries:
        """Return all entries. Raises Unfit if there are fewer than the header says."""
        if self.read < self.header.listed:
            given = f"{self.read:,}: is it truncated?"
            raise Unfit(self.lines, self._promised(), given)
        if not self.parts:
            return _read(b"\n", self.header, large=False).found(self.header)
        rows, columns, values = (np.concatenate(all) for all in zip(*self.parts, strict=True))
        return Entries(rows, columns, values)

    def _extra(self, piece: bytes) -> Unfit:
        """Make the error for a piece with more entries than the header says, about the first one too many."""
        lines = enumerate(piece.split(b"\n"), self.lines + 1)
        entries = ((number, line) for number, line in lines if line.strip(b" \t\r"))
        left = self.header.listed - self.read
        number, line = next(itertools.islice(entries, left, None))
        return Unfit(number, f"the end of the file, after {self._promised()}", shown(line))

    def _promised(self) -> str:
        what = "entries" if self.header.indexed else "numbers"
        return f"{self.header.listed:,} {what}, as line {self.header.line} says"
