"""Emit how a thread of a split phase loads runs of contiguous atoms (device/stream.cuh)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from evenly.language import ir, walk
from evenly.language.accesses import contiguous_reads, only_accumulates, read_at_atom, sharing
from evenly.language.combine import contributed_once
from evenly.language.locals import places_written_out
from evenly.language.phases import Split

from .expressions import Text, ctype
from .statements import Writer
from .unit import Unit


@dataclass(frozen=True, slots=True)
class Runs:
    """What a thread loads at once for `length` contiguous atoms.

    contiguous: elements that lie in runs, those first that are indices of others. gathered: elements whose index
    depends on these. shared: elements that all atoms of a run share, on which these indices depend, too.
    """

    contiguous: tuple[ir.Element, ...]
    gathered: tuple[ir.Element, ...]
    shared: tuple[ir.Element, ...]
    length: int

    @property
    def names(self) -> dict[ir.Element, str]:
        """The members that hold the elements."""
        every = (*self.contiguous, *self.gathered, *self.shared)
        return {e: f"e{i}" for i, e in enumerate(every)}

    def held(self, e: ir.Element) -> str:
        """Return where the element of an atom of a run is held."""
        name = f"run.{self.names[e]}"
        return name if e in self.shared else f"{name}[item]"


def runs_of(phase: Split, unit: Unit) -> tuple[Split, Runs | None]:
    """Return the phase, and what its threads load in runs; None if its atoms do not lie in runs, or need their tile.

    If there is something, the indices in the phase returned are written in terms of the atom, without local variables.
    """
    length = getattr(unit.schedule, "run", 1)
    if length == 1 or phase.needs_tile or phase.scans or not only_accumulates(phase.pass_):
        return phase, None
    later = walk.variables_read(phase.leave)
    plain = replace(phase, pass_=places_written_out(phase.pass_, unit.written, later))
    contiguous = contiguous_reads(plain.pass_, unit.written)
    if not contiguous:
        return phase, None
    asked = read_at_atom(plain.pass_, unit.written)
    gathered = tuple(e for e in asked if e not in contiguous and _waits_for(e, contiguous))
    inside = dict.fromkeys(x for e in gathered for i in e.indices for x in walk.subexpressions(i))
    shared = tuple(
        x for x in inside if isinstance(x, ir.Element) and _is_shared(x, plain.pass_, length, unit)
    )
    in_order = tuple(sorted(contiguous, key=lambda e: e not in inside))
    return plain, Runs(in_order, gathered, shared, length)


def _is_shared(e: ir.Element, s: ir.Pass, length: int, unit: Unit) -> bool:
    """Whether all atoms of each run read the same. A run begins at a multiple of its length."""
    return sharing(e, s) >= length and e.array.path not in unit.written


def _waits_for(e: ir.Element, known: Collection[ir.Element]) -> bool:
    """Whether the index of an element is computed from one that is known."""
    return any(x in known for i in e.indices for x in walk.subexpressions(i))


def functions_of(
    runs: Runs, text: Text, stepping: Callable[[], Writer], s: ir.Pass, atom: str
) -> list[str]:
    """Return the members of a phase that load a run, gather for it, and let an atom of it contribute to an identity.

    stepping: makes a writer for functions that step over an atom, which is named `atom`.
    """
    loads, step = loads_of(runs, text, stepping, atom), stepping()
    step.text.loaded = {e: runs.held(e) for e in runs.names}
    step.fresh = contributed_once(s)
    step.block(s.body)
    return [
        *loads,
        f"  EV_DEVICE void step_run(Value& acc, pos {atom}, const Run& run, int item) const {{",
        *step.lines,
        "  }",
    ]


def loads_of(runs: Runs, text: Text, stepping: Callable[[], Writer], atom: str) -> list[str]:
    """Return the members of a phase that load a run and gather for it; arguments as of `functions_of`."""
    length, names = runs.length, runs.names
    gather, shared = stepping(), stepping()
    load = {
        e: f"ev::load_run<{length}>({text.array(e.array)}.data + {atom}, run.{names[e]});"
        for e in runs.contiguous
    }
    load |= {e: f"run.{names[e]} = {shared.text.expr(e)};" for e in runs.shared}
    loads = [f"    if constexpr (array == {i}) {one}" for i, one in enumerate(load.values())]
    gather.text.loaded = {e: runs.held(e) for e in load}
    for e in runs.gathered:
        gather.line(f"{runs.held(e)} = {gather.text.expr(e)};")
    aligned = " && ".join(
        f"ev::aligned_runs<{length}>({text.array(e.array)}.data)" for e in runs.contiguous
    )
    return [
        f"  static constexpr int run = {length}, run_arrays = {len(load)};",
        "  struct Run {",
        *(
            f"    {ctype(e.type)} {name}{'' if e in runs.shared else '[run]'};"
            for e, name in names.items()
        ),
        *_pins("pin", [names[e] for e in runs.contiguous], [names[e] for e in runs.shared]),
        *_pins("pin_gathered", [names[e] for e in runs.gathered]),
        "  };",
        f"  EV_DEVICE bool runs_are_aligned() const {{ return {aligned or 'true'}; }}",
        f"  template <int array> EV_DEVICE void load_run(Run& run, pos {atom}) const {{",
        *loads,
        "  }",
        f"  EV_DEVICE void gather(Run& run, pos {atom}, int item) const {{",
        *gather.lines,
        "  }",
    ]


def _pins(function: str, names: list[str], shared: Sequence[str] = ()) -> list[str]:
    pins = " ".join(f"ev::pin({name}[item]);" for name in names)
    return [
        f"    EV_DEVICE void {function}() {{",
        *(f"      ev::pin({name});" for name in shared),
        "      #pragma unroll",
        f"      for (int item = 0; item < run; ++item) {{ {pins} }}",
        "    }",
    ]
