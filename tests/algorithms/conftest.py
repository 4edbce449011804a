"""Run a test twice: by NumPy, and by the kernels that run on a GPU, on the CPU (`usefixtures("way")`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evenly import kit


def radix_sort(
    keys: Any,
    values: Any,
    keys_out: Any,
    values_out: Any,
    *,
    descending: bool = False,
    bits: int | None = None,
) -> None:
    """What CCCL's does on a GPU: a stable sort of integers. (It has no order of its own for NaN.)"""
    assert np.dtype(keys.dtype).kind in "biu"
    assert keys.dtype == keys_out.dtype and values.dtype == values_out.dtype
    assert values.dtype.itemsize <= 8
    flip = slice(None, None, -1 if descending else 1)
    seen = keys if bits is None else keys & np.array(2**bits - 1, keys.dtype)
    order = np.argsort(seen[flip], kind="stable")[flip]
    if descending:
        order = len(keys) - 1 - order
    keys_out[...], values_out[...] = keys[order], values[order]


def by_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the way of arrays on a GPU from now on."""
    for place in ("evenly.kit.on_gpu", "evenly.kit.operands.on_gpu"):
        monkeypatch.setattr(place, lambda x: True)
    monkeypatch.setattr(kit, "radix_sort", radix_sort)


@pytest.fixture(params=["numpy", "kernels"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "kernels":
        by_kernels(monkeypatch)
