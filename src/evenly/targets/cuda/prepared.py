"""Launches with all arguments packed for the driver, so that a call costs little more than the driver's own."""

from __future__ import annotations

import copy
import ctypes
import functools
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from evenly.errors import InternalError
from evenly.interop.context import make_current

from .capture import may_be_captured
from .compile import require
from .retained import retain
from .working import Work

if TYPE_CHECKING:
    from .executable import Launch


INTEGERS = int, np.integer


class Together(tuple[Any, ...]):
    """The arguments of cuLaunchKernel for a launch whose blocks wait for each other."""

    __slots__ = ()


class Prepared:
    """Launches on one stream, in sequence. Calling the object launches them; several threads may call it.

    It keeps the scratch memory alive that they use, but not the arrays: the caller has to do that. So does a graph that
    they are captured into.
    turn: a lock that is held while several kernels are launched. Launches of other threads, which share the stream's
    scratch memory, can then not come between them.
    items: the arguments of cuLaunchKernel for each launch. They are `Together` if the launch is cooperative.
    """

    __slots__ = (
        "_arguments",
        "_kept",
        "_launch",
        "_status",
        "device",
        "items",
        "only_device",
        "stream",
        "turn",
    )

    def __init__(self, launches: list[Launch], device: Any, stream: Any, turn: Lock) -> None:
        from cuda.bindings import driver

        self.only_device = only_one_device()
        self._launch, self.turn = driver.cuLaunchKernel, turn
        self.device, self.stream = device, driver.CUstream(int(stream.handle))
        self._status = driver.cuStreamIsCapturing if may_be_captured(int(self.stream)) else None
        self._kept = [(item.memory[0], item.kernel) for item in launches]
        self._arguments = [packed(item.arguments) for item in launches]
        self.items = [
            (Together if item.cooperative else tuple)(
                (
                    driver.CUfunction(int(item.kernel.handle)),
                    *item.grid,
                    *item.block,
                    0,
                    self.stream,
                    addresses,
                    0,
                )
            )
            for item, (_, _, addresses) in zip(launches, self._arguments, strict=True)
        ]

    def __call__(self) -> None:
        if not self.only_device:
            self.device.set_current()
        if self.captured:
            self.retain()
        if len(self.items) == 1:
            self.launch(self.items)
        else:
            with self.turn:
                self.launch(self.items)

    @property
    def work(self) -> Work:
        return Work(self.device, self.stream)

    @property
    def captured(self) -> bool:
        """Whether the stream is being captured into a CUDA graph."""
        return self._status is not None and any(self._status(self.stream))

    def retain(self) -> None:
        """Let the graph that the stream is being captured into keep the scratch memory and the kernels."""
        if self._status is not None and self._kept:
            retain(self.stream, self._kept)

    def launch(self, items: list[tuple[Any, ...]]) -> None:
        """Launch some of `items`, in order. The caller holds `turn`."""
        for item in items:
            launch, given = self._launch, item
            if type(item) is Together:
                launch, given = launch_together(), item[:-1]
            (error,) = launch(*given)
            if error:
                # Most often, the thread has no context yet.
                make_current(self.device)
                (error,) = launch(*given)
                if error:
                    raise InternalError(f"a kernel could not be launched: {error.name}")


class Movable(Prepared):
    """Launches whose kernels are the same wherever the arrays lie. own: the names of the arguments that are arrays."""

    __slots__ = ("_places",)

    def __init__(
        self, launches: list[Launch], device: Any, stream: Any, turn: Lock, own: list[str]
    ) -> None:
        super().__init__(launches, device, stream, turn)
        which = {(name,): k for k, name in enumerate(own)}
        # Which of a launch's arguments is the address of which array.
        self._places = [
            [
                (i, which[p.path])
                for i, p in enumerate(launch.code.parameters)
                if p.kind == "array" and p.path in which
            ]
            for launch in launches
        ]

    def moved(self, addresses: tuple[int, ...]) -> Movable:
        """Return the same for arrays of the same types and shapes elsewhere on the device."""
        made = copy.copy(self)
        made._arguments, made.items = [], []
        for item, (values, _, _), places in zip(
            self.items, self._arguments, self._places, strict=True
        ):
            there = type(values).from_buffer_copy(values)
            for i, which in places:
                there[2 * i] = addresses[which]
            made._arguments.append(addressed(there))
            made.items.append(type(item)((*item[:-2], made._arguments[-1][2], item[-1])))
        return made


def launch_together() -> Any:
    """Return the driver's function for cooperative launches, which takes no `extra`."""
    from cuda.bindings import driver

    return driver.cuLaunchCooperativeKernel


@functools.cache
def only_one_device() -> bool:
    return len(require().Device.get_all_devices()) == 1


def packed(arguments: tuple[Any, ...]) -> tuple[Any, Any, int]:
    """Pack arguments for the driver, as `addressed` returns them."""
    values = (ctypes.c_int64 * max(2 * len(arguments), 1))()  # 16 bytes each, as complex128 needs
    start = ctypes.addressof(values)
    for i, value in enumerate(arguments):
        if isinstance(value, INTEGERS):  # a narrow one has its bytes first
            values[2 * i] = int(value)
        else:
            ctypes.memmove(start + 16 * i, value.tobytes(), value.itemsize)
    return addressed(values)


def addressed(values: Any) -> tuple[Any, Any, int]:
    """Return packed values, the array of their addresses, and that array's address."""
    start, size = ctypes.addressof(values), ctypes.sizeof(values)
    places = range(start, start + size, 16)
    addresses = (ctypes.c_void_p * len(places))(*places)
    return values, addresses, ctypes.addressof(addresses)
