"""alpha * product + beta * out, as BLAS means it: what is multiplied by 0 counts as 0, also NaN."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evenly.errors import InputError
from evenly.kit.arguments import common_type
from evenly.kit.operands import dtype
from evenly.kit.scalars import scalar, scaled_type
from evenly.language.func import func


class Scales(NamedTuple):
    """alpha and beta as arguments of a kernel, which hands them to `scaled`.

    alpha, beta: numbers of the host; None for alpha if nothing is to be scaled, for beta if it is 0 or on a GPU.
    alphas, betas: arrays of one element on a GPU instead. adds: None if the host knows that beta is 0.
    """

    alpha: Any = None
    beta: Any = None
    alphas: Any = None
    betas: Any = None
    adds: int | None = None

    def leaves(self, found: np.dtype[Any]) -> bool:
        """Whether a product of the dtype `found` is the result."""
        return (
            self.adds is None
            and self.alphas is None
            and self.alpha == 1
            and common_type(found, self.alpha) == found
        )

    def type_of(self, found: np.dtype[Any], out: Any) -> np.dtype[Any]:
        """Return NumPy's dtype of alpha * product + beta * out, for a product of the dtype `found`.

        out: None if there is none. Raises InputError for an integer that does not fit the integers that it scales.
        """
        if self.alpha is None and self.alphas is None:
            return found
        scaled = scaled_type(found, self.alpha, self.alphas, "alpha")
        if self.adds is None:
            return scaled
        added = scaled_type(dtype(out), self.beta, self.betas, "beta")
        return common_type(scaled, added)

    def check_out(self, out: Any, called: str = "y") -> None:
        """Raise InputError if beta scales what is not there. called: what docs call the array that it scales."""
        if out is None and self.adds is not None:
            raise InputError("out", expected=f"the {called} that beta scales", given="none")


def scales(alpha: Any, beta: Any, like: Any, named: str) -> Scales:
    """Return alpha and beta as a kernel takes them. like, named: as `scalar` takes them.

    Raises InputError for anything but numbers, and arrays of one element on the device of `like`.
    """
    a, alphas = scalar(alpha, "alpha", like, named)
    b, betas = scalar(beta, "beta", like, named)
    adds = None if betas is None and b == 0 else 1
    return Scales(a, None if adds is None else b, alphas, betas, adds)


@func
def held(number, array):
    """A scalar that the host knows, or else one that lies on the device."""
    if array is None:
        return number
    return array[0]


@func
def scaled(product, old, alpha, beta, alphas, betas, adds):
    """In kernels: alpha * product + beta * old, where nothing is multiplied by 0.

    old: what `out` has there; 0 where adds is None, so that `out` is not read. The others are the fields of `Scales`.
    """
    if alpha is None and alphas is None:
        return product
    a = held(alpha, alphas)
    made = a * product if a != 0 else 0
    if adds is None:
        return made
    b = held(beta, betas)
    return made + b * old if b != 0 else made
