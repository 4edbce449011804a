"""What a kernel takes: its parameters, and the views of them inside."""

from __future__ import annotations

from dataclasses import dataclass

from evenly.language import ir

from .expressions import References, ctype
from .naming import flat


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a kernel. kind: array, scalar, extent (of `path`), buffer or blocks (by name)."""

    kind: str
    type: str
    path: ir.Path = ()
    axis: int = 0
    name: str = ""


def parameter_name(p: Parameter) -> str:
    if p.kind in ("buffer", "blocks"):
        return {"all": "all_blocks", "main": "main_blocks"}.get(p.name, p.name)
    base = flat(p.path)
    return {"array": f"{base}_", "scalar": base, "extent": f"{base}_extent{p.axis}"}[p.kind]


def parameters_of(references: References, written: frozenset[ir.Path]) -> list[Parameter]:
    out = []
    for path, a in references.arrays.items():
        const = "" if path in written or path[0] == "$" else "const "
        out.append(
            Parameter(
                "array",
                f"{const}{ctype(a.dtype) if a.dtype.name != 'index' else 'pos'}* __restrict__",
                path,
            )
        )
    out += [Parameter("extent", "long long", path, axis) for path, axis in references.extents]
    out += [Parameter("scalar", ctype(p.type), path) for path, p in references.scalars.items()]
    return out


def view_type(a: ir.Array, written: frozenset[ir.Path]) -> str:
    kind = "out" if a.path in written or a.path[0] == "$" else "in"
    return f"ev::{kind}<{ctype(a.dtype)}>"


def view_lines(references: References, written: frozenset[ir.Path]) -> list[str]:
    """Inside a kernel: each pointer as a view under the array's own name."""
    out = []
    for path, a in references.arrays.items():
        name = flat(path)
        out.append(f"  const {view_type(a, written)} {name}({name}_);")
    return out


def struct_members(references: References, written: frozenset[ir.Path], lane: bool) -> list[str]:
    """The same as members of a struct, in the order of `struct_values`."""
    out = [f"  {view_type(a, written)} {flat(path)};" for path, a in references.arrays.items()]
    out += [f"  long long {flat(path)}_extent{axis};" for path, axis in references.extents]
    out += [f"  {ctype(p.type)} {flat(path)};" for path, p in references.scalars.items()]
    return out + (["  pos lane;"] if lane else [])


def struct_values(references: References, lane: bool) -> str:
    out = [f"{flat(path)}_" for path in references.arrays]
    out += [f"{flat(path)}_extent{axis}" for path, axis in references.extents]
    out += [flat(path) for path in references.scalars]
    return ", ".join(out + (["lane"] if lane else []))
