"""What the paper concludes, and whether it is so here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evenly.bench.record import Row
from evenly.bench.summary import Ratio, contender, geomean

from ..experiment import Conclusion, Site
from .counting import Lines
from .figures import ENOUGH, against_hand, fastest, reached, said, speedups
from .rule import BEST, CHOOSERS, RULE
from .sweep import NAMES

NOTHING = "not measured"
Found = tuple[str, bool] | None


def conclusions(site: Site, rows: list[Any]) -> list[Conclusion]:
    """Hold the rows of a run against the paper. Only a full run on a GPU can tell whether times are as it says."""
    times = list({(r.matrix, r.contender): r for r in rows if isinstance(r, Row)}.values())
    lines = [row for row in rows if isinstance(row, Lines)]
    tells = site.on_gpu and not site.quick
    made = [_said(published, ask(times), tells) for published, ask in CLAIMS.items()]
    return [
        *made,
        _said("kernels are shorter than the same by hand (Table 1)", shorter(lines), True),
    ]


def _said(published: str, found: Found, tells: bool) -> Conclusion:
    here, holds = (NOTHING, None) if found is None else found
    return Conclusion(published, here, holds if tells else None)


def costs_little(rows: list[Row]) -> Found:
    """Whether each generated kernel has 90% of the speed by hand, in the geometric mean."""
    speeds = {
        name.partition("(")[0]: [r.value for r in found]
        for name, found in against_hand(rows).items()
    }
    if not speeds:
        return None
    means = {name: geomean(values) for name, values in speeds.items()}
    here = ", ".join(
        f"{name} {means[name]:.2f} (90% on {reached(speeds[name]):.0%} of matrices)"
        for name in speeds
    )
    return here, min(means.values()) >= ENOUGH


def none_is_best(rows: list[Row]) -> Found:
    """Whether more than one of the paper's three is the fastest of them somewhere."""
    first = fastest(rows, NAMES.values())
    if not first:
        return None
    counts = {name: first.count(contender) for name, contender in NAMES.items()}
    here = ", ".join(f"{name} on {count}" for name, count in counts.items())
    return f"of the three, {here}", sum(count > 0 for count in counts.values()) > 1


def rule_beats_the_library(rows: list[Row]) -> Found:
    found = speedups(rows, contender(RULE))
    if not found:
        return None
    mean, peak = geomean(r.value for r in found), max(found, key=lambda r: r.value)
    return f"{mean:.2f} times in the geometric mean, the peak {said(peak)}", mean > 1


def rule_is_near_the_best(rows: list[Row]) -> Found:
    """Whether the rule has 90% of the speed of the best of the three, in the geometric mean."""
    every = {name: _by_matrix(speedups(rows, contender(name))) for name in CHOOSERS}
    if not every[BEST]:
        return None
    means = {
        name: geomean(
            value / every[BEST][matrix] for matrix, value in values.items() if matrix in every[BEST]
        )
        for name, values in every.items()
        if name != BEST
    }
    return ", ".join(f"{name} {mean:.2f}" for name, mean in means.items()), means[RULE] >= ENOUGH


def _by_matrix(found: list[Ratio]) -> dict[str, float]:
    return {ratio.ours.matrix: ratio.value for ratio in found}


def shorter(rows: list[Lines]) -> Found:
    hand = [row for row in rows if row.by_hand]
    if not hand:
        return None
    here = ", ".join(f"{row.schedule} {row.kernel} and {row.by_hand}" for row in hand)
    return f"lines: {here}", all(row.kernel < row.by_hand for row in hand)


CLAIMS: dict[str, Callable[[list[Row]], Found]] = {
    "generated kernels cost little over the same by hand (Figure 2)": costs_little,
    "no schedule is the fastest everywhere (Figure 3)": none_is_best,
    "a simple rule over schedules beats cuSPARSE (Figure 4)": rule_beats_the_library,
    "the rule is near the best of its schedules (Figure 4)": rule_is_near_the_best,
}
