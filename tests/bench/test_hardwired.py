"""The CUDA C++ of the benchmark compiles, for both types and without spilling registers."""

from __future__ import annotations

import io
import re
from importlib import resources

import pytest

from evenly.bench import hardwired
from evenly.schedules import MergePath, ThreadMapped, WarpMapped

core = pytest.importorskip("cuda.core")
INSTRUMENTS = resources.files("evenly.bench").joinpath("instruments.cu").read_text()


def compiled(source: str, real: str) -> str:
    """Return the output of ptxas."""
    log = io.StringIO()
    options = core.ProgramOptions(
        arch="sm_90", std="c++17", define_macro=[("real", real)], ptxas_options=["-v"]
    )
    code = core.Program(source, "c++", options).compile("cubin", logs=log).code
    assert len(code) > 1000
    return log.getvalue()


@pytest.mark.parametrize("real", hardwired.C_TYPES.values())
@pytest.mark.parametrize(
    ("source", "kernels"), [(hardwired.source(), 5), (INSTRUMENTS, 4)], ids=["hand", "instruments"]
)
def test_compiles_without_spills(source, kernels, real):
    said = compiled(source, real)
    assert len(re.findall("Compiling entry function", said)) == kernels
    assert set(re.findall(r"(\d+) bytes spill stores", said)) == {"0"}


def test_the_parameters_are_those_of_the_schedules():
    source = hardwired.source()
    threads, items = (int(re.search(rf"{n} = (\d+)", source)[1]) for n in ("THREADS", "ITEMS"))
    assert MergePath(threads, items) == MergePath() == MergePath(hardwired.BLOCK, hardwired.ITEMS)
    assert (ThreadMapped().block, WarpMapped().block) == (hardwired.BLOCK, hardwired.BLOCK)
    at_once = [int(n) for n in re.findall(r"strided_sum<(\d+), \d+>", source)]
    assert at_once == [ThreadMapped().items, WarpMapped().items]
