"""The CSV file of timings: rows are appended; the header is written once, at its top."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from evenly.errors import InputError


class Row(NamedTuple):
    """The columns of the artifact of Osama, Porumbescu, Owens (PPoPP 2023); elapsed in ms."""

    kernel: str
    dataset: str
    rows: int
    cols: int
    nnzs: int
    elapsed: float


class CsvFile:
    """A file that can be appended to, which is found out at once, before any work is done.

    Raises InputError where it cannot, or where it holds something else.
    """

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        try:
            existed = self.path.exists()
            with self.path.open("a+", newline="") as file:
                file.seek(0)
                first = file.readline()
            if not existed:  # as long as there is nothing to put into it
                self.path.unlink()
        except OSError as error:
            given = (error.strerror or str(error)).lower()
            raise InputError(path, expected="a CSV file to append to", given=given) from None
        except UnicodeDecodeError:
            first = "something that is no text"
        if first.strip() and first.strip() != ",".join(Row._fields):
            expected = f"a CSV file of {','.join(Row._fields)}"
            given = f"one that begins with {first.strip()[:60]!r}"
            raise InputError(path, expected=expected, given=given)

    def append(self, rows: Iterable[Row]) -> None:
        """Write the rows, below the header."""
        with self.path.open("a", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if file.tell() == 0:
                writer.writerow(Row._fields)
            for row in rows:
                writer.writerow(row._replace(elapsed=f"{row.elapsed:.6f}"))
