"""Emit a pass that follows at once where a tile lies within a block (device/following.cuh)."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from evenly.language import ir
from evenly.language.accesses import at_atoms, contiguous_reads
from evenly.language.following import Following
from evenly.language.types import POS, struct_bytes

from .expressions import ctype
from .runs import Runs
from .statements import Writer, members
from .unit import Unit

if TYPE_CHECKING:
    from .phase_struct import PhaseStruct


def runs_of_following(f: Following, unit: Unit) -> Runs:
    """Return what the threads of the later kernel load in runs."""
    contiguous = contiguous_reads(f.then.pass_, unit.written)
    return Runs(tuple(contiguous), (), (), unit.schedule.run)


def functions_of_following(f: Following, struct: PhaseStruct, runs: Runs) -> list[str]:
    """Return the members by which a tile's atoms store, of the struct of the first phase or of the one that follows.

    runs: what a thread of that phase has of its atoms.
    """
    to, atom, state = f.store, struct.atom, members(f.then.state)
    array, kind = struct.text.array(to.array), ctype(to.array.dtype)
    held = {e.array: runs.held(e) for e in runs.contiguous}
    there = {e: held[e.array] for e in at_atoms(f.then.pass_) if e.array in held}
    one, put = _writer(f, struct), _writer(f, struct)
    put.text.loaded = there
    for writer, target in ((put, "to"), (one, f"{array}[{atom}]")):
        writer.block(f.then.pass_.body[:-1])
        writer.line(f"{target} = {writer.text.expr(to.value)};")
    later = struct.phase is f.then
    return [
        *(["  using After = State;"] if later else _after(f, struct, state)),
        f"  using Stored = {kind};",
        f"  EV_DEVICE bool stores_are_aligned() const {{ return ev::aligned_runs<{runs.length}>({array}.data); }}",
        f"  EV_DEVICE void put(Stored& to, pos {atom}, const Run& run, int item, const After& after) const {{",
        *put.lines,
        "  }",
        f"  EV_DEVICE void put_one(pos {atom}, const After& after) const {{",
        *one.lines,
        "  }",
        f"  EV_DEVICE void store_run(pos {atom}, const Stored* found) const {{",
        f"    ev::store_run<{runs.length}>({array}.data + {atom}, found);",
        "  }",
    ]


def _writer(f: Following, struct: PhaseStruct) -> Writer:
    return struct.writer(
        f.then.pass_.at,
        position={f.then.pass_.atom: struct.atom},
        state={v: f"after.{m}" for v, m in members(f.then.state).items()},
    )


def _after(f: Following, struct: PhaseStruct, state: dict[ir.Var, str]) -> list[str]:
    """Emit what a tile leaves to its atoms, which other tiles leave in the workspace."""
    writer = struct.writer(
        f.first.pass_.at,
        fields={v: f"value.{m}" for v, m in struct.fields.items()},
    )
    writer.block(f.after, after=tuple(state))
    values = ", ".join(writer.text.var(v) for v in state)
    size = read_at_once(state)
    aligned = f"alignas({size}) " if size else ""
    return [
        f"  struct {aligned}After {{"
        + "".join(f" {ctype(v.type)} {m};" for v, m in state.items())
        + " };",
        "  EV_DEVICE After after(const Value& value) const {",
        *writer.lines,
        f"    return {{{values}}};",
        "  }",
    ]


def read_at_once(state: Collection[ir.Var]) -> int:
    """Return the bytes of what a tile leaves, if these are words that are read at once; else 0."""
    if any(v.type is POS for v in state):
        return 0
    size = struct_bytes(v.type.dtype.itemsize for v in state)
    return size if size in (8, 16) else 0
