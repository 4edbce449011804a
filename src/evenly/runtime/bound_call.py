"""`BoundCall`: a plan with its arguments, for one thread. Calling it launches, and does nothing else.

Plans of FFT libraries and analysed systems of solvers work the same way: what is the same for all calls is
done once, outside the loop.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NoReturn

from evenly.errors import InputError


class BoundCall:
    """The result of `plan.bind(*args)`: `call()` runs the plan on these arguments, with the values that they have then.

    It keeps the arrays alive and owns scratch memory until it is closed, by `close()` or at the end of
    `with`. It belongs to the thread that bound it.

    Raises InputError if it is called after that, called or closed by another thread, or pickled.
    """

    __slots__ = ("_kept", "_run", "_thread", "name")

    def __init__(self, run: Callable[[], None], kept: Any, name: str) -> None:
        self._run, self._kept, self.name = run, kept, name
        self._thread = threading.get_ident()

    def __call__(self) -> None:
        if threading.get_ident() != self._thread:
            self._refuse_thread()
        kept = self._kept  # alive even if a signal handler closes the call meanwhile
        self._run()
        del kept

    def close(self) -> None:
        """Release the arrays and the memory. Closing it again does nothing."""
        if threading.get_ident() != self._thread:  # the owner's call may be running
            self._refuse_thread()

        def closed() -> None:
            raise InputError(self.name, expected="an open call", given="one that has been closed")

        self._run, self._kept = closed, None

    def _refuse_thread(self) -> NoReturn:
        raise InputError(
            self.name,
            expected="the thread that bound the call",
            given="another thread",
            hint="let each thread bind its own: plan.bind(...)",
        )

    def __reduce__(self) -> NoReturn:
        raise InputError(
            f"pickling {self.name}",
            expected="a plan",
            given="a bound call, which belongs to its process",
            hint="pickle the plan, and bind it in the other process",
        )

    def __enter__(self) -> BoundCall:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{self.name}>"
