"""The key of a measured winner: readable text, with digests of the rest.

All of it is known when a plan is made; nothing is read back from a device for it. Two structures
that differ only in properties outside the key have the same key. The winner may then be slow for one
of them. It is never wrong, because every schedule is right for every structure.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from evenly import targets
from evenly.arguments import Binding, spec_of
from evenly.choosing.statistics import Statistics, statistics
from evenly.interop.arrays import is_array, view
from evenly.language import ir
from evenly.language.specs import ScalarSpec
from evenly.layouts.contract import is_layout
from evenly.version import __version__

LETTERS = 12  # the length of a digest
CALLED = ", in plain calls"  # ends the arguments of a winner for these


@dataclass(frozen=True, slots=True)
class Key:
    """What a winner was measured for.

    structure: of the layout that `auto` looks at. kernel: its name, and a digest of its typed program.
    arguments: their types and shapes. target; device: what it ran on. evenly: the version that measured.
    """

    structure: str
    kernel: str
    arguments: str
    target: str
    device: str
    evenly: str = __version__


def calls_of(arguments: str) -> tuple[str, str]:
    """Return the types and shapes in a winner's arguments, and what it is for: "plans" or "plain calls".

    Plain calls keep nothing of a structure, and follow it under "tuned" alone.
    """
    types = arguments.removesuffix(CALLED)
    return types, "plans" if types == arguments else "plain calls"


def key_of(program: ir.Program, binding: Binding, target: str, called: bool = False) -> Key:
    """Return the key of a kernel with these arguments on a target. called: in plain calls, not in a plan."""
    arguments, device = arguments_of(binding.arguments), targets.find(target).device(binding)
    return Key(structure(binding), kernel_of(program), arguments + CALLED * called, target, device)


def structure(binding: Binding) -> str:
    """Describe the structure of the layout that a schedule is chosen for."""
    layout = binding.first_layout()
    return "no tiles" if layout is None else structure_of(statistics(layout))


def structure_of(st: Statistics) -> str:
    """Describe the structure by counts, and a digest of the other statistics of the tiles.

    The digest uses 12 digits of a sum, because the last ones depend on the order of addition.
    """
    rest = " ".join(f"{number:.12g}" for number in (st.deviation, st.empty, st.moment))
    return f"{st.tiles} tiles, {st.atoms} atoms, longest {st.greatest}, {_digest(rest)}"


def kernel_of(program: ir.Program) -> str:
    """Return the name of a kernel, and a digest of what it does with arguments of its types."""
    written: list[str] = []
    _write(program.steps, written)
    return f"{program.name} {_digest(' '.join(written))}"


def arguments_of(arguments: dict[str, Any]) -> str:
    """Return types, and shapes of arrays: "A: Csr(offsets=int32[5], num_columns=4), x: float32[4], n: int"."""
    return ", ".join(f"{name}: {_described(value, name)}" for name, value in arguments.items())


def _described(value: Any, name: str) -> str:
    if is_layout(value):
        parts = (
            f"{field.name}={_described(getattr(value, field.name), field.name)}"
            if field.kind == "layout" or "array" in field.kind
            else f"{field.name}={int(getattr(value, field.name))}"
            for field in type(value).__fields__.values()
        )
        return f"{type(value).__name__}({', '.join(parts)})"
    if is_array(value):
        found = view(value, name)
        return f"{found.dtype}{list(found.shape)}"
    spec = spec_of(value, name)
    return str(spec.type) if isinstance(spec, ScalarSpec) else repr(value)


def _write(node: Any, out: list[str]) -> None:
    """Write a typed program as words that are the same in every process. Locations in the source are left out."""
    if isinstance(node, ir.Var):
        out += (node.name, node.type.name)
    elif isinstance(node, tuple):
        out.append("(")
        for item in node:
            _write(item, out)
        out.append(")")
    elif is_dataclass(node):
        out.append(type(node).__name__)
        for field in fields(node):
            if field.name != "at":
                _write(getattr(node, field.name), out)
    else:
        out.append(repr(node))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:LETTERS]
