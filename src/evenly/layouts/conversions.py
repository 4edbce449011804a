"""Conversions among CSR, CSC and COO, as methods of these layouts with SciPy's names."""

from __future__ import annotations

from typing import Any

from evenly.hooks import hook


class Convertible:
    """A base class for the layouts `Csr`, `Csc` and `Coo`: conversions on the device of the layout."""

    def tocsr(self) -> Any:
        """Return this matrix as CSR, on its device. Duplicates are kept. Within a row, nonzeros keep their order."""
        return converted(self, "csr")

    def tocsc(self) -> Any:
        """Return this matrix as CSC, on its device. Duplicates are kept. Within a column, nonzeros keep their order."""
        return converted(self, "csc")

    def tocoo(self) -> Any:
        """Return this matrix as COO, on its device, with the nonzeros in their order. It shares the values."""
        return converted(self, "coo")

    def transpose(self) -> Any:
        """Return the transpose, without a copy: CSC of CSR, CSR of CSC, and COO of COO. `.tocsr()` makes it CSR."""
        return transposed(self)

    @property
    def T(self) -> Any:
        """The transpose, as `transpose()` returns it."""
        return transposed(self)


class ThroughCsr(Convertible):
    """A base class for layouts with a `tocsr()` of their own, which makes new arrays: the others begin with it."""

    def tocsc(self) -> Any:
        """Return this matrix as CSC, on its device, as that of `tocsr()`."""
        return self.tocsr().tocsc()

    def tocoo(self) -> Any:
        """Return this matrix as COO, on its device, as that of `tocsr()`."""
        return self.tocsr().tocoo()

    def transpose(self) -> Any:
        """Return the transpose as CSC, on its device, over the arrays of `tocsr()`."""
        return self.tocsr().transpose()

    @property
    def T(self) -> Any:
        """The transpose, as `transpose()` returns it."""
        return self.transpose()


@hook
def converted(A: Any, format: str, check: bool = True) -> Any:
    """Return the layout `A` in another format: "csr", "csc" or "coo"; itself if it has this format.

    check: whether to check the indices by which it groups.
    """
    raise NotImplementedError


@hook
def transposed(A: Any) -> Any:
    """Return the transpose of the layout `A` over the same arrays."""
    raise NotImplementedError


@hook
def regrouped(A: Any) -> tuple[Any, Any, Any]:
    """Return the nonzeros of the layout `A`, in order of their rows: offsets of rows, places in `A`, columns."""
    raise NotImplementedError
