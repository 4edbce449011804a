"""Append timings to a CSV file. A new file gets a header first."""

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
    """A CSV file to append rows to.

    Raises InputError at once, before any work is done, if the file cannot be written or
    has other contents.
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
            if not existed:  # leave no empty file behind if there will be no rows
                self.path.unlink()
            elif self.path.is_file():  # a pipe or device has no contents to check
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
        """Append rows, after the header."""
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
        """Make an InputError about this file of an error of the system."""
        given = (error.strerror or str(error)).lower()
        return InputError(str(self.path), expected=EXPECTED, given=given)
