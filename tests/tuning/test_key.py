"""The keys of winners: equal if everything that matters is equal, else different."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import evenly as ev
from evenly.arguments import Binding, spec_of
from evenly.choosing.statistics import statistics
from evenly.interop import context
from evenly.interop.generators import rmat, stencil
from evenly.targets.cpu import CpuTarget
from evenly.targets.cuda import CudaTarget, place
from evenly.tuning import key
from tests.batteries import layout_batteries
from tests.interop.fakes import OnCuda
from tests.kernels import CASES, row_norms, softmax_rows, spmv


def arguments(matrix, dtype=np.float32):
    matrix = matrix.astype(dtype)
    rows, columns = matrix.shape
    return {"A": ev.csr(matrix), "x": np.ones(columns, dtype), "y": np.zeros(rows, dtype)}


def program(kernel, given):
    return kernel.program(tuple(spec_of(value, name) for name, value in given.items()))


# ---- structure ---------------------------------------------------------------------------------------
def test_equal_structures_are_alike_whatever_their_values() -> None:
    first, second = rmat(10, seed=1), rmat(10, seed=1)
    second.data[:] = 7
    assert key.structure(Binding({"A": ev.csr(first)})) == key.structure(
        Binding({"x": 3, "A": ev.csr(second)})
    )
    assert key.structure(Binding({"A": ev.csr(first)})).startswith(
        f"1024 tiles, {first.nnz} atoms, longest {np.diff(first.indptr).max()}, "
    )


def test_batteries_are_all_told_apart() -> None:
    found = {
        key.structure(Binding({"L": ev.ragged(offsets)})) for offsets in layout_batteries().values()
    }
    assert len(found) == len(layout_batteries())


def test_the_order_of_tiles_is_seen() -> None:
    """Sorted tiles are another case for a schedule than the same ones in a random order."""
    lengths = np.random.default_rng(0).integers(0, 50, 200_000)
    one, other = (
        ev.ragged(np.concatenate([[0], np.cumsum(x)])) for x in (lengths, np.sort(lengths))
    )
    assert key.structure(Binding({"L": one})) != key.structure(Binding({"L": other}))


@pytest.mark.parametrize(("called", "calls"), [(False, "plans"), (True, "plain calls")])
def test_a_key_says_what_its_winner_is_for(called: bool, calls: str) -> None:
    A = ev.csr(rmat(4))
    given = {"A": A, "x": np.ones(A.num_columns), "y": np.empty(A.num_tiles)}
    specs = tuple(spec_of(value, name) for name, value in given.items())
    found = key.key_of(spmv.program(specs), Binding(given), "cpu", called)
    types, its = key.calls_of(found.arguments)
    assert its == calls
    assert types.endswith(f"y: float64[{A.num_tiles}]")


def test_no_layout_no_tiles() -> None:
    assert key.structure(Binding({"x": np.ones(3)})) == "no tiles"


def test_the_last_digits_of_sums_do_not_matter() -> None:
    st = statistics(ev.csr(rmat(10)))
    assert st.moment
    near = replace(st, moment=st.moment * (1 + 1e-15), deviation=st.deviation * (1 - 1e-15))
    assert key.structure_of(near) == key.structure_of(st)
    assert key.structure_of(replace(st, moment=st.moment * (1 + 1e-9))) != key.structure_of(st)


# ---- kernels ------------------------------------------------------------------------------------------
def test_kernels_are_told_apart_by_what_they_do() -> None:
    given = arguments(rmat(8))
    found = {key.kernel_of(program(k, given)) for k in (spmv, softmax_rows)}
    wide = key.kernel_of(program(spmv, arguments(rmat(8), np.float64)))
    assert len(found | {wide}) == 3
    assert {name.split()[0] for name in found} == {"spmv", "softmax_rows"}


def test_the_place_of_the_source_does_not_matter_and_its_text_does() -> None:
    text = "def k(A, x, y):\n    for t in A.tiles():\n        y[t] = sum(A.value(a) * {} for a in A.atoms(t))\n"
    given = arguments(rmat(8))

    def made(source):
        names: dict = {}
        exec(source, names)
        return key.kernel_of(program(ev.kernel(source=source)(names["k"]), given))

    plain = made(text.format("x[A.column(a)]"))
    assert made("\n\n# elsewhere\n" + text.format("x[A.column(a)]")) == plain
    assert made(text.format("2")) != plain


FACTOR = 2.0


def test_constants_from_outside_matter(monkeypatch) -> None:
    @ev.kernel
    def scaled(A, x, y):
        for row in A.tiles():
            y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row)) * FACTOR

    given = arguments(rmat(8))
    before = key.kernel_of(program(scaled, given))
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert key.kernel_of(program(scaled, given)) != before


HERE = """
import numpy as np, evenly as ev
from evenly.arguments import Binding, spec_of
from evenly.tuning import key
from evenly.interop.generators import rmat
from tests.kernels import row_norms
given = {"A": ev.csr(rmat(8)), "y": np.zeros(256, np.float32)}
specs = tuple(spec_of(value, name) for name, value in given.items())
print(key.kernel_of(row_norms.program(specs)), key.structure(Binding(given)), key.arguments_of(given))
"""


def test_another_process_has_the_same_key() -> None:
    given = {"A": ev.csr(rmat(8)), "y": np.zeros(256, np.float32)}
    mine = f"{key.kernel_of(program(row_norms, given))} {key.structure(Binding(given))} {key.arguments_of(given)}"
    run = [sys.executable, "-c", HERE]
    assert subprocess.run(run, capture_output=True, text=True, check=True).stdout.strip() == mine


@pytest.mark.parametrize("name", CASES)
def test_every_kernel_has_one(name) -> None:
    matrix = stencil(8).astype(np.float32)
    case = CASES[name]
    given = case.arguments(ev.csr(matrix), matrix, np.float32)
    named = dict(zip(case.kernel.parameters, given, strict=True))
    found = key.kernel_of(program(case.kernel, named))
    assert found.startswith(f"{case.kernel.name} ")
    assert "0x" not in key.arguments_of(named)  # no address in it


# ---- arguments and devices --------------------------------------------------------------------------------
def test_arguments_are_readable_types_and_shapes() -> None:
    given = {**arguments(stencil(2)), "n": 3, "scale": np.float32(2), "extra": None}
    assert key.arguments_of(given) == (
        "A: Csr(offsets=int32[5], indices=int32[12], values=float32[12], num_columns=4), "
        "x: float32[4], y: float32[4], n: int, scale: float32, extra: None"
    )


def test_layouts_within_layouts() -> None:
    A = ev.csr(stencil(2))
    text = key.arguments_of({"F": ev.subset(A, np.array([1, 3], np.int32))})
    assert text.startswith("F: Subset(base=Csr(offsets=int32[5], ")


def test_devices(monkeypatch) -> None:
    import numba

    class Device:
        name, compute_capability = "NVIDIA H200", (9, 0)

        def __init__(self, number) -> None:
            self.device_id = number

        def set_current(self) -> None:
            current.append(self.device_id)

    current: list = []
    kept: list = []
    monkeypatch.setattr(place, "require", lambda: SimpleNamespace(Device=Device))
    monkeypatch.setattr(context, "_keep", kept.append)
    there = Binding({"n": 3, "x": OnCuda(np.ones(4))})
    assert CudaTarget().device(there) == "NVIDIA H200 (sm_90)"
    assert current == kept == [0]  # where the array is, not what is current
    threads = numba.get_num_threads()
    assert f", {threads} thread" in CpuTarget().device(Binding({}))
