"""An emitted program on a device: sizes, workspace, arguments and launches."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenly.arguments import Binding
from evenly.interop.streams import current
from evenly.language import ir
from evenly.language.phases import Phases, Workspace
from evenly.language.specs import LayoutSpec
from evenly.schedules.contract import Sizes, ceil_div

from .compile import cubin, require
from .emit.code import FINISH_BLOCK, KernelCode, PhaseCode
from .emit.kernels import emit
from .emit.parameters import Parameter
from .emit.unit import Unit
from .memory import DeviceMemory

Stored = dict[ir.Path, DeviceMemory]  # partitions, by the path of the layout that they belong to

ALIGN = 256
MAX_LANES = 65_535  # of a grid's y axis; kernels walk the rest
PERSISTENT_BLOCKS = 8  # a multiprocessor, where only the device knows how much work there is


@dataclass(frozen=True, slots=True)
class Launch:
    """One kernel launch, ready for any launcher.

    source: the CUDA C++ (headers included). kernel: a `cuda.core.Kernel`. cubin: its machine code.
    grid, block: three integers each. arguments: integers for pointers and 64-bit numbers,
    NumPy scalars for the rest, as cuda.core and CuPy take them.
    """

    name: str
    source: str
    cubin: bytes
    kernel: Any
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: tuple[Any, ...]
    memory: tuple[Any, ...] = field(repr=False, default=())  # keeps alive what `arguments` point to

    @property
    def config(self) -> Any:
        """The `cuda.core.LaunchConfig`."""
        return require().LaunchConfig(grid=self.grid, block=self.block)


@dataclass(frozen=True, slots=True)
class _Dimensions:
    """How one phase is launched on the arguments at hand."""

    blocks: int
    lanes: int
    finish: int

    @property
    def all(self) -> int:
        return self.blocks + self.finish


class CudaExecutable:
    """The compiled phases of a kernel. Thread-safe: scratch memory belongs to a stream."""

    def __init__(
        self, phases: Phases, schedule: Any, layouts: dict[ir.Path, LayoutSpec], wide: bool
    ) -> None:
        self.phases = phases
        unit = Unit(phases.name, schedule, layouts, phases.outputs, wide)
        self.codes = emit(phases, unit)
        self.wide = wide
        self._loaded: dict[tuple[str, int], tuple[Any, bytes, Any]] = {}
        self._scratch: dict[tuple[int, int], DeviceMemory] = {}
        self._lock = threading.Lock()

    # ---- running -------------------------------------------------------------------------------
    def run(self, binding: Binding, stored: Stored | None = None) -> None:
        """Launch everything on the caller's current stream."""
        core = require()
        device, stream = self.place(binding)
        for item in self.launches(binding, stored, device, stream):
            core.launch(stream, item.config, item.kernel, *item.arguments)

    def store(self, binding: Binding) -> Stored:
        """Make the partitions that launches on these very layouts can use again, one a layout."""
        core = require()
        device, stream = self.place(binding)
        made: Stored = {}
        for code in self.codes:
            if code.partition is None or code.path in made:
                continue
            size = self.dimensions(code, binding, device)
            buffer = made[code.path] = DeviceMemory((size.blocks + 1) * 8)
            grid = self.grid(code.partition, size)
            item = self.launch(
                code.partition,
                grid,
                binding,
                size,
                {},
                None,
                0,
                device,
                {code.path: buffer},
                code.path,
            )
            core.launch(stream, item.config, item.kernel, *item.arguments)
        return made

    def changed(self, binding: Binding, stored: Stored) -> ir.Path | None:
        """The path of a layout whose partition is no longer the stored one. Reads it back from the device."""
        device, stream = self.place(binding)
        for path, buffer in self.store(binding).items():
            blocks = next(
                self.dimensions(c, binding, device).blocks
                for c in self.codes
                if c.path == path and c.partition
            )
            stream.sync()
            width = (blocks + 1) * (8 if self.wide else 4)
            if buffer.read(width) != stored[path].read(width):
                return path
        return None

    def place(self, binding: Binding) -> tuple[Any, Any]:
        """The device that the arguments are on, made current, and the caller's stream there."""
        core = require()
        views = [binding.view(path) for _, path in binding.array_paths()]
        device = core.Device(views[0].device_id if views else None)
        device.set_current()
        handle = current([v.owner for v in views], device.device_id)
        return device, core.Stream.from_handle(handle) if handle else device.default_stream

    def launches(
        self, binding: Binding, stored: Stored | None = None, device: Any = None, stream: Any = None
    ) -> list[Launch]:
        """The launches for these arguments, in order."""
        if device is None:
            device, stream = self.place(binding)
        sizes = [self.dimensions(code, binding, device) for code in self.codes]
        offsets, total = self.plan_scratch(binding, sizes)
        scratch = self.scratch(total, device, stream)
        out = []
        for number, (code, size) in enumerate(zip(self.codes, sizes, strict=True)):
            for kernel in code.kernels:
                grid = self.grid(kernel, size)
                if grid[0] > 0 and not (kernel.grid == "finish" and size.blocks < 2):
                    out.append(
                        self.launch(
                            kernel,
                            grid,
                            binding,
                            size,
                            offsets,
                            scratch,
                            number,
                            device,
                            stored or {},
                            code.path,
                        )
                    )
        return out

    def launch(
        self,
        kernel: KernelCode,
        grid: tuple[int, int, int],
        binding: Binding,
        size: _Dimensions,
        offsets: dict[Any, int],
        scratch: DeviceMemory | None,
        number: int,
        device: Any,
        stored: Stored,
        path: ir.Path,
    ) -> Launch:
        loaded, code = self.load(kernel, device)
        partition = stored[path].handle if path in stored else 0
        base = scratch.handle if scratch else 0
        arguments = tuple(
            partition
            if p.name == "first_tile"
            else self.argument(p, binding, size, offsets, base, number)
            for p in kernel.parameters
        )
        from .headers import text

        memory = (scratch, stored.get(path), [v.owner for v in binding.views.values()])
        return Launch(
            kernel.name,
            text() + kernel.source,
            code,
            loaded,
            grid,
            (kernel.block, 1, 1),
            arguments,
            memory,
        )

    def load(self, kernel: KernelCode, device: Any) -> tuple[Any, bytes]:
        """The kernel on this device, compiled and loaded once."""
        key = kernel.name, device.device_id
        with self._lock:
            if key not in self._loaded:
                cc = device.compute_capability
                code = cubin(kernel.source, kernel.name, f"sm_{cc.major}{cc.minor}")
                module = require().ObjectCode.from_cubin(code, name=kernel.name)
                # The module is kept too: a kernel whose module is collected runs unloaded code.
                self._loaded[key] = module.get_kernel(kernel.name), code, module
            return self._loaded[key][:2]

    # ---- sizes -----------------------------------------------------------------------------------
    def dimensions(self, code: PhaseCode, binding: Binding, device: Any) -> _Dimensions:
        if code.schedule is None:
            return _Dimensions(1, 1, 0)
        layout = binding.layout(code.path)
        blocks = int(code.schedule.launch(Sizes(int(layout.max_tiles), int(layout.max_atoms)))[0])
        if code.persistent:
            blocks = min(blocks, device.properties.multiprocessor_count * PERSISTENT_BLOCKS)
        lanes = 1 if code.lanes is None else int(evaluate(code.lanes, binding))
        finish = ceil_div(blocks, FINISH_BLOCK) if code.value_fields and blocks > 1 else 0
        return _Dimensions(blocks, lanes, finish)

    def grid(self, kernel: KernelCode, size: _Dimensions) -> tuple[int, int, int]:
        lanes = min(size.lanes, MAX_LANES)
        if kernel.grid == "one":
            return 1, 1, 1
        if kernel.grid == "partition":
            return ceil_div(size.blocks + 1, FINISH_BLOCK), 1, 1
        if lanes == 0:
            return 0, 1, 1
        return (size.finish if kernel.grid == "finish" else size.blocks), lanes, 1

    # ---- scratch memory -----------------------------------------------------------------------------
    def workspace_bytes(self, binding: Binding) -> int:
        device, _ = self.place(binding)
        return self.plan_scratch(
            binding, [self.dimensions(code, binding, device) for code in self.codes]
        )[1]

    def plan_scratch(
        self, binding: Binding, sizes: list[_Dimensions]
    ) -> tuple[dict[Any, int], int]:
        """Where each array and buffer lies in the scratch memory, and its whole size."""
        offsets: dict[Any, int] = {}
        total = 0

        def take(key: Any, count: int) -> None:
            nonlocal total
            offsets[key] = total
            total += ceil_div(max(count, 1), ALIGN) * ALIGN

        for w in self.phases.workspaces:
            take(w.array.path, entries(w, binding) * 8)
        for number, (code, size) in enumerate(zip(self.codes, sizes, strict=True)):
            carried = size.blocks * size.lanes * 8
            if code.value_fields:
                for name in ("out_tile", "head_tile"):
                    take((number, name), carried)
                for name in ("out_value", "head_value"):
                    take((number, name), carried * code.value_fields)
            if code.grid_fields:
                take((number, "grid_partials"), size.all * size.lanes * 8 * code.grid_fields)
        return offsets, total

    def scratch(self, total: int, device: Any, stream: Any) -> DeviceMemory | None:
        """Scratch memory of at least `total` bytes that belongs to this stream; it only grows."""
        if total == 0:
            return None
        key = device.device_id, int(stream.handle)
        with self._lock:
            held = self._scratch.get(key)
            if held is None or held.size < total:
                held = self._scratch[key] = DeviceMemory(total)
            return held

    # ---- arguments -------------------------------------------------------------------------------------
    def argument(
        self,
        p: Parameter,
        binding: Binding,
        size: _Dimensions,
        offsets: dict[Any, int],
        base: int,
        number: int,
    ) -> Any:
        match p.kind:
            case "array":
                if p.path[0] != "$":
                    return binding.view(p.path).pointer
                return (
                    base + offsets[p.path] if offsets else 0
                )  # none: a partition kernel reads no workspace
            case "extent":
                return binding.extent(p.path, p.axis)
            case "buffer":
                return base + offsets[number, p.name]
            case "blocks":
                return np.int32(
                    {"main": size.blocks, "all": size.all, "all_lanes": size.all * size.lanes}[
                        p.name
                    ]
                )
        return scalar(binding.scalar(p.path), p.type, self.wide)


_SCALARS: dict[str, Any] = {
    "bool": np.bool_,
    "int": np.int32,
    "long long": np.int64,
    "float": np.float32,
    "double": np.float64,
}


def scalar(value: Any, type_: str, wide: bool) -> Any:
    """A number as a kernel's parameter of a C++ type."""
    if type_ == "pos":
        type_ = "long long" if wide else "int"
    return _SCALARS[type_](value)


def entries(w: Workspace, binding: Binding) -> int:
    """How many entries a workspace array needs."""
    if w.extent == "one":
        return 1
    tiles = int(binding.layout(w.layout).max_tiles)
    return tiles if w.extent == "tile" else tiles * int(evaluate(w.lanes, binding))


def evaluate(e: ir.Expr | None, binding: Binding) -> int:
    """The value of an expression of arguments, on the host."""
    match e:
        case ir.Const(value=value):
            return int(value)
        case ir.Param(path=path):
            return int(binding.scalar(path))
        case ir.Extent(array=a, axis=axis):
            return binding.extent(a.path, axis)
        case ir.Cast(operand=x):
            return evaluate(x, binding)
        case ir.Binary(op=op, left=left, right=right):
            m, n = evaluate(left, binding), evaluate(right, binding)
            return {"+": m + n, "-": m - n, "*": m * n}[op]
    raise AssertionError(e)
