"""Sorting by CCCL, with a stand-in for the library: what it is given, and what is kept on disk."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenly.errors import UnavailableError
from evenly.interop import cccl
from tests.interop import fakes


class Compute(types.ModuleType):
    """cuda.compute, as far as it is used. A built sort writes down what it is called with."""

    class SortOrder:
        ASCENDING, DESCENDING = "up", "down"

    def __init__(self) -> None:
        super().__init__("cuda.compute")
        self.built: list[Any] = []
        self.calls: list[dict[str, Any]] = []

    def radix_sort(self) -> None: ...

    def make_radix_sort(self, *, order: str, compute_capability: Any, **given: Any) -> str:
        types_ = [array.dtype.name for array in given.values()]
        self.built.append((types_, order, compute_capability))
        return f"sort {types_} {order}"

    def serialize(self, made: str) -> bytes:
        return made.encode()

    def deserialize(self, blob: bytes) -> Any:
        if not blob.startswith(b"sort"):
            raise ValueError("malformed")

        def sort(**call: Any) -> int:
            self.calls.append({"blob": blob.decode(), **call})
            return 300

        return sort


@pytest.fixture
def compute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Compute:
    made, core = Compute(), types.ModuleType("cuda.core")
    capability = types.SimpleNamespace(major=9, minor=0)
    core.Device = lambda n: types.SimpleNamespace(  # type: ignore[attr-defined]
        device_id=n, compute_capability=capability
    )
    for name, module in (("cuda.core", core), ("cuda.compute", made)):
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setitem(sys.modules, "cupy", fakes.cupy_module())
    monkeypatch.setattr(cccl, "make_current", lambda device: None)
    monkeypatch.setattr(cccl.streams, "current", lambda arrays, device_id: 77)
    monkeypatch.setattr(cccl, "_versions", lambda: ("1", "2"))
    monkeypatch.setattr(cccl, "_ours", types.SimpleNamespace())
    monkeypatch.setenv("EVENLY_CACHE_DIR", str(tmp_path))
    return made


def sort(key: str = "float32", value: str = "float64", **options: Any) -> None:
    arrays = [fakes.ndarray(np.zeros(5, t)) for t in (key, value, key, value)]
    cccl.radix_sort(*arrays, **options)


def test_a_sort_is_built_once_and_kept_on_disk(
    compute: Compute, monkeypatch: pytest.MonkeyPatch
) -> None:
    sort()
    sort()
    assert compute.built == [(["int32", "int32", "int64", "int64"], "up", (9, 0))]
    monkeypatch.setattr(cccl, "_ours", types.SimpleNamespace())  # another process
    sort()
    assert len(compute.built) == 1
    sort(descending=True)
    sort("bool")
    assert [b[:2] for b in compute.built[1:]] == [
        (["int32", "int32", "int64", "int64"], "down"),
        (["uint8", "uint8", "int64", "int64"], "up"),
    ]


def test_a_damaged_file_is_built_anew(compute: Compute) -> None:
    compute.serialize = lambda made: b"something else"  # type: ignore[method-assign]
    with pytest.raises(ValueError, match="malformed"):
        sort()
    compute.serialize = lambda made: made.encode()  # type: ignore[method-assign]
    sort()
    assert len(compute.built) == 2
    assert compute.calls


def test_what_a_sort_is_called_with(compute: Compute) -> None:
    sort(bits=20)
    ask, run = compute.calls
    assert ask["temp_storage"] is None
    assert run["temp_storage"].nbytes == 300
    for call in (ask, run):
        assert (call["num_items"], call["begin_bit"], call["end_bit"]) == (5, 0, 20)
        assert call["stream"].__cuda_stream__() == (0, 77)
        for name, dtype in zip(cccl.NAMES, ("int32", "int32", "int64", "int64"), strict=True):
            described = call[name].__cuda_array_interface__
            assert described["typestr"] == np.dtype(dtype).str
            assert (described["shape"], described["strides"]) == ((5,), None)
    addresses = [run[name].__cuda_array_interface__["data"][0] for name in cccl.NAMES]
    assert len(set(addresses)) == 4


def test_without_cccl_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cuda.compute", None)
    with pytest.raises(UnavailableError) as caught:
        sort()
    assert str(caught.value) == (
        "sorting on a GPU: the package cuda-cccl is not installed; to get it: pip install "
        "'evenly[cu13]' (or [cu12] for a CUDA 12 driver)"
    )
    monkeypatch.setitem(sys.modules, "cuda.compute", types.ModuleType("cuda.compute"))
    with pytest.raises(
        UnavailableError, match="^sorting on a GPU: cuda-cccl finds no NVIDIA driver"
    ):
        sort()
