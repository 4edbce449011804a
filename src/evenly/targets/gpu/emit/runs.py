"""Emit how a thread of a split phase loads runs of contiguous atoms (device/stream.cuh)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from evenly.language import ir, walk
from evenly.language.accesses import contiguous_reads, only_accumulates, read_at_atom
from evenly.language.locals import places_written_out
from evenly.language.phases import Split

from .expressions import Text, ctype
from .statements import Writer
from .unit import Unit


@dataclass(frozen=True, slots=True)
class Runs:
    """What a thread loads at once for `length` contiguous atoms.

    contiguous: elements that lie in runs, those first that are indices of others. gathered: elements whose index
    depends on these.
    """

    contiguous: tuple[ir.Element, ...]
    gathered: tuple[ir.Element, ...]
    length: int

    @property
    def names(self) -> dict[ir.Element, str]:
        """The members that hold the elements."""
        return {e: f"e{i}" for i, e in enumerate((*self.contiguous, *self.gathered))}


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
    known = {plain.pass_.atom, *contiguous}
    asked = read_at_atom(plain.pass_, unit.written)
    gathered = tuple(e for e in asked if e not in known and _indexed_by(e, known))
    inside = {x for e in gathered for i in e.indices for x in walk.subexpressions(i)}
    return plain, Runs(tuple(sorted(contiguous, key=lambda e: e not in inside)), gathered, length)


def _indexed_by(e: ir.Element, known: Iterable[ir.Expr]) -> bool:
    """Whether the index of an element is one that is known."""
    return all(i in known or (isinstance(i, ir.Cast) and i.operand in known) for i in e.indices)


def functions_of(
    runs: Runs, text: Text, stepping: Callable[[], Writer], body: ir.Block, atom: str
) -> list[str]:
    """Return the members of a phase that load a run, gather for it, and let an atom of it contribute.

    stepping: makes a writer for functions that step over an atom, which is named `atom`.
    """
    length, names = runs.length, runs.names
    loads = (
        f"    if constexpr (array == {i}) ev::load_run<{length}>({text.array(e.array)}.data + {atom}, run.{names[e]});"
        for i, e in enumerate(runs.contiguous)
    )
    gather, step = stepping(), stepping()
    gather.text.loaded = {e: f"run.{names[e]}[item]" for e in runs.contiguous}
    for e in runs.gathered:
        gather.line(f"run.{names[e]}[item] = {gather.text.expr(e)};")
    step.text.loaded = {e: f"run.{name}[item]" for e, name in names.items()}
    step.block(body)
    aligned = " && ".join(
        f"ev::aligned_runs<{length}>({text.array(e.array)}.data)" for e in runs.contiguous
    )
    return [
        f"  static constexpr int run = {length}, run_arrays = {len(runs.contiguous)};",
        "  struct Run {",
        *(f"    {ctype(e.type)} {name}[run];" for e, name in names.items()),
        *_pins("pin", [names[e] for e in runs.contiguous]),
        *_pins("pin_gathered", [names[e] for e in runs.gathered]),
        "  };",
        f"  EV_DEVICE bool runs_are_aligned() const {{ return {aligned}; }}",
        f"  template <int array> EV_DEVICE void load_run(Run& run, pos {atom}) const {{",
        *loads,
        "  }",
        f"  EV_DEVICE void gather(Run& run, pos {atom}, int item) const {{",
        *gather.lines,
        "  }",
        f"  EV_DEVICE void step_run(Value& acc, pos {atom}, const Run& run, int item) const {{",
        *step.lines,
        "  }",
    ]


def _pins(function: str, names: list[str]) -> list[str]:
    pins = " ".join(f"ev::pin({name}[item]);" for name in names)
    return [
        f"    EV_DEVICE void {function}() {{",
        "      #pragma unroll",
        f"      for (int item = 0; item < run; ++item) {{ {pins} }}",
        "    }",
    ]
