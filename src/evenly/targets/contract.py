"""What every target is, and what it gives: an executable to plans, copies to `tune`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from evenly.errors import InputError
from evenly.interop.array_view import Device
from evenly.language.cutting import cut
from evenly.language.remarks import quiet

if TYPE_CHECKING:
    from evenly.arguments import Binding
    from evenly.language import ir
    from evenly.language.phases import Phases
    from evenly.language.reads import Reads
    from evenly.language.source import Source
    from evenly.language.specs import LayoutSpec
    from evenly.schedules.contract import Schedule
    from evenly.timing.rounds import Clock

# What is kept of layouts, by their paths: arrays of bytes that have a `size`.
Stored = dict["ir.Path", Any]


@dataclass(frozen=True, slots=True)
class Typed:
    """A kernel for arguments of certain types.

    function, source: the user's. program: what they say, typed; reads: what that took from outside.
    layouts: the layouts among the arguments.
    """

    function: Callable[..., Any]
    source: Source
    program: ir.Program
    reads: Reads
    layouts: dict[ir.Path, LayoutSpec]


class Copies:
    """The arguments of a plan with copies for outputs, in the place of the originals: what `tune` measures on.

    A kernel that reads what it writes, or updates it, would find something else at each run, and so
    other work: a search that is done finds nothing more to do. Its copies are restored before each run.

    arguments: by name, to plan for. clock: of such a plan.
    """

    def __init__(self, binding: Binding, outputs: Iterable[str], restored: bool) -> None:
        """outputs: the names of the arguments that are written. restored: before each run."""
        self.originals = {name: binding.arguments[name] for name in outputs}
        self.restored = restored
        self.copies = self.made(binding)
        self.arguments = {**binding.arguments, **self.copies}

    def made(self, binding: Binding) -> dict[str, Any]:
        raise NotImplementedError

    def clock(self, plan: Any) -> Clock:
        raise NotImplementedError


class Target:
    """Where kernels run. A target says how it compiles, and in what it differs from the defaults here.

    name: what users write.
    place: where its arrays lie, "cpu" or "cuda". For arrays in a place "auto" takes the target of the same name.
    gpu: whether schedules divide the work as on a GPU, in blocks and warps.
    reference: whether it runs the user's own function, under no schedule, and checks all that it reads.
    checks: when indices, divisions and assertions are checked, and lines printed: "always", "never", or "debug",
      with debug=True.
    counts: whether plans have counters, and a seed repeats a run.
    clock: what a time covers, such as "a call". "": times mean nothing, and plans are not tuned.
    copies: what `plan.tune()` measures on. seconds: about how long.
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

    def require(self) -> None:
        """Raise UnavailableError, with what is missing and how to get it, where the target cannot run."""

    def device(self, binding: Binding | None = None) -> str:
        """What these arguments run on, for people: "NVIDIA H200 (sm_90)". None: what they run on by default."""
        return ""

    def build(
        self, typed: Typed, schedule: Schedule, wide: bool, debug: bool
    ) -> tuple[Executable, Phases]:
        """What runs a kernel under a schedule, and its phases: what is launched, one after the other.

        wide: whether positions need 64 bits. debug: check what `checks` says.

        Raises InputError for `debug` where nothing is checked, and LanguageError for what cannot run there.
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
        phases = cut(program, whole=schedule.owns_tiles)
        return self.compile(phases, schedule, typed.layouts, wide, debug), phases

    def compile(
        self,
        phases: Phases,
        schedule: Schedule,
        layouts: dict[ir.Path, LayoutSpec],
        wide: bool,
        debug: bool,
    ) -> Executable:
        """What runs these phases."""
        raise NotImplementedError


class Executable:
    """A compiled kernel, for arguments of its types. A target says how it runs; of the rest, what it has.

    binding: the arguments of a call. stored: what `store` has made of the layouts that this call shares with its plan.
    remembers: whether a call like an earlier one may be run as that one was prepared.
    """

    remembers = False

    def configured(self, options: dict[str, Any]) -> Executable | None:
        """The same, run as `kernel.on(target, **options)` says. None: there is nothing to say."""
        return None

    def prepare(self, binding: Binding, stored: Stored | None = None) -> Callable[[], None]:
        """What runs on these arguments, when it is called, again and again. Somebody else keeps their memory alive."""
        raise NotImplementedError

    def bind(
        self, binding: Binding, stored: Stored | None = None, stream: int | None = None
    ) -> Callable[[], None]:
        """The same for one thread at a time, with memory that no other call uses.

        stream: the handle of the stream that it runs on (target "cuda"); None: the caller's current one.
        """
        return self.prepare(binding, stored)

    def also_decides(self, binding: Binding) -> tuple[Callable[[], Any], ...]:
        """What decides a call beside its arguments, to be asked each time."""
        return ()

    def store(self, binding: Binding) -> Stored:
        """What can be kept of these very layouts, for calls to come."""
        return {}

    def changed(self, binding: Binding, stored: Stored) -> ir.Path | None:
        """The path of a layout that is no longer as it was when it was stored."""
        return None

    def workspace_bytes(self, binding: Binding, stored: Stored | None = None) -> int:
        """Bytes of scratch memory that such a call needs."""
        return 0

    def launches(self, binding: Binding, stored: Stored | None = None) -> list[Any]:
        """The launches of such a call, in order (target "cuda")."""
        return []

    def counters(self, binding: Binding, stored: Stored | None = None) -> list[Any]:
        """What a profiler would count, for each launch (target "simt")."""
        return []
