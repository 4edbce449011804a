"""`Bound`: a kernel together with a schedule, a target and options. It prepares calls and plans."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from evenly import targets
from evenly.arguments import Binding, accept, is_wide
from evenly.choosing.auto import choose
from evenly.choosing.equal import without_offsets
from evenly.choosing.look import forget
from evenly.choosing.task import of_call
from evenly.errors import InputError
from evenly.hooks import hook
from evenly.language.specs import Spec
from evenly.schedules import CHOSEN, Schedule, by_name
from evenly.targets.contract import Executable
from evenly.targets.workspace import limit_of
from evenly.tuning.recall import recall
from evenly.tuning.tuned import Tuning

from .call_cache import CallCache
from .parameters import SO_WAIT
from .plan import Compiled, Plan

if TYPE_CHECKING:
    from evenly.tuning.tune import Subject

    from .kernel import Kernel


@hook
def collected(
    bound: Bound, args: tuple[Any, ...], named: dict[str, Any], max_workspace: int | None
) -> tuple[Any, ...]:
    """Run a kernel that emits (evenly/collect.py)."""
    raise NotImplementedError


MOST_KINDS = 64  # how many kinds of calls are remembered; a kind is the choices made and the arguments' Python types


class Bound:
    """A kernel with some of its choices made: the schedule, the target, options.

    This is not a data class, because every call makes one.
    """

    __slots__ = ("debug", "kernel", "options", "schedule", "target", "waits")

    def __init__(
        self,
        kernel: Kernel,
        schedule: Any = "auto",
        target: str = "auto",
        debug: bool = False,
        options: dict[str, Any] | None = None,
        waits: bool = True,
    ) -> None:
        if not isinstance(target, str):  # other targets are checked when they are called
            targets.get(target)
        self.kernel, self.target = kernel, target
        self.schedule = by_name(schedule, auto=True)
        self.debug, self.options, self.waits = debug, options or {}, waits

    def __reduce__(self) -> Any:
        return type(self), (self.kernel, self.schedule, self.target, self.debug, self.options)

    def __getitem__(self, schedule: Any) -> Bound:
        return type(self)(self.kernel, schedule, self.target, self.debug, self.options)

    def on(self, target: str, *, debug: bool = False, **options: Any) -> Bound:
        return type(self)(self.kernel, self.schedule, target, debug, options)

    def __call__(self, /, *args: Any, **named: Any) -> None:
        """Run the kernel on these arguments.

        The last calls are remembered: the addresses and types of their arguments, the schedule that was chosen and
        what was launched. Nothing that follows from a matrix's structure is remembered.

        wait: whether a call with tasks or a frontier waits for the device, to look whether they had room; default:
          True. (If the kernel has a parameter of this name, it is that.)
        """
        if named or not self.repeat(*args):
            self.run(args, named)

    def run(self, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        """Run a call that the call cache did not find."""
        if not self.kernel.signature.waits(named) and self.waits:
            made = self.kernel, self.schedule, self.target, self.debug, self.options
            type(self)(*made, waits=False)(*given, **named)
            return
        args = self.kernel.arranged(given, named)
        if (args is not given and self.repeat(*args)) or self._repeat_alike(args):
            return
        plan = self._prepare(args)
        plan.check_arguments(plan._binding)
        prepared = plan.prepare(plan._binding, self.waits)
        if plan.remembers and not self.options:
            self._remember(args, plan, prepared)
        prepared()

    def once(self, *args: Any) -> None:
        """Run on arguments that are known to be valid and will not be passed again. Check nothing, remember nothing."""
        plan = self._prepare(args)
        plan.prepare(plan._binding)()

    def collect(
        self, /, *args: Any, max_workspace: int | None = None, **named: Any
    ) -> tuple[Any, ...]:
        """Run the kernel, and return what it emits; see `Kernel.collect`."""
        return collected(self, args, named, max_workspace)

    def repeat(self, *args: Any) -> bool:
        """Run a remembered call with such arguments, and return True; return False if there is none."""
        cache = self._cache_for(args)
        return cache is not None and cache.repeat(*args)

    def _repeat_alike(self, args: tuple[Any, ...]) -> bool:
        """The same, but layouts may have been made anew."""
        cache = self._cache_for(args)
        return cache is not None and cache.repeat_alike(*args)

    def _cache_for(self, args: tuple[Any, ...]) -> CallCache | None:
        key = self.schedule, self.target, self.debug, self.waits, *map(type, args)
        return None if self.options else self.kernel.call_caches.get(key)

    def _remember(self, args: tuple[Any, ...], plan: Plan, prepared: Any) -> None:
        kernel, device = self.kernel, plan._binding.device
        memory = plan.memory(plan._binding, prepared)
        key = self.schedule, self.target, self.debug, self.waits, *map(type, args)
        cache = kernel.call_caches.get(key)
        # Layouts of one class may hold arrays of another library, which this cache cannot read.
        if cache is None or not cache.remember(args, prepared, device, plan.reads, memory):
            if len(kernel.call_caches) >= MOST_KINDS:
                kernel.call_caches.clear()
            also = plan._executable.also_decides(plan._binding)
            by_memory = self.schedule not in CHOSEN
            cache = kernel.call_caches[key] = CallCache(args, device, also, by_memory)
            cache.remember(args, prepared, device, plan.reads, memory)

    @property
    def known(self) -> Callable[..., bool]:
        """Return a function that runs a remembered call. It returns whether there was one."""
        return self.repeat

    def plan(self, /, *args: Any, **named: Any) -> Plan:
        """Choose a schedule and compile for these arguments."""
        return self.plan_of(self.kernel.arranged(args, named))

    def plan_of(self, args: tuple[Any, ...]) -> Plan:
        """Make a plan for the values of all parameters, in their order."""
        if self.schedule in CHOSEN:
            return self.plan_as_auto(*args)
        return self.checked(args).store().made_by(self, as_auto=False)

    def plan_as_auto(self, *args: Any) -> Plan:
        """Make a plan for a schedule that was chosen by measuring, with the other steps that `auto` takes."""
        forget(args)  # the layouts may have changed since their tiles were measured
        return self.as_auto(args)

    def as_auto(self, args: tuple[Any, ...]) -> Plan:
        """Make such a plan where the layouts are as they were."""
        plan = self.checked(args)
        if not targets.get(plan.target).reference:  # this one reads and checks all offsets
            given = plan._executable, plan._program, plan._binding
            quick = without_offsets(*given, lambda binding: self._for(plan, binding))
            if quick is not None:
                plan = plan.run_by(lambda _: quick)
        return plan.store().made_by(self, as_auto=True)

    def checked(self, args: tuple[Any, ...]) -> Plan:
        """Make a plan for arguments that it has checked. It stores nothing yet."""
        plan = self._prepare(args, plans=True)
        plan.check_arguments(plan._binding)
        return plan

    def _prepare(self, args: tuple[Any, ...], plans: bool = False) -> Plan:
        """Make a plan that stores nothing yet.

        plans: whether "auto" may use what tune() has measured, and schedules that pay only in a plan.
        """
        given = self.kernel.named(args)
        binding = Binding({name: accept(value, name, plans) for name, value in given.items()})
        return self.made(binding, plans)

    def made(self, binding: Binding, plans: bool = False) -> Plan:
        """Make a plan of arguments that are bound. It stores nothing yet. For `plans` see `_prepare`."""
        target = self._target(binding)
        specs = binding.specs()
        schedule, tuning = self._chosen(binding, specs, target, plans)
        made = self._compiled(specs, schedule, target, binding)
        return Plan(self.kernel, schedule, target, made, binding, specs, self.debug, tuning)

    def _for(self, plan: Plan, binding: Binding) -> Executable:
        """Return the plan's executable, compiled for other arguments."""
        specs = binding.specs()
        return self._compiled(specs, plan.schedule, plan.target, binding).executable

    def _compiled(
        self, specs: tuple[Spec, ...], schedule: Schedule, target: str, binding: Binding
    ) -> Compiled:
        made = self.kernel.compiled(specs, schedule, target, is_wide(binding), self.debug)
        if not self.options:
            return made
        return made._replace(executable=self._configured(made.executable, target))

    def _configured(self, executable: Executable, target: str) -> Executable:
        options = dict(self.options)
        if "max_workspace" in options:
            executable = executable.limited(limit_of(options.pop("max_workspace")))
        if not options:
            return executable
        configured = executable.configured(options)
        if configured is None:
            name = next(iter(options))
            raise InputError(
                name,
                expected=f"no options for target {target!r}",
                given=f"{name}={options[name]!r}",
                hint=SO_WAIT
                if name == "wait"
                else "seed=, seeds= and order= are options of target 'simt'",
            )
        return configured

    def _target(self, binding: Binding) -> str:
        target = binding.place if self.target == "auto" else self.target
        return targets.get(target).name

    def _chosen(
        self, binding: Binding, specs: tuple[Spec, ...], target: str, plans: bool
    ) -> tuple[Schedule, Tuning | None]:
        """Return the schedule, and tune()'s measurements if the schedule was taken from them."""
        if self.schedule not in CHOSEN:
            return by_name(self.schedule), None
        program = self.kernel.program(specs)
        if self.schedule == "tuned":
            from evenly.tuning.net import tuned  # late, so that `import evenly` is quick

            found = tuned(
                program, binding, target, not plans, lambda: self._subject(binding, target, plans)
            )
            return found.schedule, found
        task = of_call(self.kernel.task(specs, plans), binding)
        tuning = recall(program, binding, target, task) if plans else None
        if tuning:
            return tuning.schedule, tuning
        return choose(binding.first_layout(), target, task), None

    def _subject(self, binding: Binding, target: str, plans: bool) -> Subject:
        """Return what is measured for "tuned", beginning with the choice of `auto`."""
        from .trials import subject

        task = of_call(self.kernel.task(binding.specs(), plans), binding)
        schedule = choose(binding.first_layout(), target, task)
        bound = Bound(self.kernel, schedule, target, self.debug, self.options)
        return subject(bound, schedule, binding, called=not plans)


class ByName(Bound):
    """A kernel with keyword-only parameters, bound. No call is looked up by its positional values alone."""

    __slots__ = ()

    def __call__(self, /, *args: Any, **named: Any) -> None:
        self.run(args, named)

    @property
    def known(self) -> Callable[..., bool]:
        return lambda *args: False
