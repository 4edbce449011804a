"""The contract of targets: a `Target` compiles a kernel to an `Executable`, which plans run.

A target also provides `Copies`, the arguments that `tune` measures on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from evenly.errors import InputError
from evenly.interop.array_view import Device
from evenly.language.remarks import quiet
from evenly.layouts.contract import is_layout
from evenly.schedules.contract import teams_of
from evenly.schedules.nested import check_loops, levels

from .workspace import MOST_WORKSPACE

if TYPE_CHECKING:
    from evenly.arguments import Binding
    from evenly.language import ir
    from evenly.language.phases import Phases
    from evenly.language.reads import Reads
    from evenly.language.source import Source
    from evenly.language.specs import LayoutSpec
    from evenly.schedules.contract import Schedule
    from evenly.timing.rounds import Clock

# The partitions that a plan keeps, by the path of the layout. Each is an array of bytes with a `size`.
Stored = dict["ir.Path", Any]


@dataclass(frozen=True, slots=True)
class Typed:
    """A kernel, typed for arguments of certain types.

    function, source: the user's function and its source. program: the same as typed IR.
    reads: the values that the function reads from outside, such as globals. layouts: the layouts among the arguments.
    """

    function: Callable[..., Any]
    source: Source
    program: ir.Program
    reads: Reads
    layouts: dict[ir.Path, LayoutSpec]


class Copies:
    """The arguments of a plan, with a copy in place of each output. `tune` measures on them.

    A kernel that reads or updates its outputs would find other values in each run, and might do less work: a search
    that has finished finds nothing more to do. For such a kernel, the copies are restored before each run.

    A frontier that the kernel pushes to is copied with all of its lists.

    originals, copies: arrays by name, those of a frontier F as "F.pushed".
    arguments: the arguments to plan for, by name.
    """

    def __init__(self, binding: Binding, outputs: Iterable[str], restored: bool) -> None:
        """outputs: the names of the arguments that are written. restored: whether to restore them before each run."""
        given = {name: binding.arguments[name] for name in outputs}
        self.originals = {n: a for name, value in given.items() for n, a in _arrays(name, value)}
        self.restored = restored
        self.copies = self.made(binding)
        self.arguments = dict(binding.arguments)
        for name, value in given.items():
            self.arguments[name] = self._copied(name, value)

    def _copied(self, name: str, value: Any) -> Any:
        if not is_layout(value):
            return self.copies[name]
        arrays = {n.rpartition(".")[2]: self.copies[n] for n, _ in _arrays(name, value)}
        return replace(value, **arrays)

    def made(self, binding: Binding) -> dict[str, Any]:
        """Return a copy of each output, by name."""
        raise NotImplementedError

    def clock(self, plan: Any) -> Clock:
        """Return a clock that times calls of `plan`, which was made for `arguments`."""
        raise NotImplementedError


def _arrays(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield an argument that is written, or the arrays of one that is a frontier, each with its name."""
    if not is_layout(value):
        yield name, value
        return
    for field in type(value).__fields__.values():
        if "array" in field.kind:
            yield f"{name}.{field.name}", getattr(value, field.name)


class Target:
    """A place where kernels run. A subclass defines `compile`, and overrides the defaults that do not fit.

    name: what users write.
    place: the memory that its arrays lie in, "cpu" or "cuda". For arrays in "cpu", target "auto" chooses the target
      "cpu"; for arrays in "cuda", the target "cuda".
    gpu: whether schedules divide the work among blocks and warps, as on a GPU.
    reference: whether it runs the user's own function, without a schedule, and checks everything that it reads.
    checks: when indices, divisions and assertions are checked and lines are printed: "always", "never", or "debug"
      for plans made with debug=True.
    counts: whether plans have counters, and a seed repeats a run.
    clock: what a measured time covers, such as "a call". "": times mean nothing, and plans are not tuned.
    copies: the class of the arguments that `plan.tune()` measures on. seconds: about how long it measures.
    net_seconds: the same for `schedule="tuned"`.
    """

    name: str
    place: Device = "cpu"
    gpu = False
    reference = False
    checks: Literal["always", "debug", "never"] = "never"
    counts = False
    clock = ""
    copies: type[Copies] = Copies
    seconds = 0.0
    net_seconds = 0.0

    def require(self) -> None:
        """Raise UnavailableError if the target cannot run here. The error says what is missing and how to get it."""

    def device(self, binding: Binding | None = None) -> str:
        """Describe the device that these arguments run on, such as "NVIDIA H200 (sm_90)". None: the default device."""
        return ""

    def build(
        self, typed: Typed, schedule: Schedule, wide: bool, debug: bool
    ) -> tuple[Executable, Phases]:
        """Compile a kernel under a schedule. Return the executable, and the phases that it launches in order.

        wide: whether positions need 64 bits. debug: whether to make the checks that `checks` describes.

        Raises InputError if `debug` is asked of a target that checks nothing, and LanguageError for a kernel that
        cannot run on this target.
        """
        if debug and self.checks == "never":
            raise InputError(
                "debug",
                expected="target 'cpu' or 'python', which check indices and divisions",
                given=f"target {self.name!r}, which does not yet",
                hint="run it there on the same data first",
            )
        program = typed.program
        if not debug and self.checks != "always":
            program = quiet(program, self.name, self.checks == "debug")
        check_loops(schedule, program)
        sizes = teams_of(levels(schedule)[0])[1:] if schedule.owns_tiles else ()
        teams = tuple(atoms for atoms, _ in sizes)
        from evenly.language.cutting import cut  # late, so that `import evenly` is quick

        hands_out = not self.reference and schedule.engine == "tasks"
        phases = cut(program, schedule.owns_tiles, teams, hands_out)
        return self.compile(phases, schedule, typed.layouts, wide, debug), phases

    def compile(
        self,
        phases: Phases,
        schedule: Schedule,
        layouts: dict[ir.Path, LayoutSpec],
        wide: bool,
        debug: bool,
    ) -> Executable:
        """Compile these phases. `wide` and `debug` are as in `build`."""
        raise NotImplementedError


class Executable:
    """A kernel, compiled for arguments of certain types. A subclass defines `prepare`, and overrides what it needs.

    binding: the arguments of a call. stored: what `store` returned for the layouts that this call shares with its plan.
    remembers: whether a later call with equal arguments may reuse what `prepare` returned.
    max_workspace: the most bytes that the scratch arrays of a kernel may take.
    """

    remembers = False
    max_workspace = MOST_WORKSPACE

    def limited(self, max_workspace: int) -> Executable:
        """Return this executable with another limit for the bytes of scratch arrays."""
        return self

    def apart(self) -> Executable:
        """Return this executable with scratch memory of its own, which is freed with it. Compiled code is shared."""
        return self

    def configured(self, options: dict[str, Any]) -> Executable | None:
        """Return this executable with the options of `kernel.on(target, **options)`; None if it takes no options."""
        return None

    def prepare(self, binding: Binding, stored: Stored | None = None) -> Callable[[], None]:
        """Return a function that runs the kernel on these arguments. It may be called many times.

        It does not keep the memory of the arguments alive: the caller has to. If it can be captured into a CUDA graph,
        its attribute `captured` says whether a call now would be. If a call only launches, its attribute `work` waits
        for that and can end it: `finish()` and `stop(counters)` (targets/cuda/working.py). If it has a method `moved`,
        that returns the same for arguments whose arrays lie at other addresses (targets/cpu/executable.py).
        """
        raise NotImplementedError

    def bind(
        self, binding: Binding, stored: Stored | None = None, stream: int | None = None
    ) -> Callable[[], None]:
        """Like `prepare`, but with scratch memory that no other call uses. Only one thread at a time may call it.

        stream: the handle of the stream that it runs on (target "cuda"). None: the caller's current stream.
        """
        return self.prepare(binding, stored)

    def also_decides(self, binding: Binding) -> tuple[Callable[[], Any], ...]:
        """Return functions whose results also determine how a call runs, besides its arguments. Each call asks them."""
        return ()

    def store(self, binding: Binding) -> Stored:
        """Compute what a plan can keep for these layouts, such as a partition. Later calls reuse it."""
        return {}

    def changed(self, binding: Binding, stored: Stored) -> ir.Path | None:
        """Return the path of a layout that has changed since `store`; None if none has."""
        return None

    def workspace_bytes(self, binding: Binding, stored: Stored | None = None) -> int:
        """Return the bytes of scratch memory that a call with these arguments needs."""
        return 0

    def launches(self, binding: Binding, stored: Stored | None = None) -> list[Any]:
        """Return the kernel launches of a call, in order (target "cuda")."""
        return []

    def counters(self, binding: Binding, stored: Stored | None = None) -> list[Any]:
        """Return what a profiler would count, for each launch (target "simt")."""
        return []
