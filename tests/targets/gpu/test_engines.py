"""The CUDA engines: run on the CPU over nasty layouts, and compiled for three architectures.

The host's primitives (targets/simt/host) execute the very headers that NVRTC compiles. The C++
fixtures beside this file hold the phases, the layouts and the sequential reference.
"""

from __future__ import annotations

import ctypes
import io
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from evenly.targets.gpu import headers
from evenly.targets.simt import compiler

FIXTURES = Path(__file__).parent / "fixtures"
TARGETS = Path(__file__).resolve().parents[3] / "src" / "evenly" / "targets"
DEVICE, HOST = TARGETS / "gpu" / "device", TARGETS / "simt" / "host"
WARNINGS = ("-Wall", "-Wextra", "-Werror")
FASTER = "-DEV_DEVICE=inline"  # not always: no test here asks for lines

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")


def build(source: str, to: Path, *options: str) -> Path:
    """Compiles a fixture against the host's primitives; warnings are errors."""
    paths = [f"-I{folder}" for folder in (HOST, DEVICE, FIXTURES)]
    code = to.with_suffix(".o")
    flags = (*compiler.COMMON, *compiler.CHECKED, *compiler.GCC, *WARNINGS, FASTER)
    run_compiler([*flags, *paths, *options, "-c", str(FIXTURES / source), "-o", str(code)])
    shared = ["-shared"] if to.suffix == ".so" else []
    run_compiler([*shared, str(code), str(compiler.runtime()), "-o", str(to), *compiler.LIBRARIES])
    return to


def run_compiler(arguments: list[str]) -> None:
    done = subprocess.run(["g++", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:5000]


@needs_compiler
@pytest.mark.parametrize("family", ["merge", "nonzero", "share", "flatten", "group"])
def test_engines_agree_with_the_reference(family: str, tmp_path: Path) -> None:
    """Each atom once, each tile once, the reference's values, equal bits in any interleaving."""
    program = build("engines.cpp", tmp_path / family, f"-DFAMILY={family}")
    done = subprocess.run([program], capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout.count(": ok\n") >= 20, done.stdout + done.stderr
    assert done.returncode == 0, "\n".join(
        line for line in done.stdout.splitlines() if not line.endswith(": ok")
    )


@pytest.fixture(scope="module")
def failures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("failures.cpp", tmp_path_factory.mktemp("simt") / "failures")


@needs_compiler
@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("deadlock", r"deadlock: every thread waits\n +threads 0 to 31 of block 0 wait at barrier 1 of 64 .*\n +threads 32 to 63 of block 0 wait at barrier 2"),
        ("left before barrier", r"barrier: thread \d+ of block 0 waits at a barrier for thread 3, which has left"),
        ("left before shuffle", r"mask: thread \d+ of block 0 waits at a shuffle for thread 3, which has left"),
        ("two places", r"mask: the lanes of mask ffffffff meet at two places\n +thread \d+ of block 0 is at sync_warp .*\n +thread \d+ is at sync_warp"),
        ("not in the mask", r"mask: thread \d+ of block 0 calls a vote with mask 00000002, which does not name its own lane"),
        ("part of a warp", r"barrier: barrier 1: only \d+ of the 32 lanes of warp \d of block 0 are there"),
        ("counts differ", r"barrier: barrier 1 of block 0: thread \d+ waits for (32|64) threads, others for"),
        ("poison", r"poison from outside the mask"),
    ],
)  # fmt: skip
def test_broken_rules_are_named(failures: Path, rule: str, message: str) -> None:
    done = subprocess.run([failures, rule], capture_output=True, text=True, check=True, timeout=20)
    assert re.search(message, done.stdout), done.stdout


# ---- scalar helpers ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def scalars(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    to = tmp_path_factory.mktemp("scalars") / "scalars.so"
    return ctypes.CDLL(str(build("scalars.cpp", to)))


INTEGERS = [0, 1, -1, 2, -2, 3, -3, 7, -7, 12345, -12345]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.1, -0.1, 0.3, 2.5, -2.5, 7.0, -7.0, 1e-30, 3e30, float("inf"), float("-inf"), float("nan")]  # fmt: skip
C_TYPES = {"int32": ctypes.c_int32, "int64": ctypes.c_int64, "float32": ctypes.c_float, "float64": ctypes.c_double}  # fmt: skip


def call(scalars: ctypes.CDLL, name: str, dtype: str, *arguments: object) -> np.generic:
    function = getattr(scalars, f"{name}_{dtype}")
    function.restype = C_TYPES[dtype]
    return np.dtype(dtype).type(function(*(C_TYPES[dtype](a) for a in arguments)))


def values_of(dtype: str) -> list:
    if dtype.startswith("float"):
        return FLOATS
    limits = np.iinfo(dtype)
    return [*INTEGERS, int(limits.min), int(limits.max), int(limits.min) + 1]


@needs_compiler
@pytest.mark.parametrize("dtype", C_TYPES)
@pytest.mark.parametrize(
    ("ours", "numpys"),
    [("floor_div", np.floor_divide), ("floor_mod", np.remainder), ("minimum", np.minimum), ("maximum", np.maximum)],
)  # fmt: skip
def test_scalars_agree_with_numpy(
    scalars: ctypes.CDLL, dtype: str, ours: str, numpys: np.ufunc
) -> None:
    for a in values_of(dtype):
        for b in values_of(dtype):
            if b == 0 and dtype.startswith("int") and ours.startswith("floor"):
                continue  # undefined on the GPU; the checked targets refuse it
            with np.errstate(all="ignore"):
                want = numpys(np.dtype(dtype).type(a), np.dtype(dtype).type(b))
            got = call(scalars, ours, dtype, a, b)
            assert np.array_equal(got, want, equal_nan=dtype.startswith("float")), (ours, a, b)


@needs_compiler
def test_powers_and_extremes(scalars: ctypes.CDLL) -> None:
    assert call(scalars, "power_int", "int32", -3, 5) == -243
    assert call(scalars, "power_int", "int64", 2, 62) == 2**62
    assert call(scalars, "power_int", "int32", 2, 32) == 0  # wraps
    assert call(scalars, "power_int", "float64", 1.5, 0) == 1.0
    assert call(scalars, "power_int", "float32", -2.0, 9) == -512.0
    for dtype in ("int32", "int64"):
        assert call(scalars, "lowest", dtype) == np.iinfo(dtype).min
        assert call(scalars, "highest", dtype) == np.iinfo(dtype).max
    for dtype in ("float32", "float64"):
        assert call(scalars, "lowest", dtype) == -np.inf
        assert call(scalars, "highest", dtype) == np.inf


@needs_compiler
@pytest.mark.parametrize("dtype", C_TYPES)
def test_atomics_return_the_old_value(scalars: ctypes.CDLL, dtype: str) -> None:
    def run(name: str, start: float, *arguments: float) -> tuple:
        cell = C_TYPES[dtype](start)
        function = getattr(scalars, f"{name}_{dtype}")
        function.restype = C_TYPES[dtype]
        old = function(ctypes.byref(cell), *(C_TYPES[dtype](a) for a in arguments))
        return old, cell.value

    assert run("atomic_add", 3, 4) == (3, 7)
    assert run("atomic_min", 3, 4) == (3, 3)
    assert run("atomic_min", 3, -4) == (3, -4)
    assert run("atomic_max", 3, 4) == (3, 4)
    assert run("atomic_exchange", 3, 4) == (3, 4)
    assert run("atomic_cas", 3, 3, 9) == (3, 9)
    assert run("atomic_cas", 3, 2, 9) == (3, 3)
    if dtype.startswith("float"):
        nan = float("nan")
        for name in ("atomic_min", "atomic_max"):
            assert np.isnan(run(name, 1.0, nan)[1])
            assert np.isnan(run(name, nan, 1.0)[1])
        assert run("atomic_cas", -0.0, 0.0, 5.0) == (0.0, 5.0)  # by value, as Python compares


# ---- NVRTC ------------------------------------------------------------------------------------


SPILLS = {
    ("sm_80", "nonzero_arg_max"): 4,
    ("sm_90", "spmv_nonzero_meeting"): 8,
    ("sm_100", "nonzero_arg_max"): 4,
    ("sm_100", "spmv_merge_128x9"): 8,
}


def one_string(*files: Path) -> str:
    """The text that NVRTC gets: the files in order, without lines that only separate files need."""
    lines = (line for file in files for line in file.read_text().splitlines())
    return "\n".join(x for x in lines if not x.startswith(("#pragma once", "#include "))) + "\n"


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90", "sm_100"])
def test_every_engine_compiles_without_spilling(architecture: str) -> None:
    core = pytest.importorskip("cuda.core")
    files = [
        *(DEVICE / name for name in headers.ORDER),
        FIXTURES / "phases.hpp",
        FIXTURES / "kernels.cu",
    ]
    options = core.ProgramOptions(arch=architecture, std="c++17", ptxas_options=["-v"])
    log = io.StringIO()
    cubin = core.Program(one_string(*files), "c++", options).compile("cubin", logs=log)
    assert len(cubin.code) > 0

    used = {}  # kernel -> (registers, bytes of shared memory)
    for part in log.getvalue().split("Compiling entry function '")[1:]:
        name = part[: part.index("'")]
        spilled = re.search(r"(\d+) bytes spill stores", part)
        assert spilled is not None, part
        # ptxas would rather spill a register or two than lose a block.
        assert int(spilled[1]) <= SPILLS.get((architecture, name), 0), part
        shared = re.search(r"(\d+) bytes smem", part)
        registers = re.search(r"Used (\d+) registers", part)
        assert registers is not None, part
        used[name] = (int(registers[1]), int(shared[1]) if shared else 0)
    assert len(used) > 60

    # The hand-written merge-path (design, section 6) takes 32 registers and 12,364 bytes at 256x4 and 24,716 at 512x4.
    # Beyond 32 registers fewer blocks fit a multiprocessor, and gather-bound kernels lose at once.
    for name in ("spmv_merge_256x4", "spmv_merge_512x4", "spmv_merge_256x5", "spmv_nonzero_256x4", "spmv_merge_stored"):  # fmt: skip
        assert used[name][0] <= 32, (name, used[name])
    assert used["spmv_merge_256x4"][1] <= 12364 // 2
    assert used["spmv_merge_512x4"][1] <= 24716 // 2
