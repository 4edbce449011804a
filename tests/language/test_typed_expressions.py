"""What an expression is worth follows from its types, on every target: random ones, against the reference."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import evenly as ev

from .building import made
from .typed_expressions import OUTPUTS, arguments, kernel_text


@ev.layout
class Rows:
    """Tiles of no atoms: the expressions are a tile's own."""

    num_tiles: int

    @property
    def num_atoms(self):
        return 0

    def begin(self, tile):
        return 0

    def end(self, tile):
        return 0


def outcome(text: str, target: str) -> dict[str, np.ndarray] | str:
    """What a kernel stores, or the line by which it is refused."""
    given_ = arguments()
    kernel = ev.kernel(made(text), source=text)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kernel.on(target)(Rows(8), *given_.values())
    except ev.EvenlyError as error:
        return str(error).splitlines()[0]
    return {name: given_[name] for name in (f"o{kind}" for kind in OUTPUTS)}


def agree(text: str, target: str) -> None:
    wanted, got = outcome(text, "python"), outcome(text, target)
    if isinstance(wanted, str) or isinstance(got, str):
        assert isinstance(wanted, str) and isinstance(got, str), (wanted, got, text)
        return
    for name, array in wanted.items():
        np.testing.assert_array_equal(got[name], array, err_msg=f"{name}\n{text}")


EVERYDAY = [
    "(100000 if r > 0 else 200000) * 100000",
    "(100000 if r > 0 else 200000) | 2**40",
    "~(5 if r > 0 else 7) - 2**33",
    "l[r] * (1 if r > 2 else -1)",
    "l[r] % (7 if r > 2 else 3)",
    "abs(3 if r > 2 else -4) + l[r]",
    "np.int64(5) * (2**31 if r else 1)",
    "(1 if r > 1 else 2) << 33",
    "(3 if r > 1 else 2) ** 40",
    "min(1 if r > 1 else 2, 2**40) * 2**20",
    "(i[r] if r > 1 else np.int32(7)) * 65536 * 65536",
    "-(2**62 if r else 2**61) * 4",
    "int(b[r] | (r > 3)) + l[r]",
    "(r + 2**62) * 4",
]


@pytest.mark.parametrize("target", ["cpu", pytest.param("simt", marks=pytest.mark.simt)])
def test_everyday_forms(target: str) -> None:
    lines = [f"        oi[r, {k}] = np.int64({e})" for k, e in enumerate(EVERYDAY)]
    head = "def kernel(A, i, l, b, oi):\n    for r in A.tiles():\n"
    text = head + "\n".join(lines) + "\n"
    given_ = arguments()
    found = []
    for where in ("python", target):
        out = np.zeros((8, len(EVERYDAY)), np.int64)
        kernel = ev.kernel(made(text), source=text)
        kernel.on(where)(Rows(8), *(given_[n] for n in "ilb"), out)
        found.append(out)
    np.testing.assert_array_equal(found[1], found[0])
    assert found[0][1, 0] == 10**10


@pytest.mark.parametrize("seed", range(4))
def test_cpu_agrees(seed: int) -> None:
    agree(kernel_text(seed), "cpu")


@pytest.mark.simt
@pytest.mark.parametrize("seed", range(4, 6))
def test_simt_agrees(seed: int) -> None:
    agree(kernel_text(seed), "simt")


@pytest.mark.slow
@pytest.mark.parametrize("target", ["cpu", pytest.param("simt", marks=pytest.mark.simt)])
@pytest.mark.parametrize("seed", range(100, 250))
def test_all_agree(target: str, seed: int) -> None:
    agree(kernel_text(seed), target)
