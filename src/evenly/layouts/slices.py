"""The order of rows in sliced ELL, and the place of each nonzero, from the rows' lengths."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Slices(NamedTuple):
    """Slices of `height` rows. offsets (slices + 1,): the first slot of each. rows: row rows[t] has place t."""

    height: int
    offsets: np.ndarray[Any, Any]
    rows: np.ndarray[Any, Any]

    @classmethod
    def of(cls, lengths: np.ndarray[Any, Any], height: int, sigma: int) -> Slices:
        """sigma: sort rows by length, longest first, in windows of so many; rows of one length keep their order."""
        count = len(lengths)
        rows = np.arange(count)
        if sigma > 1:
            rows = np.lexsort((-lengths, rows // sigma))  # stable
        slices = -(-count // height)
        padded = np.zeros(slices * height, np.int64)
        padded[:count] = lengths[rows]
        offsets = np.zeros(slices + 1, np.int64)
        np.cumsum(padded.reshape(slices, height).max(axis=1, initial=0) * height, out=offsets[1:])
        return cls(height, offsets, rows)

    @property
    def slots(self) -> int:
        return int(self.offsets[-1])

    def places(self, source: Any) -> np.ndarray[Any, Any]:
        """Return the slot of each nonzero of a CSR matrix with these rows."""
        lengths = np.diff(source.indptr)
        place = np.empty(len(lengths), np.int64)
        place[self.rows] = np.arange(len(lengths))
        place = np.repeat(place, lengths)
        nth = np.arange(source.nnz) - np.repeat(source.indptr[:-1].astype(np.int64), lengths)
        found: np.ndarray[Any, Any] = (
            self.offsets[place // self.height] + nth * self.height + place % self.height
        )
        return found
