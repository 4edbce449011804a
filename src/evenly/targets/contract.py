"""What a target's `compile` gives to plans: an executable."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenly.arguments import Binding
    from evenly.language import ir

# What is kept of layouts, by their paths: arrays of bytes that have a `size`.
Stored = dict["ir.Path", Any]


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
