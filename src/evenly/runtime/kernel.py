"""`@ev.kernel`: a kernel, bound step by step to a schedule, a target and arguments."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from evenly import targets
from evenly.arguments import Binding, accept, is_wide, spec_of
from evenly.errors import InputError
from evenly.language import phases as cutting
from evenly.language import syntax
from evenly.language.ir import Program, Requirement
from evenly.language.lower import lower_kernel
from evenly.language.parse import parse
from evenly.language.phases import Phases
from evenly.language.remarks import heard
from evenly.language.source import Source, captures, constants, fetch
from evenly.language.specs import LayoutSpec, Spec
from evenly.language.verify import verify
from evenly.schedules import by_name
from evenly.targets.contract import Executable

from .plan import Plan
from .recent import Recent

if TYPE_CHECKING:
    from evenly.tuning.tuned import Tuning

MOST_KINDS = 64  # of calls remembered: choices, and Python types of arguments


class Kernel:
    """A kernel: what happens to one tile and its atoms. Made by `@ev.kernel`.

    kernel(*args)                       runs it; schedule and target are chosen
    kernel[schedule](*args)             under this schedule
    kernel[schedule].on(target)(*args)  there: "cuda", "cpu", "python" or "simt"
    kernel.plan(*args, schedule=, target=)   decides and compiles; calling the plan only launches
    """

    def __init__(self, function: Callable[..., Any], source: str | None = None) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.name = function.__name__
        self.parameters = tuple(inspect.signature(function).parameters)
        self._source = source
        self._programs: dict[Any, Program] = {}
        self._executables: dict[Any, tuple[Any, Phases]] = {}
        self._lock = threading.RLock()
        # One-shot calls, by the choices made and the arguments' Python types; and by the choices alone, those of
        # the kind that was last known at once: they tell types themselves.
        self.recent: dict[Any, Recent] = {}
        self.latest: dict[Any, Recent] = {}

    def __repr__(self) -> str:
        return f"<evenly kernel {self.name}({', '.join(self.parameters)})>"

    @functools.cached_property
    def source(self) -> Source:
        return fetch(self.function, self._source)

    @functools.cached_property
    def tree(self) -> syntax.Function:
        return parse(self.source)

    # ---- running -------------------------------------------------------------------------------
    def __call__(self, *args: Any) -> None:
        Bound(self)(*args)

    def __getitem__(self, schedule: Any) -> Bound:
        return Bound(self)[schedule]

    def on(self, target: str, *, debug: bool = False, **options: Any) -> Bound:
        """This kernel on a target: "auto", "cuda", "cpu", "python" or "simt".

        debug: check indices and divisions ("cpu"; "python" and "simt" always do).
        options: how "simt" runs: seed=, seeds=, order=, races=, resident= (see docs/simt.md).
        """
        return Bound(self).on(target, debug=debug, **options)

    def plan(self, *args: Any, schedule: Any = "auto", target: str = "auto") -> Plan:
        """Decide and compile for these arguments; see `Plan`."""
        return Bound(self, schedule).on(target).plan(*args)

    def apart(self) -> Kernel:
        """The same kernel with nothing compiled: its plans share no scratch memory with this one's."""
        return Kernel(self.function, self._source)

    # ---- pieces that Bound and Plan share --------------------------------------------------------
    def named(self, args: tuple[Any, ...]) -> dict[str, Any]:
        if len(args) != len(self.parameters):
            raise InputError(
                self.name,
                expected=f"{len(self.parameters)} arguments ({', '.join(self.parameters)})",
                given=str(len(args)),
            )
        return dict(zip(self.parameters, args, strict=True))

    def program(self, specs: tuple[Spec, ...]) -> Program:
        """The typed program for arguments of these types."""
        key = specs, constants(self.function)
        with self._lock:
            if key not in self._programs:
                program = lower_kernel(self.source, self.tree, specs)
                verify(program, specs)
                self._programs[key] = program
            return self._programs[key]

    def executable(
        self, specs: tuple[Spec, ...], schedule: Any, target: str, wide: bool, debug: bool
    ) -> tuple[Any, Phases]:
        """The compiled kernel, from the cache of this kernel or made now."""
        key = specs, schedule, target, wide, debug, constants(self.function)
        with self._lock:
            if key not in self._executables:
                program = heard(self.program(specs), target, debug)
                phases = cutting.cut(program, whole=schedule.owns_tiles)
                layouts = layouts_of(dict(zip(self.parameters, specs, strict=True)))
                made = targets.get(target).compile(phases, schedule, layouts, wide, debug)
                self._executables[key] = made, phases
            return self._executables[key]

    def check(
        self,
        binding: Binding,
        requirements: frozenset[Requirement],
        outputs: frozenset[tuple[str, ...]],
        target: str,
    ) -> None:
        """The checks of every call: one device, the target's; lengths; outputs writable and apart."""
        place = binding.device.split(":")[0]
        if place != {"cuda": "cuda"}.get(target, "cpu"):
            name = next(iter(binding.array_paths))[0]
            hint = (
                "move them: layout.to('cuda'), cupy.asarray(...), or ev.DeviceArray.from_numpy(...)"
                if target == "cuda"
                else "move them: layout.to('cpu'), cupy.asnumpy(...), or choose target 'cuda'"
            )
            raise InputError(
                name,
                expected=f"arrays where target {target!r} can reach them",
                given=f"an array on {place}",
                hint=hint,
            )
        binding.check_lengths(requirements)
        binding.check_outputs(outputs)


class _Reference(Executable):
    """The `python` target's executable: the kernel's own function, which no schedule changes."""

    def __init__(self, kernel: Kernel, program: Program) -> None:
        self.kernel, self.program = kernel, program

    def prepare(self, binding: Binding, stored: Any = None) -> Callable[[], None]:
        run = targets.get("python").run_kernel
        return lambda: run(self.kernel, self.program, binding.arguments)


def layouts_of(specs: dict[str, Spec]) -> dict[tuple[str, ...], LayoutSpec]:
    return {(name,): spec for name, spec in specs.items() if isinstance(spec, LayoutSpec)}


class Bound:
    """A kernel with some of its choices made. (No data class: one is made at every call.)"""

    __slots__ = ("debug", "kernel", "options", "schedule", "target")

    def __init__(
        self,
        kernel: Kernel,
        schedule: Any = "auto",
        target: str = "auto",
        debug: bool = False,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.kernel, self.target = kernel, target
        self.schedule = schedule if schedule == "auto" else by_name(schedule)
        self.debug, self.options = debug, options or {}

    def __getitem__(self, schedule: Any) -> Bound:
        return Bound(self.kernel, schedule, self.target, self.debug, self.options)

    def on(self, target: str, *, debug: bool = False, **options: Any) -> Bound:
        return Bound(self.kernel, self.schedule, target, debug, options)

    def __call__(self, *args: Any) -> None:
        """Run on these arguments.

        The last calls are remembered: what they launched, by the addresses and types of their
        arguments, and their choice of a schedule. Nothing that follows from a matrix's structure is.
        """
        if not self.again(*args):
            plan = self._prepare(args)
            plan.check_arguments(plan._binding)
            prepared = plan.prepare(plan._binding)
            if plan.remembers and not self.options:
                self._remember(args, plan, prepared)
            prepared()

    def once(self, *args: Any) -> None:
        """Run on arguments that fit and will not come again: nothing is checked, and nothing remembered."""
        plan = self._prepare(args)
        plan.prepare(plan._binding)()

    def again(self, *args: Any) -> bool:
        """Run as an earlier call did, if one with such arguments is remembered; whether one is."""
        if self.options:
            return False
        kernel, choice = self.kernel, (self.schedule, self.target, self.debug)
        latest = kernel.latest.get(choice) if kernel.latest else None
        if latest is not None and latest.at_once(*args):
            return True
        recent = kernel.recent.get((*choice, *map(type, args)))
        if recent is None:
            return False
        known = recent is not latest and recent.at_once(*args)  # the latest has been asked
        if not (known or recent.again(*args)):
            return False
        if recent.knows_at_once:
            kernel.latest[choice] = recent
        return True

    def _remember(self, args: tuple[Any, ...], plan: Plan, prepared: Any) -> None:
        kernel, device = self.kernel, plan._binding.device
        key = self.schedule, self.target, self.debug, *map(type, args)
        recent = kernel.recent.get(key)
        # Layouts of one class may hold arrays of another library: then what is there cannot read these.
        if recent is None or not recent.remember(args, prepared, device):
            if len(kernel.recent) >= MOST_KINDS:
                kernel.recent.clear()
                kernel.latest.clear()
            also = [*plan._executable.also_decides(plan._binding)]
            if captures(kernel.function):
                also.append(lambda: constants(kernel.function))
            recent = kernel.recent[key] = Recent(args, device, tuple(also))
            recent.remember(args, prepared, device)

    def plan(self, *args: Any) -> Plan:
        """Decide and compile for these arguments."""
        return self.plan_as_auto(*args) if self.schedule == "auto" else self._checked(args).store()

    def plan_as_auto(self, *args: Any) -> Plan:
        """The same with what `auto` does beside choosing a schedule: for schedules that were chosen by measuring."""
        from evenly.tuning.equal import without_offsets
        from evenly.tuning.statistics import forget

        forget(args)  # or a plan made anew would know of tiles what they were before a change
        plan = self._checked(args)
        return without_offsets(plan, lambda binding: self._for(plan, binding)).store()

    def _checked(self, args: tuple[Any, ...]) -> Plan:
        plan = self._prepare(args, plans=True)
        plan.check_arguments(plan._binding)
        return plan

    def _prepare(self, args: tuple[Any, ...], plans: bool = False) -> Plan:
        """A plan that stores nothing yet. plans: "auto" takes what tune() has measured, or what suits a plan."""
        kernel = self.kernel
        binding = Binding({name: accept(value, name) for name, value in kernel.named(args).items()})
        target = self._target(binding)
        specs = tuple(spec_of(value, name) for name, value in binding.arguments.items())
        schedule, tuning = self._chosen(binding, specs, target, plans)
        executable, phases = self._executable(specs, schedule, target, binding)
        made = kernel, schedule, target, executable, phases, binding, specs
        return Plan(*made, self.debug, tuning)

    def _for(self, plan: Plan, binding: Binding) -> Executable:
        """The executable of a plan for other arguments."""
        specs = tuple(spec_of(value, name) for name, value in binding.arguments.items())
        return self._executable(specs, plan.schedule, plan.target, binding)[0]

    def _executable(
        self, specs: tuple[Spec, ...], schedule: Any, target: str, binding: Binding
    ) -> tuple[Executable, Phases]:
        kernel = self.kernel
        if target == "python":
            program = kernel.program(specs)
            phases = cutting.cut(program, whole=True)
            return self._configured(_Reference(kernel, program), target), phases
        wide = is_wide(binding)
        executable, phases = kernel.executable(specs, schedule, target, wide, self.debug)
        return self._configured(executable, target), phases

    def _configured(self, executable: Executable, target: str) -> Executable:
        if not self.options:
            return executable
        configured = executable.configured(self.options)
        if configured is None:
            name = next(iter(self.options))
            raise InputError(
                name,
                expected=f"no options for target {target!r}",
                given=f"{name}={self.options[name]!r}",
                hint="seed=, seeds= and order= are options of target 'simt'",
            )
        return configured

    def _target(self, binding: Binding) -> str:
        if self.target != "auto":
            targets.get(self.target)
            return self.target
        return "cuda" if binding.device.startswith("cuda") else "cpu"

    def _chosen(
        self, binding: Binding, specs: tuple[Spec, ...], target: str, plans: bool
    ) -> tuple[Any, Tuning | None]:
        """The schedule, and what tune() has measured, if it follows from that."""
        if self.schedule != "auto":
            return by_name(self.schedule), None
        from evenly.tuning.auto import choose
        from evenly.tuning.recall import recall
        from evenly.tuning.task import task_of

        program = self.kernel.program(specs)
        tuning = recall(program, binding, target) if plans else None
        if tuning:
            return tuning.schedule, tuning
        return choose(binding.first_layout(), target, task_of(program, plans)), None


def kernel(function: Callable[..., Any] | None = None, *, source: str | None = None) -> Any:
    """Make a kernel of a function: what happens to one tile and its atoms.

    `source`: its text, for functions that were made by `exec`. Errors of the language are
    raised when the kernel is first called, since they depend on the types of the arguments.

    >>> import evenly as ev
    >>> @ev.kernel
    ... def spmv(A, x, y):
    ...     for row in A.tiles():
    ...         y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))
    """
    if function is None:
        return lambda f: Kernel(f, source)
    if not callable(function):
        raise InputError("ev.kernel", expected="a function", given=type(function).__name__)
    return Kernel(function, source)
