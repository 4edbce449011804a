"""`@ev.kernel`: a kernel, bound step by step to a schedule, a target and arguments."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from evenly import targets
from evenly.arguments import Binding
from evenly.choosing.task import Task, task_of
from evenly.errors import InputError
from evenly.language import syntax
from evenly.language.by_name import by_name
from evenly.language.depth import shallow
from evenly.language.ir import Program, Requirement
from evenly.language.parse import parse
from evenly.language.reads import Kept, Reads, value_of
from evenly.language.source import Source, check_decorated, fetch
from evenly.language.specs import LayoutSpec, Spec
from evenly.schedules import Schedule
from evenly.targets.contract import Typed

from .bound import Bound, ByName
from .call_cache import CallCache
from .parameters import Parameters
from .plan import Compiled, Plan

# How to bring arrays to a place, for hints in errors.
MOVES = {
    "cpu": "layout.to('cpu'), cupy.asnumpy(...), or choose target 'cuda'",
    "cuda": "layout.to('cuda'), cupy.asarray(...), or ev.DeviceArray.from_numpy(...)",
}


class Kernel:
    """A kernel: what happens to one tile and its atoms. `@ev.kernel` makes it.

    kernel(*args)                       run it; schedule and target are chosen
    kernel[schedule](*args)             run it under this schedule
    kernel[schedule].on(target)(*args)  run it on this target: "cuda", "cpu", "python" or "simt"
    kernel.plan(*args, schedule=, target=, max_workspace=)   choose and compile; calling the plan only launches

    Arguments are positional or named, and may have defaults, as in Python.
    """

    def __init__(self, function: Callable[..., Any], source: str | None = None) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.name = function.__name__
        self.signature = Parameters(function)
        self.parameters = self.signature.names
        self._source = source
        self._programs = Kept()
        self._executables = Kept()
        self._tasks: dict[tuple[tuple[Spec, ...], bool], tuple[Program, Task]] = {}
        self._lock = threading.RLock()
        self.call_caches: dict[
            Any, CallCache
        ] = {}  # by the choices made and the arguments' Python types
        self._freely = (ByName if self.signature.strict else Bound)(self)
        self._again = self._freely.known

    def __repr__(self) -> str:
        return f"<evenly kernel {self.name}({', '.join(self.parameters)})>"

    def __reduce__(self) -> Any:
        return by_name(self, "a kernel")

    @functools.cached_property
    def source(self) -> Source:
        return fetch(self.function, self._source)

    @functools.cached_property
    def tree(self) -> syntax.Function:
        return parse(self.source)

    # ---- running -------------------------------------------------------------------------------
    def __call__(self, /, *args: Any, **named: Any) -> None:
        if named or not self._again(*args):
            self._freely.run(args, named)

    def __getitem__(self, schedule: Any) -> Bound:
        return self._freely[schedule]

    def on(self, target: str, *, debug: bool = False, **options: Any) -> Bound:
        """Return this kernel on a target: "auto", "cuda", "cpu", "python" or "simt".

        debug: check indices and divisions ("cpu"; "python" and "simt" always do).
        max_workspace: the most bytes that scratch arrays (`ev.scratch`) may take; default: 1 GiB.
        options: how "simt" runs: seed=, seeds=, order=, races=, resident= (see docs/simt.md).
        """
        return self._freely.on(target, debug=debug, **options)

    def plan(
        self,
        /,
        *args: Any,
        schedule: Any = "auto",
        target: str = "auto",
        max_workspace: int | None = None,
        **named: Any,
    ) -> Plan:
        """Choose a schedule and compile for these arguments; see `Plan`.

        max_workspace: the most bytes that scratch arrays (`ev.scratch`) may take; default: 1 GiB.
        """
        options: dict[str, Any] = {} if max_workspace is None else {"max_workspace": max_workspace}
        return self[schedule].on(target, **options).plan(*args, **named)

    def collect(
        self, /, *args: Any, max_workspace: int | None = None, **named: Any
    ) -> tuple[Any, ...]:
        """Run a kernel whose tiles emit values, and return the values: outputs of unknown size.

        One parameter gets types instead of an array: `lower.collect(A, out=(np.int32, np.float32))`. In a loop over
        tiles the kernel calls `out.emit(value, ...)`, with one value for each type, any number of times.

        Returns a `Ragged` with a list for each tile, in the order of the walk, and for each type an array (n,) of its
        elements, of the library of the first array argument and on its device. A list has the tile's values in the
        order of its atoms. The kernel runs twice, once to count; offsets are int32 if they suffice, else int64.

        max_workspace: the most bytes of memory to use beside the arguments and the result. The counts of tiles, 8 bytes
          each, are most of it. Where they do not fit, chunks of consecutive tiles are counted one after another, and
          the run that counts is repeated for each. The result is the same. Target "python" ignores it. What scratch
          arrays may take is bounded by `on(target, max_workspace=)`.
          (If the kernel has a parameter of this name, pass that one by position.)

        Raises LanguageError for an emit that depends on the kernel's other stores or on atomics, and InputError if
        not exactly one argument is a tuple of types, or if `max_workspace` is less than one tile needs.
        """
        return self._freely.collect(*args, max_workspace=max_workspace, **named)

    def copy(self) -> Kernel:
        """Return the same kernel with nothing compiled. Its plans share no scratch memory with those of this kernel."""
        return Kernel(self.function, self._source)

    # ---- pieces that Bound and Plan share --------------------------------------------------------
    def arranged(
        self, args: tuple[Any, ...], named: dict[str, Any], defaults: dict[str, Any] | None = None
    ) -> tuple[Any, ...]:
        """Return the value of each parameter, in order.

        defaults: those of a plan. Without them, the function's current defaults are used.
        """
        if not (named or self.signature.strict) and len(args) == len(self.parameters):
            return args
        if self.signature.starred:
            _ = self.tree  # raises the error for such parameters, with its line
        defaults = self.signature.defaults() if defaults is None else defaults
        return self.signature.arranged(args, named, defaults)

    def named(self, args: tuple[Any, ...]) -> dict[str, Any]:
        """Return the values of all parameters, which are in their order, by name."""
        return dict(zip(self.parameters, args, strict=True))

    def program(self, specs: tuple[Spec, ...]) -> Program:
        """Return the typed program for arguments of these types."""
        return self.lowered(specs)[0]

    def lowered(self, specs: tuple[Spec, ...]) -> tuple[Program, Reads]:
        """Return the typed program, and the outside values that it was made with."""

        def lower() -> Program:
            # Late, so that `import evenly` is quick.
            from evenly.language.lower import lower_kernel
            from evenly.language.verify import verify

            with shallow(self.source):
                program = lower_kernel(self.source, self.tree, specs)
                verify(program, specs)
            return program

        with self._lock:
            return self._programs.found(specs, lower)

    def task(self, specs: tuple[Spec, ...], plans: bool) -> Task:
        """Return the properties by which a schedule is chosen; they are worked out once for each program."""
        program = self.program(specs)
        known = self._tasks.get((specs, plans))
        if known is None or known[0] is not program:
            known = self._tasks[specs, plans] = program, task_of(program, plans)
        return known[1]

    def compiled(
        self, specs: tuple[Spec, ...], schedule: Schedule, target: str, wide: bool, debug: bool
    ) -> Compiled:
        """Return the compiled kernel, from this kernel's cache or compiled now."""

        def compile() -> Compiled:
            layouts = layouts_of(dict(zip(self.parameters, specs, strict=True)))
            typed = Typed(self.function, self.source, program, known, layouts)
            for name in ("owner", "engine", "block", "size", "items", "run"):
                value_of(schedule, name)  # engines read these; a user may change the class
            with shallow(self.source, f" for target {target!r}"):
                made, phases = targets.get(target).build(typed, schedule, wide, debug)
            return Compiled(made, phases, program)

        with self._lock:
            program, known = self.lowered(specs)
            key = specs, schedule, target, wide, debug
            made, reads = self._executables.found(key, compile, known)
            return made._replace(reads=reads)

    def check(
        self,
        binding: Binding,
        requirements: frozenset[Requirement],
        outputs: frozenset[tuple[str, ...]],
        target: str,
    ) -> None:
        """Check that arguments are on the target's device and long enough, and outputs writable and without overlap."""
        reached = targets.get(target).place
        if binding.place != reached:
            name = next(iter(binding.array_paths))[0]
            raise InputError(
                name,
                expected=f"arrays where target {target!r} can reach them",
                given=f"an array on {binding.place}",
                hint=f"move them: {MOVES[reached]}",
            )
        binding.check_lengths(requirements)
        binding.check_outputs(outputs)


def layouts_of(specs: dict[str, Spec]) -> dict[tuple[str, ...], LayoutSpec]:
    return {(name,): spec for name, spec in specs.items() if isinstance(spec, LayoutSpec)}


def kernel(function: Callable[..., Any] | None = None, *, source: str | None = None) -> Any:
    """Make a kernel of a function, which says what happens to one tile and its atoms.

    source: the function's text, for functions that were made by `exec`.

    Errors of the language are raised when the kernel is first called, because they depend on the
    types of the arguments.

    >>> import evenly as ev
    >>> @ev.kernel
    ... def spmv(A, x, y):
    ...     for row in A.tiles():
    ...         y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))
    """
    check_decorated("ev.kernel", function, source)
    if function is None:
        return lambda f: kernel(f, source=source)
    return Kernel(function, source)
