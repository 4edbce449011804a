"""What `plan.profile()` and `plan.trace()` look at: a plan's own call, on the host."""

from __future__ import annotations

import copy
import dataclasses
from dataclasses import dataclass
from typing import Any

from evenly.arguments import Binding
from evenly.balance.balance import Balance
from evenly.balance.courses import TaskBalance, counts_of, of_tasks, task_balance
from evenly.balance.pictures import check_path
from evenly.balance.profile import beside, has_tasks, profile
from evenly.balance.trace import check_processors, trace
from evenly.errors import InputError
from evenly.interop import arrays
from evenly.interop.transfer import to_numpy
from evenly.language import ir
from evenly.language.cutting import needs_whole_tiles
from evenly.language.phases import Phases
from evenly.layouts.contract import is_layout
from evenly.layouts.moving import move
from evenly.schedules import Schedule


@dataclass(frozen=True, slots=True)
class Observed:
    kernel: Any
    schedule: Schedule
    binding: Binding
    phases: Phases
    program: ir.Program

    def profile(
        self, against: Any, layout: str | None, path: Any, processors: int | None
    ) -> Balance | TaskBalance:
        """Count how evenly schedules divide the work, as `Plan.profile` says."""
        if path is not None:
            check_path(path)
        if has_tasks(self.phases):
            balance: Balance | TaskBalance = self._of_tasks(against, layout, processors)
        elif processors is not None:
            expected = "none but for a kernel with a loop over tasks"
            raise InputError("processors", expected=expected, given=repr(processors))
        else:
            whole_tiles = needs_whole_tiles(self.program) is not None
            schedules = beside(self.schedule, against, whole_tiles)
            balance = profile(self.kernel.name, self.binding, self.phases, schedules, layout)
        if path is not None:
            balance.save(path)
        return balance

    def _of_tasks(self, against: Any, layout: str | None, processors: int | None) -> TaskBalance:
        if processors is not None:
            check_processors(processors)
        schedules = of_tasks(self.schedule, against)
        made = task_balance(self.kernel.name, self._tasks_run(), schedules, layout, processors)
        return dataclasses.replace(made, counts=counts_of(self.binding.arguments[made.tasks]))

    def trace(self, path: Any, processors: int | None) -> None:
        """Write who takes which atom at which step, as `Plan.trace` says."""
        given = self.binding, self.phases, self.schedule
        trace(self.kernel.source, *given, path, processors, self._tasks_run)

    def _tasks_run(self) -> list[Any]:
        """Run the kernel in plain Python on copies of the arguments; what each loop over tasks has run."""
        from evenly.targets.python.tasks import recorded

        copied = {n: copy.deepcopy(_on_host(v)) for n, v in self.binding.arguments.items()}
        with recorded() as ran:
            self.kernel.on("python")(**{"wait": False, **copied})  # an output may be full by now
        for name, value in copied.items():
            if getattr(type(value), "tasks", False):
                value.check(name)
        return ran


def _on_host(value: Any) -> Any:
    """Return an argument in CPU memory."""
    if is_layout(value):
        return move(value, "cpu")
    return to_numpy(value) if arrays.is_array(value) else value
