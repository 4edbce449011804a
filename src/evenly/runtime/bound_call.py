"""A plan with its arguments, for one thread: calling it launches, and does nothing else.

The shape is that of plans in FFT libraries and of analysed systems in solvers: what is the same for all
calls is settled once, and the loop around them pays for none of it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NoReturn

from evenly.errors import InputError


class BoundCall:
    """What `plan.bind(*args)` gives: `call()` runs the plan on these arguments. Values are read live.

    It keeps the arrays alive, and has scratch memory of its own, until it is closed: at the end of `with`,
    or by `close()`. It belongs to the thread that bound it.

    Raises InputError where it is called after that, called or closed by another thread, or pickled.
    """

    __slots__ = ("_kept", "_run", "_thread", "name")

    def __init__(self, run: Callable[[], None], kept: Any, name: str) -> None:
        self._run, self._kept, self.name = run, kept, name
        self._thread = threading.get_ident()

    def __call__(self) -> None:
        if threading.get_ident() != self._thread:
            self._refuse_thread()
        kept = self._kept  # also where a signal's handler closes the call meanwhile
        self._run()
        del kept

    def close(self) -> None:
        """Let go of the arrays and of the memory. Closing it again does nothing."""
        if threading.get_ident() != self._thread:  # whose call may be running
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
