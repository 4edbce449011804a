"""Plans: everything is chosen and compiled, so that calling a plan only launches."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

from evenly import targets
from evenly.arguments import Binding, accept, is_wide
from evenly.errors import InputError
from evenly.interop.streams import handle_of
from evenly.language import ir
from evenly.language.atomic_order import by_order
from evenly.language.phases import Phases
from evenly.language.reads import Reads
from evenly.layouts.contract import is_layout

from .addresses import Memory
from .bound_call import BoundCall
from .call_cache import CallCache
from .frontiers import watched
from .pickling import plan_parts

if TYPE_CHECKING:
    from collections.abc import Callable

    from evenly.balance.balance import Balance
    from evenly.balance.courses import TaskBalance
    from evenly.choosing.task import Task
    from evenly.layouts.contract import LayoutInstance
    from evenly.schedules import Schedule
    from evenly.targets.contract import Executable, Stored
    from evenly.tuning.tuned import Tuning

    from .bound import Bound
    from .observed import Observed


class Compiled(NamedTuple):
    """What a kernel compiles to for arguments of certain types. reads: the outside values that it was compiled with."""

    executable: Executable
    phases: Phases
    program: ir.Program
    reads: Reads = Reads()


class Plan:
    """A kernel bound to a schedule, a target and the types of its arguments, to be run many times.

    `plan(*args)` runs it on arguments of the same types. Everything that the kernel, its functions, layouts and
    schedule read from outside, including defaults, has the value that it had when the plan was made. Attributes:

    schedule, target: what was chosen.
    launches: for each kernel launch its source, configuration and arguments (target "cuda").
    workspace: bytes of scratch memory that it needs, stored partitions included.
    deterministic: False only if the kernel itself uses atomics whose order matters, pushes or appends.
    tuning: what `tune()` measured, now or before; None if the schedule was not chosen by measuring.
    """

    def __init__(
        self,
        kernel: Any,
        schedule: Schedule,
        target: str,
        compiled: Compiled,
        binding: Binding,
        specs: tuple[Any, ...],
        debug: bool = False,
        tuning: Tuning | None = None,
    ) -> None:
        self.kernel, self.schedule, self.target = kernel, schedule, target
        self.debug, self.tuning = debug, tuning
        self._compiled, self._executable, self._phases = (
            compiled,
            compiled.executable,
            compiled.phases,
        )
        self._outputs, self.reads = compiled.phases.outputs, compiled.reads
        self._binding, self._specs = binding, specs
        self._program, self._requirements = compiled.program, compiled.program.requirements
        self._defaults = kernel.signature.defaults()
        self._stored: Stored = {}
        self._maker: tuple[Bound | None, bool] = None, False
        self._caches: dict[Any, CallCache] = {}  # by whether calls wait, and the types of arguments

    @functools.cached_property
    def _known(self) -> CallCache:
        """The cache to look into first, by positional values: at first of its own types, then of the latest call.

        It is empty if calls are not looked up so (`Parameters.strict`), or not remembered.
        """
        if self.kernel.signature.strict or not self.remembers:
            return CallCache((), "")
        return self._cache_for(tuple(self._binding.arguments.values()), True, self._binding)

    def _cache_for(self, args: tuple[Any, ...], waits: bool, binding: Binding) -> CallCache:
        """Return the cache of calls with arguments of these Python types: a layout, or a bare matrix in its place."""
        key = waits, *map(type, args)
        if key not in self._caches:
            also = self._executable.also_decides(binding)
            self._caches[key] = CallCache(args, binding.device, also)
        return self._caches[key]

    @property
    def remembers(self) -> bool:
        """Whether the plan remembers calls, to repeat their launches."""
        return self._executable.remembers

    @property
    def task(self) -> Task:
        """What `auto` looks at of the kernel, on the plan's own arguments."""
        from evenly.choosing.task import of_call  # late, so that `import evenly` is quick

        return of_call(self.kernel.task(self._specs, plans=True), self._binding)

    @property
    def first_layout(self) -> LayoutInstance | None:
        """The layout that a schedule is chosen for."""
        return self._binding.first_layout()

    def store(self) -> Plan:
        """Store what depends on the structure of the plan's own layouts (partitions), for calls on these layouts."""
        self._stored = self._executable.store(self._binding)
        return self

    def release(self) -> Plan:
        """Let go of the plan's own arguments but its layouts, and return it. It can still be called, that alone."""
        _ = self._known  # made of their types
        layouts = {name: x for name, x in self._binding.arguments.items() if is_layout(x)}
        self._binding = Binding(layouts)
        return self

    def run_by(self, wrap: Callable[[Executable], Executable]) -> Plan:
        """Return the same plan with another executable, `wrap` of the present one. Stored partitions are kept."""
        compiled = self._compiled._replace(executable=wrap(self._executable))
        given = compiled, self._binding, self._specs, self.debug, self.tuning
        made = Plan(self.kernel, self.schedule, self.target, *given)
        made._stored, made._defaults = self._stored, self._defaults
        return made

    def made_by(self, bound: Bound | None, as_auto: bool) -> Plan:
        """Remember how to make this plan again in another process. None: it cannot be made again."""
        if bound is not None:
            given = self.schedule, self.target, self.debug, bound.options
            bound = type(bound)(self.kernel, *given)
        self._maker = bound, as_auto
        return self

    def __reduce__(self) -> Any:
        return plan_parts(self, *self._maker)

    def check(self) -> None:
        """Raise InputError if the structure of a layout has changed since the plan was made.

        Values may change freely. Offsets may not if the plan stores a partition of them, or knows that all tiles
        have equally many atoms. This waits for the device.
        """
        changed = self._executable.changed(self._binding, self._stored)
        if changed is not None:
            raise InputError(
                ".".join(changed),
                expected="the structure that the plan was made for",
                given="another one",
                hint="make the plan again",
            )

    def __repr__(self) -> str:
        return f"<Plan {self.kernel.name} under {self.schedule} on {self.target}>"

    def __call__(self, /, *args: Any, **named: Any) -> None:
        """Run on these arguments. `wait` is as in `Bound`. Raises InputError if their types are not the plan's."""
        if named or not self._known.repeat(*args):
            self._run(args, named)

    def _run(self, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        """Run a call that was not found by its positional values."""
        asked = None if named else self._known  # by `__call__`, with what was given
        waits = self.kernel.signature.waits(named)
        args = self.kernel.arranged(given, named, self._defaults)
        cache = self._caches.get((waits, *map(type, args)))
        if cache and not (cache is asked and args is given) and cache.repeat(*args):
            if waits and not self.kernel.signature.strict:
                self._known = cache
            return
        binding = self._bound(args)
        self.check_arguments(binding)
        prepared = self.prepare(binding, waits)
        if self.remembers:
            cache = self._cache_for(args, waits, binding)
            known = args, prepared, binding.device, None, self.memory(binding, prepared)
            if not cache.remember(*known):  # arrays of another library in a layout
                cache.begin(args)
                cache.remember(*known)
        prepared()

    def bind(self, /, *args: Any, stream: Any = None, **named: Any) -> BoundCall:
        """Return a call on these arguments that only launches. It checks nothing, and belongs to this thread.

            with plan.bind(A, x, y) as call:
                for _ in range(1000):
                    call()

        The arrays are fixed; each call reads the values that they have then. On "cuda" the launches are one CUDA
        graph, if the driver starts that sooner (CUDA 12.6 and newer).

        stream: on "cuda", the stream to launch on (CuPy's, PyTorch's, cuda.core's, or a handle); default: the
          caller's current one. (If the kernel has a parameter of this name, pass that one by position.)
        wait: whether the calls wait; as in `Bound`.

        Raises InputError as the plan does, and if `stream` is not a stream.
        """
        waits = self.kernel.signature.waits(named)
        binding = self._bound(self.kernel.arranged(args, named, self._defaults))
        self.check_arguments(binding)
        handle = None if stream is None else self._handle(stream)
        run = self._executable.bind(binding, self._usable(binding), handle)
        run = watched(run, binding, self._outputs, waits)
        return BoundCall(run, (self, binding, stream), f"{self!r}.bind(...)")

    def _handle(self, stream: Any) -> int:
        if not self._on_gpu:
            raise InputError(
                "stream",
                expected=f"none on target {self.target!r}",
                given=type(stream).__name__,
                hint="streams are CUDA's",
            )
        return handle_of(stream)

    @property
    def _on_gpu(self) -> bool:
        return targets.get(self.target).place != "cpu"

    def bound(self, stream: int | None) -> Callable[[], None]:
        """Return a function that runs the plan on its own arguments, for one thread, on the stream with this handle."""
        return self._executable.bind(self._binding, self._usable(self._binding), stream)

    def _bound(self, args: tuple[Any, ...]) -> Binding:
        """Return the binding of the arguments. Raises InputError if their types are not the plan's."""
        given = self.kernel.named(args)
        binding = Binding({name: accept(value, name) for name, value in given.items()})
        for name, found, spec in zip(given, binding.specs(), self._specs, strict=True):
            if found != spec:
                raise InputError(
                    name,
                    expected="the type that the plan was made for",
                    given=_brief(binding.arguments[name]),
                    hint="make a plan for these arguments",
                )
        if is_wide(binding) and not is_wide(self._binding):
            raise InputError(
                next(iter(binding.arguments)),
                expected="sizes that 32-bit positions hold, as the plan was made for",
                given="larger ones",
                hint="make a plan for these arguments",
            )
        return binding

    def check_arguments(self, binding: Binding) -> None:
        """Raise InputError for arrays that are too short, in the wrong place, read-only or overlapping."""
        self.kernel.check(binding, self._requirements, self._outputs, self.target)

    def memory(self, binding: Binding, prepared: Any) -> Memory | None:
        """Return where the arrays of these arguments lie; None if `prepared` cannot run where they lie elsewhere."""
        return Memory.of(binding, self._outputs) if hasattr(prepared, "moved") else None

    def prepare(self, binding: Binding, waits: bool = True) -> Any:
        """Return a function that runs the plan on arguments that have been checked. waits: as of `watched`."""
        run = self._executable.prepare(binding, self._usable(binding))
        return watched(run, binding, self._outputs, waits)

    def prepared(self) -> Any:
        """Return a function that runs the plan on its own arguments."""
        return self.prepare(self._binding)

    def _usable(self, binding: Binding) -> Stored:
        """Return what is stored for layouts that this call shares with the plan. Others are partitioned again."""
        return {
            p: x for p, x in self._stored.items() if binding.layout(p) is self._binding.layout(p)
        }

    def profile(
        self,
        *,
        against: Any = None,
        layout: str | None = None,
        path: Any = None,
        processors: int | None = None,
    ) -> Balance | TaskBalance:
        """Count how evenly the schedule, and others beside it, divide the plan's own layout. Returns an `ev.Balance`.

        It counts the atoms of each processor for a launch on a GPU. It does so on the host, without running anything.
        A kernel with a loop over tasks is run for it, in plain Python, on copies of the arguments, and the result is an
        `ev.TaskBalance`: how many workers are busy, and how many tasks wait, over time; and what they have really done
        in the latest call, if its schedule counted.

        against: schedules or their names; default: the built-in ones that can run the kernel.
        layout: the name of an argument; default: the first one that is looped over.
        path: a file for a drawing, .png or .svg.
        processors: of tasks, how many may run at once; default: as many as on a GPU.

        Raises InputError for other names and suffixes, and beyond 200,000 tasks; UnavailableError for `path` without
        Matplotlib.
        """
        return self._observed().profile(against, layout, path, processors)

    def trace(self, path: Any, *, processors: int | None = None) -> None:
        """Write which thread takes which atom at which step of a launch on a GPU, for the explorer of the site.

        It is computed on the host, as `profile` is. A pass over a layout is an entry of its own. The format is in
        docs/trace.md. A kernel with a loop over tasks is run for it, in plain Python, on copies of the arguments.

        path: a file that ends in .json or .json.gz.
        processors: instead of a launch, follow `schedule.partition(layout, processors)`.

        Raises InputError for other paths, for tasks without `processors` or in no fixed order, for items that several
        blocks own or whose tiles are split, and beyond 5,000,000 tiles and atoms; for a partition, whose processors
        Python walks one by one, beyond 200,000.
        """
        self._observed().trace(path, processors)

    def _observed(self) -> Observed:
        from .observed import Observed  # late, so that `import evenly` is quick

        return Observed(self.kernel, self.schedule, self._binding, self._phases, self._program)

    def tune(
        self,
        *,
        candidates: Any = None,
        seconds: float | None = None,
        compilations: int | None = None,
        save: bool = True,
        locality: bool = False,
    ) -> Plan:
        """Measure several schedules on this plan's own arguments, and return a plan under the fastest.

        The arguments are only read: copies take the place of arrays that the kernel stores into. `plan.tuning` of
        the new plan has the times (an `ev.Tuning`). Targets "cuda" and "cpu".

        candidates: schedules or their names; default: this plan's, and the built-in ones with several
          parameters, the most promising first. Those that cannot run the kernel are left out.
        seconds: about how long to measure, default 2 on "cuda" and 5 on "cpu". It ends sooner if it is clear which is
          the fastest. Compiling takes extra time.
        compilations: the most candidates that are compiled; default: all. What this process has compiled, or finds in
          the cache on disk, does not count.
        save: remember the winner, if it is a built-in schedule, for later plans under "auto".
        locality: also try the fastest schedule with renumbered columns, the most frequent first. The plan
          keeps a copy of the layout's ids, and each call first puts x into their order, by one more launch.
          This pays if gathers limit the speed, x is larger than the fast caches, and some columns are far
          more frequent than others (power laws). The results have the same bits. It applies to calls on the
          plan's own layout, whose columns may not change (`check`); other layouts run as they are.

        Raises InputError for a plan on another target, for names that are not schedules, if no candidate
        runs, and with `locality` for a kernel that does more with columns than x[A.column(k)].
        """
        from evenly.tuning.locality import renumbered
        from evenly.tuning.tune import Bounds, check, tune, warn_if_busy

        from .trials import subject

        bound = self._rebound(self.schedule)
        bounds = Bounds(seconds, compilations)
        tried = subject(bound, self.schedule, self._binding)
        check(tried, bounds)
        warn_if_busy(self.target)
        found, numbering = tune(tried, candidates, bounds, save, locality)
        plan = self._rebound(found.schedule).plan_as_auto(*self._binding.arguments.values())
        plan.tuning = found
        return renumbered(plan, numbering) if numbering else plan

    def _rebound(self, schedule: Schedule) -> Bound:
        """Return the kernel with this plan's choices, and a schedule."""
        from .bound import Bound

        maker, _ = self._maker
        options = {} if maker is None else maker.options
        return Bound(self.kernel, schedule, self.target, self.debug, options)

    def counters(self) -> list[Any]:
        """Run the plan's own arguments, and return what a profiler of a GPU would count, a `Counters` for each launch.

        They count coalescing, divergence, bank conflicts and atomics; see docs/simt.md. Target "simt" only.
        """
        if not targets.get(self.target).counts:
            raise InputError(
                "plan.counters",
                expected="a plan on target 'simt'",
                given=f"one on {self.target!r}",
                hint='kernel[schedule].on("simt").plan(...)',
            )
        return self._executable.counters(self._binding, self._stored)

    @property
    def launches(self) -> list[Any]:
        """The launches for the plan's own arguments, in order (target "cuda" only)."""
        if not self._on_gpu:
            raise InputError(
                "plan.launches", expected="a plan on target 'cuda'", given=f"one on {self.target!r}"
            )
        return self._executable.launches(self._binding, self._stored)

    @property
    def workspace(self) -> int:
        """Bytes of scratch memory that the plan's own arguments need."""
        kept: int = sum(buffer.size for buffer in self._stored.values())
        return self._executable.workspace_bytes(self._binding, self._stored) + kept

    @property
    def repeats(self) -> bool:
        """Whether the kernel has a while around loops over tiles, so that some launches are repeated."""
        return bool(self._phases.repeats)

    @property
    def deterministic(self) -> bool:
        """Whether the same plan gives the same bits on every run."""
        return not by_order(self._phases)


def _brief(value: Any) -> str:
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return f"{value.dtype} of shape {tuple(value.shape)}"
    return type(value).__name__
