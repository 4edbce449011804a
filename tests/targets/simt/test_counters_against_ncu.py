"""The counters of target `simt` against Nsight Compute's on an H200 (benchmarks/results/counters-h200.csv)."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.simt
FOLDER = Path(__file__).resolve().parents[3] / "benchmarks"
MEASURED = FOLDER / "results" / "counters-h200.csv"


def _loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "counters_against_ncu", FOLDER / "counters_against_ncu.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # kernels look for their source there
    spec.loader.exec_module(module)
    return module


against = _loaded()
ROWS = against.read(str(MEASURED))
# Elsewhere rows of different lengths let the lanes of a warp part, and NVRTC unrolls loops by four.
CONVERGED = ("merge_path", "warp_mapped", "nonzero_split")


def most(quantity: str, schedule: str, matrix: str) -> float | None:
    """The tolerance for a counter; None if the model promises nothing."""
    if quantity in ("load sectors", "store sectors"):
        return 0.02 if matrix == "stencil" or schedule in CONVERGED else 0.1
    if quantity.startswith(("atomic", "shared")) or quantity == "bank conflicts":
        return 0.1
    return None


@pytest.mark.parametrize("combination", ROWS, ids="-".join)
def test_counts_are_near_those_of_a_gpu(combination: tuple[str, str, str]) -> None:
    held = []
    for a in against.compared(combination, ROWS[combination]):
        bound = most(a.quantity, *combination[1:])
        # The second launch adds what blocks share: a handful of instructions, too few for a percentage.
        if bound is None or a.launch.endswith("_finish"):
            continue
        assert abs(a.deviation) <= bound, f"{a.quantity}: {a.ours:,}, ncu {a.theirs:,}"
        held.append(a.quantity)
    assert "load sectors" in held
    assert ("bank conflicts" in held) == (
        combination[0] != "column_counts" and combination[1] in ("merge_path", "nonzero_split")
    )


def test_every_combination_was_measured() -> None:
    assert set(ROWS) == set(against.combinations())


def test_what_a_gpu_did_not_count_is_left_out() -> None:
    combination = ("column_counts", "thread_mapped", "stencil")
    names = {a.quantity for a in against.compared(combination, ROWS[combination])}
    assert {"load sectors", "atomic requests"} <= names
    assert not any(name.startswith(("shared", "store")) for name in names)


def test_the_table_says_both(tmp_path: Path) -> None:
    head, row = MEASURED.read_text().splitlines()[:2]
    path = tmp_path / "counters.csv"
    path.write_text(f"{head}\n{row.replace(',119200,', ',100000,')}\n")
    title, rule, line = against.table(str(path))
    cells = dict(zip(title.split(" | "), line.split(" | "), strict=True))
    assert title.count("|") == rule.count("|") == line.count("|")
    assert cells["| launch"] == "| spmv_0, thread_mapped, stencil"
    assert cells["load sectors"] == "119,200 +19.2%"
    assert cells["store sectors"] == "2,048 ="
