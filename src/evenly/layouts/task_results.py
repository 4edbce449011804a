"""What the latest call has done with a set of tasks (tasks.py): errors, the tasks that are left, and numbers."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evenly.errors import InputError
from evenly.interop import arrays
from evenly.interop.transfer import to_numpy, wait_for

# Where the numbers of workers are in `pool` (targets/gpu/device/taker.cuh, over_time.cuh).
CALL, FROM, BY_TASKS, LASTED = 1, 96, 208, 251
OF_ROUND, THERE, IDLE, PARTS, COUNTERS = 253, 254, 255, 256, 624
OF_CALL = 46  # the bits of a part below the number of the call
MOST_CALLS = (1 << 63 - OF_CALL) - 1
WIDTH, STEPS = 60, "▁▂▃▄▅▆▇█"  # of a curve
LEAST_BASE = 1 << 40  # what the fewest tasks of a worker are counted down from


class Counts(NamedTuple):
    """What workers have done: warps, or groups of several warps.

    workers: how many there were; of several rounds, their sum; of_round: in each. tasks: that they have run; fewest,
    most: that one has run, in a round. handed: tasks that came from another worker: by mail, or stolen. failed:
    compare-and-swaps that failed, attempts at a lock among them. in_vain: how often a worker has found no task.
    at_once: the most tasks that waited or ran at a time; under TaskPool, that one stack had. by_tasks: how many workers
    have run 0 tasks, 1, 2 or 3, 4 to 7, and so on, in a round. idle, there: seconds in which workers have waited for
    tasks, and in which they were there, of all together; 0 on `simt`, whose clock stands still. lasted: seconds from
    the first worker's begin to the last one's end; parts: in each part of that time, the seconds in which workers had
    tasks, of all together (`busy` has the same as a curve). Both are measured on GPUs alone.
    """

    workers: int
    tasks: int
    fewest: int
    most: int
    handed: int
    failed: int
    in_vain: int
    at_once: int
    by_tasks: tuple[int, ...]
    of_round: int = 0
    idle: float = 0.0
    there: float = 0.0
    lasted: float = 0.0
    parts: tuple[float, ...] = ()

    @property
    def idle_share(self) -> float:
        """The share of the workers' time in which they have waited for tasks, 0 .. 1."""
        return self.idle / self.there if self.there else 0.0

    def busy(self, points: int) -> npt.NDArray[np.float64]:
        """Return how many workers had tasks in each of `points` equal parts of the time: (points,), means.

        The later, the coarser: a part of the time is measured as a 16th of the power of two below its begin.
        """
        if not self.lasted:
            return np.zeros(points)
        n = np.arange(1, len(self.parts) + 1)
        units = np.where(n < 16, n, (n % 16 + 16.0) * 2.0 ** (n // 16 - 1))
        edges = np.minimum(np.concatenate([[0], 1024e-9 * units]), self.lasted)
        so_far = np.concatenate([[0], np.cumsum(self.parts)])
        at = np.linspace(0, self.lasted, points + 1)
        means: npt.NDArray[np.float64] = np.diff(np.interp(at, edges, so_far))
        return means * points / self.lasted

    def sketch(self) -> str:
        """Return a line for each entry of by_tasks, with a bar of up to 40 signs, and a curve of `busy` on GPUs."""
        later = (f"{1 << i:,} to {(2 << i) - 1:,}" for i in range(1, len(self.by_tasks) - 1))
        names = ["0", "1", *later][: len(self.by_tasks)]
        wide, whole = max(map(len, names)), max(self.by_tasks)
        lines = [f"{'tasks':>{wide}}  workers"]
        for name, n in zip(names, self.by_tasks, strict=True):
            lines.append(f"{name:>{wide}}  {n:>7,} {'#' * -(-40 * n // whole)}".rstrip())
        if self.lasted:
            over = f"busy workers over {1e3 * self.lasted:.3f} ms, all at full height"
            lines += ["", over, self.curve(WIDTH)]
        return "\n".join(lines)

    def curve(self, points: int, marks: str = STEPS) -> str:
        """Return `busy` as a line of signs, all workers at full height."""
        return drawn(self.busy(points) / max(self.of_round, 1), marks)


def drawn(shares: npt.NDArray[np.float64], marks: str) -> str:
    """Return a curve of shares, 0 .. 1, as a line of signs; 0 as a blank."""
    heights = np.ceil(shares * len(marks) - 1e-9).astype(int)
    return "".join(" " if h <= 0 else marks[min(h, len(marks)) - 1] for h in heights)


class Results:
    """What a set of tasks says on the host. It has the fields of TaskSet."""

    firsts: int
    capacity: int
    spill: int
    walked: Any
    pushed: Any
    full: Any
    pool: Any
    names: tuple[str, ...]
    placed: tuple[str, ...]

    def launched(self, name: str, wait: Callable[[], None] | None) -> None:
        """Have whoever looks at the set first wait for a call. wait: does that, and Ctrl-C ends it; None: it is done.

        name: of the call's parameter, for errors.
        """
        _CALLED[self] = name
        if wait is not None:
            _LAUNCHED[self] = wait

    def forget(self) -> None:
        """Forget what the latest call has done, and the tasks that it has left."""
        for array in (self.walked, self.pushed, self.full, self.pool):
            _clear(array)

    def check(self, name: str = "") -> None:
        """Raise InputError if there was no room for all tasks. On a GPU this waits for the device.

        Calls wait and check by themselves, unless wait=False.

        name: what the error calls the set; default: as the call that did not wait.
        """
        count = self._left()
        if count <= self.capacity:
            return
        name = name or _CALLED.get(self, "T")
        _clear(self.full)
        kept = self.capacity + self.spill
        room = f"ev.tasks(..., capacity={count}) has room for them"
        if count > kept:
            room += f", spill={count - self.capacity} would have kept all"
        raise InputError(
            name,
            expected=f"at most {self.capacity} tasks that wait at a time",
            given=f"{count}, of which {count - kept} are lost" if count > kept else str(count),
            hint=f"{room}; first={name}.remaining goes on with those that are left",
        )

    @property
    def remaining(self) -> npt.NDArray[Any]:
        """The tasks that are left by a call for which there was no room: an array of records with the fields.

        It is empty after a call that has run all tasks. On a GPU this waits for the device.
        """
        count = min(self._left(), self.capacity + self.spill)
        spots = np.arange(count) + int(to_numpy(self.walked)[2])
        spots[self.capacity :] = self.firsts + self.capacity + np.arange(self.capacity, count)
        columns = {name: to_numpy(getattr(self, c)) for name, c in self._columns()}
        left = np.empty(count, [(name, column.dtype) for name, column in columns.items()])
        for name, column in columns.items():
            left[name] = column[spots]
        return left

    @property
    def tasks_run(self) -> int:
        """How many tasks the latest call has run. On a GPU this waits for the device."""
        return self._walked(3)

    @property
    def most_waiting(self) -> int:
        """The most tasks in a list at the end of a round of the latest call. On a GPU this waits for the device."""
        return self._walked(4)

    @property
    def counts(self) -> Counts:
        """What the workers of the latest call have done. On a GPU this waits for the device.

        Raises InputError if its schedule did not count.
        """
        self._wait()
        pool = [int(v) for v in to_numpy(self.pool)]
        got, failed, in_vain, at_once, most, least, workers = pool[FROM:BY_TASKS:16]
        by_tasks = pool[BY_TASKS : BY_TASKS + 1 + most.bit_length()]
        if workers == 0:
            raise InputError(
                "counts",
                expected="a call under a schedule that counts, such as ev.TaskPool(counted=True)",
                given="none",
                hint="what runs tasks in rounds counts nothing, such as target 'python'",
            )
        few = LEAST_BASE - least
        given = workers, self.tasks_run, few, most, got, failed, in_vain, at_once
        idle, there, lasted = (pool[place] / 1e9 for place in (IDLE, THERE, LASTED))
        parts = _of_call(pool[PARTS:], pool[CALL])
        return Counts(*given, tuple(by_tasks), pool[OF_ROUND], idle, there, lasted, parts)

    def _walked(self, number: int) -> int:
        self._wait()
        return int(to_numpy(self.walked)[number])

    def _left(self) -> int:
        self._wait()
        return int(to_numpy(self.pushed)[0])

    def _wait(self) -> None:
        wait = _LAUNCHED.pop(self, None)
        if wait is not None:
            wait()
        wait_for(self.pushed)  # whatever stream the kernel ran on

    def _columns(self) -> list[tuple[str, str]]:
        return list(zip(self.names, self.placed, strict=True))


# The waiting for the latest call of a set, if nobody has waited for it yet.
_LAUNCHED: weakref.WeakKeyDictionary[Results, Callable[[], None]] = weakref.WeakKeyDictionary()
# What the latest call that did not wait names a set.
_CALLED: weakref.WeakKeyDictionary[Results, str] = weakref.WeakKeyDictionary()


def _clear(array: Any) -> None:
    if arrays.kind(array) == "device":
        array.fill_zero()
    else:
        array[...] = 0


def _of_call(words: list[int], call: int) -> tuple[float, ...]:
    """Return the seconds in each part of the time, through the last part that has any in this call."""
    found = [(w & (1 << OF_CALL) - 1) / 1e9 if w >> OF_CALL == call else 0.0 for w in words]
    while found and not found[-1]:
        found.pop()
    return tuple(found)
