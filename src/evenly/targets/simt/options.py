"""The options of a run on `simt`, which `.on("simt", ...)` takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from evenly.errors import InputError, unknown

ORDERS = ("random", "round_robin")
STEPS = 2**25


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a run.

    seed: selects an interleaving. seeds: several seeds, whose results must have the same bits.
    order: "random" or "round_robin". In "random" order, seed 0 takes threads in order, other even seeds let a warp
      run far ahead, and odd seeds switch all the time.
    races: whether to look for data races.
    resident: how many blocks are in flight at once. 0: from 4 to 16, depending on their size.
    steps: a run ends if no thread leaves the kernel or meets others at a barrier in this many turns. 0: never.
    """

    seed: int = 0
    seeds: tuple[int, ...] = ()
    order: str = "random"
    races: bool = True
    resident: int = 0
    steps: int = STEPS

    @property
    def how(self) -> str:
        """A description of the run, by which a user can repeat it."""
        return f"seed {self.seed}" if self.order == "random" else f"order {self.order}"


def options_of(given: dict[str, Any]) -> Options:
    """Make Options from keyword arguments. Raises InputError, which says what an option takes."""
    names = [f.name for f in fields(Options)]
    for name in given:
        if name not in names:
            raise unknown("option of target 'simt'", name, names)
    seeds = _seeds(given["seeds"]) if "seeds" in given else ()
    order = given.get("order", "random")
    if order not in ORDERS:
        raise unknown("order", order, list(ORDERS))
    return Options(
        count("seed", given.get("seed", 0)),
        seeds,
        order,
        _flag("races", given.get("races", True)),
        count("resident", given.get("resident", 0), 2**31),
        count("steps", given.get("steps", STEPS)),
    )


def _seeds(given: Any) -> tuple[int, ...]:
    if not isinstance(given, Iterable):
        raise InputError("seeds", expected="several integers, range(20) say", given=repr(given))
    seeds = tuple(count("seeds", s) for s in given)
    if not seeds:
        raise InputError("seeds", expected="at least one integer", given="none")
    return seeds


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise InputError(name, expected="True or False", given=repr(value))
    return bool(value)


def count(name: str, value: Any, beyond: int = 2**63) -> int:
    """Return an option's number, which must be at least 0 and less than `beyond`. Raises InputError."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise InputError(name, expected="an integer, 0 or more", given=repr(value))
    if value >= beyond:
        raise InputError(name, expected=f"an integer below {beyond}", given=repr(value))
    return int(value)
