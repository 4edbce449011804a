"""What the paper concludes, on a P100, and whether it is so here."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..experiment import Conclusion, Row, Site
from .figures import FEW_DENSE, MIX_OF_12, MIX_OF_32
from .kernels import KERNELS
from .problem import LOOP

LOOPED, TIMES, PADDED, MIXED = 5.0, 25.0, 80.0, 55.0  # GFLOP/s; how many times as fast; GFLOP/s
NOTHING = "not measured"

Asks = Callable[[list[Row]], tuple[str, bool] | None]


def conclusions(site: Site, rows: list[Row]) -> list[Conclusion]:
    """Hold the rows of a run against the paper. Only a full run on a GPU can tell whether a conclusion holds."""
    right = [row for row in rows if row.rounds and not row.wrong]
    tells = site.on_gpu and not site.quick
    made = []
    for published, ask in CLAIMS.items():
        found = ask(right)
        here, holds = (NOTHING, None) if found is None else found
        made.append(Conclusion(published, here, holds if tells else None))
    return made


def loops_are_slow(rows: list[Row]) -> tuple[str, bool] | None:
    best = _best(row for row in rows if row.curve == LOOP)
    return (f"at most {_said(best)}", best.gflop_per_s <= LOOPED) if best else None


def batches_are_faster(rows: list[Row]) -> tuple[str, bool] | None:
    """The greatest ratio of one of the six kernels to a loop, for the same batch."""
    loops = {(r.figure, r.case, r.x): r for r in rows if r.curve == LOOP}
    ratios = [
        (loops[row.figure, row.case, row.x].us / row.us, row)
        for row in rows
        if row.curve in _SIX and (row.figure, row.case, row.x) in loops
    ]
    if not ratios:
        return None
    times, row = max(ratios, key=lambda pair: pair[0])
    return f"up to {times:.1f} times ({row.curve}, {row.case}, {_many(row)})", times >= TIMES


def ell_is_the_fastest(rows: list[Row]) -> tuple[str, bool] | None:
    best = _best(row for row in rows if row.curve == "ELL")
    return (f"up to {_said(best)}", best.gflop_per_s >= PADDED) if best else None


def csr_i_is_ahead(rows: list[Row]) -> tuple[str, bool] | None:
    """How often CSR-I is the fastest of the six, over the mean row lengths of Figure 4."""
    there = [row for row in rows if row.case == FEW_DENSE and row.curve in _SIX]
    if not any(row.curve == "CSR-I" for row in there):
        return None
    lengths = sorted({row.x for row in there})
    first = [_best(row for row in there if row.x == x) for x in lengths]
    ahead = sum(row is not None and row.curve == "CSR-I" for row in first)
    others = ", ".join(sorted({row.curve for row in first if row} - {"CSR-I"}))
    said = f"the fastest of the six at {ahead} of {len(lengths)} mean row lengths"
    return said + (f"; at the others {others}" if others else ""), 2 * ahead > len(lengths)


def coo_is_good_on_mixes(rows: list[Row]) -> tuple[str, bool] | None:
    best = _best(row for row in rows if row.curve == "COO" and row.case in (MIX_OF_12, MIX_OF_32))
    return (f"up to {_said(best)}", best.gflop_per_s > MIXED) if best else None


CLAIMS: dict[str, Asks] = {
    f"loops of library calls reach at most {LOOPED:g} GFLOP/s": loops_are_slow,
    f"batched kernels are up to {TIMES:g} times as fast as loops": batches_are_faster,
    f"ELL reaches {PADDED:g} GFLOP/s": ell_is_the_fastest,
    "CSR-I is ahead where a few rows are dense": csr_i_is_ahead,
    f"COO is above {MIXED:g} GFLOP/s on mixes": coo_is_good_on_mixes,
}
_SIX = {kernel.name for kernel in KERNELS}


def _best(rows: Iterable[Row]) -> Row | None:
    return max(rows, key=lambda row: row.gflop_per_s, default=None)


def _said(row: Row) -> str:
    return f"{row.gflop_per_s:.1f} GFLOP/s ({row.case}, {_many(row)})"


def _many(row: Row) -> str:
    return f"{row.items:,} {'matrix' if row.items == 1 else 'matrices'}"
