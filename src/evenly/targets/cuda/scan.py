"""Compute prefix sums of tile sizes on the device, to make a subset (a frontier) without waiting for the device."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.arguments import Binding, layout_spec
from evenly.interop.arrays import empty, view
from evenly.interop.streams import current
from evenly.language.lower import lower_layout
from evenly.language.lower.tiles import layout_code
from evenly.language.reads import kept
from evenly.language.specs import LayoutSpec
from evenly.layouts.contract import LayoutInstance
from evenly.schedules.contract import ceil_div
from evenly.targets.gpu.emit.expressions import Text
from evenly.targets.gpu.emit.layout_struct import position_function
from evenly.targets.gpu.emit.parameters import parameters_of, struct_members, struct_values
from evenly.targets.gpu.launching import scalar

from . import compile as compiling
from .place import current_device

BLOCK, ITEMS = 256, 8
LIMIT = 2**31 - 2**21


def prefix_sums(base: LayoutInstance, tiles: Any, count: Any = None) -> Any:
    """Compute the prefix sums (n + 1,) of the sizes of the base's `tiles` (n,), on the caller's current stream.

    Tiles at and beyond index count[0] count as empty. The sums are int32 if the base has few enough atoms (tiles are
    distinct), else int64.
    """
    wide = int(base.max_atoms) >= LIMIT
    n = len(tiles)
    sums = empty(tiles, (n + 1,), np.int64 if wide else np.int32)
    blocks = max(1, ceil_div(n, BLOCK * ITEMS))
    totals = empty(tiles, (blocks,), sums_type(wide))
    core = compiling.require()
    device_id = view(tiles).device_id
    device = current_device(device_id)
    handle = current([tiles], device_id)
    stream = core.Stream.from_handle(handle) if handle else device.default_stream
    binding = Binding({"base": base, "selected": tiles, "count": count})
    spec = layout_spec(base, "base")
    names = view(tiles).dtype.itemsize, 0 if count is None else view(count).dtype.itemsize
    cc = device.compute_capability
    module, parameters = _loaded(spec, names, wide, device_id, f"sm_{cc.major}{cc.minor}")
    given = [_argument(p, binding, wide) for p in parameters]
    pointers = view(sums).pointer, view(totals).pointer
    more = [np.int64(n), view(tiles).pointer, 0 if count is None else view(count).pointer]
    many, one = core.LaunchConfig(grid=blocks, block=BLOCK), core.LaunchConfig(grid=1, block=BLOCK)
    core.launch(stream, many, module.get_kernel("scan_sizes"), *given, *more, *pointers)
    if blocks > 1:
        core.launch(stream, one, module.get_kernel("scan_of_totals"), pointers[1], np.int32(blocks))
        core.launch(stream, many, module.get_kernel("scan_rest"), np.int64(n), *pointers)
    return sums


def sums_type(wide: bool) -> Any:
    return np.int64 if wide else np.int32


def _argument(p: Any, binding: Binding, wide: bool) -> Any:
    if p.kind == "array":
        return binding.view(p.path).pointer
    if p.kind == "extent":
        return binding.extent(p.path, p.axis)
    return scalar(binding.scalar(p.path), p.type, wide)


@kept
def _loaded(
    spec: LayoutSpec, widths: tuple[int, int], wide: bool, device_id: int, arch: str
) -> tuple[Any, Any]:
    """Return the module of the three kernels for this type of base, and the parameters of the first kernel."""
    source, parameters = emit(spec, widths, wide)
    code = compiling.cubin(source, "scan_sizes", arch)
    return compiling.require().ObjectCode.from_cubin(code, name="scan"), parameters


def emit(spec: LayoutSpec, widths: tuple[int, int], wide: bool) -> tuple[str, Any]:
    """Emit the source of the three kernels. Return it, and the parameters of the first that come from the base.

    widths: bytes of an entry of `selected`, and of `count` (0: there is no count).
    """
    cx, layout = lower_layout(spec, ("base",))
    code = layout_code(cx, layout)
    text = Text(wide, frozenset())
    functions = [
        *position_function(text, "begin", code.begin),
        *position_function(text, "end", code.end),
    ]
    members = struct_members(text.references, frozenset(), False)
    parameters = parameters_of(text.references, frozenset())
    selected, count = (f"const {'long long' if w == 8 else 'int'}* __restrict__" for w in widths)
    declared = ",\n    ".join(
        [
            *(p.text for p in parameters),
            f"long long n,\n    {selected} selected",
            f"{count} count",
            "pos* sums",
            "pos* totals",
        ]
    )
    used = "count[0] < n ? count[0] : n" if widths[1] else "n"
    lines = [
        f"using pos = {'long long' if wide else 'int'};",
        "",
        "struct Base {",
        *members,
        *functions,
        "};",
        "",
        f"EV_KERNEL({BLOCK}) scan_sizes({declared}) {{",
        f"  const Base base{{{struct_values(text.references)}}};",
        f"  const long long used = {used};",
        "  auto size = [&](long long i) {",
        "    return i < used ? base.end((pos)selected[i]) - base.begin((pos)selected[i]) : (pos)0;",
        "  };",
        f"  ev::scan_blocks<{BLOCK}, {ITEMS}>(size, n, sums, totals);",
        "}",
        "",
        f"EV_KERNEL({BLOCK}) scan_of_totals(pos* totals, int blocks) {{",
        f"  ev::scan_totals<{BLOCK}>(totals, blocks);",
        "}",
        "",
        f"EV_KERNEL({BLOCK}) scan_rest(long long n, pos* sums, const pos* totals) {{",
        f"  ev::scan_add<{BLOCK}, {ITEMS}>(n, sums, totals);",
        "}",
    ]
    return "\n".join(lines) + "\n", parameters
