"""The first rule: a schedule from the statistics of the tiles. A pure function of them.

Its numbers are in one data file an architecture, beside the command that measured them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evenly import schedules as s

from .numbers import numbers
from .statistics import Statistics, statistics


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen and why; `rejected`: the other schedules, each with its reason."""

    schedule: Any
    why: str
    statistics: Statistics
    rejected: tuple[tuple[str, str], ...]


def choose(layout: Any, target: str, whole_tiles: bool) -> Any:
    """The schedule for a layout on a target. `whole_tiles`: the kernel needs schedules that own whole tiles."""
    return consider(layout, target, whole_tiles).schedule


def consider(layout: Any, target: str, whole_tiles: bool) -> Choice:
    st = statistics(layout) if layout is not None else Statistics(0, 0, 0.0, 0, 0.0, 0.0)
    regular = st.spread <= numbers()["regular_spread"] and st.greatest <= max(8 * st.mean, 64)
    if target != "cuda":
        return _on_cpu(st, regular, whole_tiles)
    if regular or whole_tiles or (st.atoms <= numbers()["small_atoms"] and st.greatest <= 1024):
        return _grouped(st, regular, whole_tiles)
    if st.empty > numbers()["mostly_empty"]:
        return Choice(
            s.NonzeroSplit(),
            f"{st.empty:.0%} of the tiles are empty: only atoms are divided",
            st,
            _others(st, "nonzero_split"),
        )
    return Choice(
        s.MergePath(),
        f"tile lengths vary (spread {st.spread:.2f}, longest {st.greatest}): tiles + atoms are divided evenly",
        st,
        _others(st, "merge_path"),
    )


def _on_cpu(st: Statistics, regular: bool, whole_tiles: bool) -> Choice:
    if regular or whole_tiles:
        return Choice(
            s.ThreadMapped(),
            "tiles of about equal length: equal numbers of tiles are equal work",
            st,
            _others(st, "thread_mapped"),
        )
    return Choice(
        s.MergePath(),
        f"tile lengths vary (spread {st.spread:.2f}): tiles + atoms are divided evenly",
        st,
        _others(st, "merge_path"),
    )


def _grouped(st: Statistics, regular: bool, whole_tiles: bool) -> Choice:
    """Lanes a tile: as many as keep each of them busy with several atoms."""
    lanes = next((n for most, n in numbers()["lanes"] if st.mean <= most), 32)
    why = (
        "tiles of about equal length"
        if regular
        else "the kernel needs whole tiles"
        if whole_tiles
        else "so little work that one launch is all that counts"
    )
    if lanes == 1:
        return Choice(
            s.ThreadMapped(),
            f"{why}, {st.mean:.1f} atoms each: a thread a tile",
            st,
            _others(st, "thread_mapped"),
        )
    return Choice(
        s.GroupMapped(lanes),
        f"{why}, {st.mean:.1f} atoms each: {lanes} lanes a tile",
        st,
        _others(st, "group_mapped"),
    )


def _others(st: Statistics, chosen: str) -> tuple[tuple[str, str], ...]:
    reasons = {
        "thread_mapped": f"a thread would walk up to {st.greatest} atoms alone, {st.mean:.1f} on average",
        "group_mapped": f"groups idle on short tiles (mean {st.mean:.1f}) or wait for the longest ({st.greatest})",
        "block_mapped": f"{st.tiles} tiles of {st.mean:.1f} atoms would leave blocks idle",
        "work_oriented": "balanced like merge_path, but its threads read uncoalesced",
        "merge_path": "balance costs a second launch, which these tiles do not need",
        "nonzero_split": f"divides atoms only; {st.empty:.0%} of the tiles are empty",
    }
    return tuple((name, reason) for name, reason in reasons.items() if name != chosen)
