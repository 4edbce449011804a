"""The options of a run on `simt`, which `.on("simt", ...)` takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from evenly.errors import InputError, unknown

ORDERS = ("random", "round_robin", "pct")
STARTS = ("index", "any")
PROGRESS = ("independent", "lockstep")
MEMORY = ("sequential", "relaxed")
STEPS = 2**25


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a run.

    seed: selects an interleaving. seeds: several seeds, whose results must have the same bits.
    order: "random", "round_robin" or "pct". In "random" order, seed 0 takes threads in order, other even seeds let a
      warp run far ahead, and odd seeds switch all the time. "pct" runs the thread with the highest of random
      priorities, and changes some of them (host/order.hpp).
    memory: "sequential", or "relaxed": loads may see older values, as the memory model of PTX allows. For few threads.
    starts: "index" or "any": whether blocks start by their index, as GPUs do, or in an order that the seed chooses,
      since CUDA promises none.
    depth: of "pct": how many events have to come in one order for the mistake to show.
    races: whether to look for data races.
    resident: how many blocks are in flight at once. 0: from 4 to 16, depending on their size.
    strict: whether legal habits that often hide mistakes are reported, too: a mask that names lanes that have left, and
      shuffles, votes or sync_warp with one mask from two places in the code. For an ev.SimtProgram, it is False unless
      given: its author may know better.
    progress: "independent": each thread makes progress, as from Volta on; "lockstep": of the lanes of a warp, only
      those that are furthest behind in the code, as before Volta.
    steps: a run ends if no thread leaves the kernel or meets others at a barrier in this many turns. 0: never.
    """

    seed: int = 0
    seeds: tuple[int, ...] = ()
    order: str = "random"
    races: bool = True
    resident: int = 0
    strict: bool = True
    steps: int = STEPS
    depth: int = 3
    starts: str = "index"
    memory: str = "sequential"
    progress: str = "independent"

    @property
    def purpose(self) -> str:
        """What the library of a run is for (compiler.library)."""
        return "lockstep" if self.progress == "lockstep" else "checked"

    @property
    def how(self) -> str:
        """A description of the run, by which a user can repeat it."""
        if self.progress == "lockstep":
            return f"in lock step, seed {self.seed}"
        if self.order == "pct":
            return f"order pct, depth {self.depth}, seed {self.seed}"
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
    starts = given.get("starts", "index")
    if starts not in STARTS:
        raise unknown("starts", starts, list(STARTS))
    memory = given.get("memory", "sequential")
    if memory not in MEMORY:
        raise unknown("memory", memory, list(MEMORY))
    progress = given.get("progress", "independent")
    if progress not in PROGRESS:
        raise unknown("progress", progress, list(PROGRESS))
    if progress == "lockstep" and (order, memory) != ("random", "sequential"):
        expected = "order='random' and memory='sequential' in lock step"
        raise InputError("progress", expected=expected, given=f"{order!r} and {memory!r}")
    return Options(
        count("seed", given.get("seed", 0)),
        seeds,
        order,
        _flag("races", given.get("races", True)),
        count("resident", given.get("resident", 0), 2**31),
        _flag("strict", given.get("strict", True)),
        count("steps", given.get("steps", STEPS)),
        count("depth", given.get("depth", 3), 100),
        starts,
        memory,
        progress,
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
