"""What is measured of a kernel: plans under other schedules, which share its compiled code, and no scratch memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evenly.arguments import Binding
from evenly.choosing.task import of_call
from evenly.language.slicing import written_arrays
from evenly.language.specs import Spec
from evenly.schedules import Schedule
from evenly.tuning.tune import Subject

from .bound import Bound
from .entries import outside_captures
from .plan import Compiled, Plan


class Trial(Bound):
    """A kernel, bound to be measured."""

    __slots__ = ()

    def _compiled(
        self, specs: tuple[Spec, ...], schedule: Schedule, target: str, binding: Binding
    ) -> Compiled:
        made = super()._compiled(specs, schedule, target, binding)
        return made._replace(executable=made.executable.apart())


def subject(bound: Bound, schedule: Schedule, binding: Binding, called: bool = False) -> Subject:
    """Return what is to be measured of a kernel with these arguments, beginning with a schedule.

    bound: the kernel, its target and its options. called: for plain calls, which keep nothing of a structure.

    Raises InputError for arguments that do not fit the kernel, and while the caller's stream is captured.
    """
    kernel, target, specs = bound.kernel, bound.target, binding.specs()
    program = kernel.program(specs)
    written = frozenset(a.path for a in written_arrays(program) if not a.own)
    kernel.check(binding, program.requirements, written, target)
    if binding.place == "cuda":
        array = binding.value(next(path for _, path in binding.array_paths))
        hint = "measure before: a first call, or a plan, remembers the schedule"
        outside_captures(array, "schedules are measured", hint)

    def trial(schedule: Schedule, arguments: Iterable[Any]) -> Plan:
        made = Trial(kernel, schedule, target, options=bound.options)
        return made.checked(tuple(arguments)) if called else made.as_auto(tuple(arguments))

    outputs = sorted({path[0] for path in written})
    task = of_call(kernel.task(specs, not called), binding)
    return Subject(program, binding, outputs, schedule, target, bound.debug, task, trial, called)
