"""Kernels with scratch arrays, and those that compute their lengths, compiled by NVRTC."""

from __future__ import annotations

import numpy as np
import pytest
from tests.batteries import matrices
from tests.emitting import emitted, typed
from tests.scratch import CASES, OWNED

import evenly as ev
from evenly.arguments import Binding, is_wide
from evenly.targets.cuda import compile as compiling
from evenly.targets.gpu.emit.unit import Unit
from evenly.targets.gpu.kernels import emit

pytest.importorskip("cuda.core")

COMPILED = [
    ("distinct", "thread", "sm_80"), ("distinct", "group 3", "sm_90"), ("histogram", "group 48", "sm_100"),
    ("histogram", "dynamic", "sm_80"), ("symbolic", "block", "sm_90"), ("symbolic", "lrb", "sm_100"),
]  # fmt: skip
REGISTERS = 96


@pytest.mark.parametrize(("case", "schedule", "arch"), COMPILED)
def test_nvrtc_compiles_them(case: str, schedule: str, arch: str) -> None:
    A = ev.csr(matrices(np.float32)["power law"])
    args = A, 7, np.zeros(A.num_tiles, np.int64)
    for code in emitted(CASES[case].kernel, args, OWNED[schedule]):
        found = compiling.resources(code.source, code.name, arch)
        assert found["code"] > 0
        assert found["registers"] <= REGISTERS, code.name


@pytest.mark.parametrize("schedule", ["thread", "group 8"])
def test_nvrtc_compiles_what_computes_lengths(schedule: str) -> None:
    A = ev.csr(matrices(np.float32)["power law"])
    kernel, args = CASES["symbolic"].kernel, (A, 7, np.zeros(A.num_tiles, np.int64))
    phases, layouts = typed(kernel, args, OWNED[schedule])
    assert phases.lengths is not None
    inner, wide = phases.lengths.phases, is_wide(Binding(kernel.named(args)))
    codes = emit(inner, Unit(inner.name, OWNED[schedule], layouts, inner.stored, wide))
    kernels = [k for code in codes for k in code.all_kernels]
    for code in kernels:
        assert compiling.resources(code.source, code.name, "sm_90")["registers"] <= REGISTERS
    assert not any("atomic" in code.source or "a_out" in code.source for code in kernels)


def test_groups_share_lanes() -> None:
    A = ev.csr(matrices(np.float32)["power law"])
    args = A, 7, np.zeros(A.num_tiles, np.int64)
    for case, shared in (("distinct", 1), ("histogram", 0), ("symbolic", 1)):
        (code,) = emitted(CASES[case].kernel, args, OWNED["group 8"])
        assert code.source.count("+= team.size()") == shared
