"""Declare the parameters of a kernel, and the views of arrays inside it."""

from __future__ import annotations

from dataclasses import dataclass

from evenly.language import ir

from .expressions import References, ctype


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a kernel.

    kind: "array", "scalar" or "extent", which `path` identifies; or "buffer" or "blocks", which `name` identifies; or
    "handle": that of the condition of a CUDA graph's loop, which the phase decides.
    printed: its name in the kernel, if that is not `name`.
    """

    kind: str
    type: str
    path: ir.Path = ()
    axis: int = 0
    name: str = ""
    printed: str = ""

    @property
    def text(self) -> str:
        """The parameter as the kernel declares it."""
        return f"{self.type} {self.printed or BLOCKS.get(self.name, self.name)}"


BLOCKS = {"all": "all_blocks", "main": "main_blocks"}


def pointer(name: str) -> str:
    """Return the name of the pointer to an array. The array's own name is that of its view."""
    return f"p{name}"


def parameters_of(references: References, written: frozenset[ir.Path]) -> list[Parameter]:
    name = references.name
    out = []
    for path, a in references.arrays.items():
        const = "" if path in written or path[0] == "$" else "const "
        kind = f"{const}{ctype(a.dtype)}* __restrict__"
        out.append(Parameter("array", kind, path, printed=pointer(name(path))))
    for path, axis in references.extents:
        out.append(Parameter("extent", "long long", path, axis, printed=name(path, axis)))
    for path, p in references.scalars.items():
        out.append(Parameter("scalar", ctype(p.type), path, printed=name(path)))
    return out


def view_type(a: ir.Array, written: frozenset[ir.Path]) -> str:
    kind = "out" if a.path in written or a.path[0] == "$" else "in"
    return f"ev::{kind}<{ctype(a.dtype)}>"


def view_lines(references: References, written: frozenset[ir.Path]) -> list[str]:
    """Emit the lines that wrap each pointer in a view with the array's own name."""
    # A scratch array gets its view when a tile begins to use it.
    named = ((references.name(path), a) for path, a in references.arrays.items() if not a.own)
    return [f"  const {view_type(a, written)} {name}({pointer(name)});" for name, a in named]


def struct_members(references: References, written: frozenset[ir.Path], lane: bool) -> list[str]:
    """Emit the arguments as members of a struct, in the order of `struct_values`."""
    name = references.name
    out = [f"  {view_type(a, written)} {name(path)};" for path, a in references.arrays.items()]
    out += [f"  long long {name(path, axis)};" for path, axis in references.extents]
    out += [f"  {ctype(p.type)} {name(path)};" for path, p in references.scalars.items()]
    return out + (["  pos lane;"] if lane else [])


def struct_values(references: References, lane: str = "") -> str:
    """Return the values of `struct_members`. lane: the lane of a dense axis, where there is one."""
    name = references.name
    # A scratch array has a view where it is used.
    out = [name(p) if a.own else pointer(name(p)) for p, a in references.arrays.items()]
    out += [name(path, axis) for path, axis in references.extents]
    out += [name(path) for path in references.scalars]
    return ", ".join(out + ([lane] if lane else []))
