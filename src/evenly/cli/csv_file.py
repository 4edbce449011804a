"""The CSV file of timings: rows are appended; the header is written once, at its top."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from evenly.errors import InputError, shown

EXPECTED = "a CSV file to append to"


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
        first = ""
        try:
            if self.path.is_dir():
                raise InputError(path, expected=EXPECTED, given="a directory")
            existed = self.path.exists()
            with self.path.open("a"):
                pass
            if not existed:  # as long as there is nothing to put into it
                self.path.unlink()
            elif self.path.is_file():  # a pipe or device is only written to
                with self.path.open(encoding="utf-8") as file:
                    first = file.readline(1 << 16)
        except OSError as error:
            raise self.failed(error) from None
        except UnicodeDecodeError:
            raise InputError(path, expected=EXPECTED, given="a file that is no text") from None
        if first.strip() and first.strip() != ",".join(Row._fields):
            expected = f"a CSV file that begins with {','.join(Row._fields)}"
            raise InputError(path, expected=expected, given=shown(first.strip()))

    def append(self, rows: Iterable[Row]) -> None:
        """Write the rows, below the header."""
        try:
            with self.path.open("a", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                if self.path.is_file() and self.path.stat().st_size == 0:
                    writer.writerow(Row._fields)
                for row in rows:
                    writer.writerow(row._replace(elapsed=f"{row.elapsed:.6f}"))  # type: ignore[arg-type]
        except OSError as error:
            raise self.failed(error) from None

    def failed(self, error: OSError) -> InputError:
        """What the system said, about this file."""
        given = (error.strerror or str(error)).lower()
        return InputError(str(self.path), expected=EXPECTED, given=given)
