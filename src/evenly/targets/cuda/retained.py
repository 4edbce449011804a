"""What launches need that were captured into a CUDA graph: it stays as long as the graph does.

A graph refers to memory and kernels by their addresses. So it gets a user object (cuUserObjectCreate), which the driver
destroys with the last graph that was made of it. The driver does so on a thread of its own, which may neither call CUDA
nor wait for Python, at exit least of all. So it only posts a semaphore of the C library, and what belongs to that is
let go of when something is retained or allocated next.
"""

from __future__ import annotations

import ctypes
import functools
import threading
from typing import Any

from evenly.errors import InternalError

SEMAPHORE = 64  # bytes: at least sizeof(sem_t)

# By the address of a semaphore. The C library allocated it: memory of Python's is gone at exit, and drivers still post.
_held: dict[int, Any] = {}
_lock = threading.Lock()


def retain(stream: Any, what: Any) -> None:
    """Keep `what` as long as the graph that this stream is being captured into, and graphs made of that.

    Nothing happens if it is not being captured.
    """
    from cuda.bindings import driver

    active = driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE
    error, status, _, graph, *_ = driver.cuStreamGetCaptureInfo(stream)
    if error or status != active:
        return
    let_go()
    at = _library().malloc(SEMAPHORE)
    _library().sem_init(at, 0, 0)
    flag = driver.CUuserObject_flags.CU_USER_OBJECT_NO_DESTRUCTOR_SYNC
    post = driver.CUhostFn(_pointer(_library().sem_post))
    error, made = driver.cuUserObjectCreate(at, post, 1, int(flag))
    if not error:
        with _lock:
            _held[at] = what
        move = driver.CUuserObjectRetain_flags.CU_GRAPH_USER_OBJECT_MOVE
        (error,) = driver.cuGraphRetainUserObject(graph, made, 1, int(move))
    if error:
        raise InternalError(f"a CUDA graph could not keep scratch memory: {error.name}")


def let_go() -> None:
    """Let go of what belongs to graphs that are no more."""
    with _lock:
        gone = [at for at in _held if _library().sem_trywait(at) == 0]
        dropped = [_held.pop(at) for at in gone]
        for at in gone:
            _library().free(at)
    del dropped  # outside of the lock, since it frees memory


@functools.cache
def _library() -> Any:
    library = ctypes.CDLL(None)
    library.malloc.argtypes, library.malloc.restype = [ctypes.c_size_t], ctypes.c_void_p
    for name in "free", "sem_post", "sem_trywait":
        getattr(library, name).argtypes = [ctypes.c_void_p]
    library.sem_init.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_uint]
    return library


def _pointer(function: Any) -> int:
    return int(ctypes.cast(function, ctypes.c_void_p).value or 0)
