"""Make the C++ text of a program for the host: the text that `cuda` compiles, after the host's primitives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evenly.language.diagnostics import Location
from evenly.targets.gpu import headers
from evenly.targets.gpu.emit.code import KernelCode

from .cuda_source import for_host
from .report import Origins

INCLUDES = ('#include "gpu_host.hpp"', *(f'#include "{name}"' for name in headers.ORDER))


def program_text(kernels: Sequence[KernelCode]) -> str:
    """Return all kernels in one text, each in its own namespace, since their structs have the same names."""
    parts = [*INCLUDES]
    for number, kernel in enumerate(kernels):
        parts += [
            f"namespace kernel_{number} {{",
            f'#line 1 "{file_of(kernel.name)}"',
            kernel.source.rstrip("\n"),
            f"EV_ENTRY({kernel.name})",
            "}",
        ]
    return "\n".join(parts) + "\n"


HAND_WRITTEN = "source.cu"


def hand_written_text(text: str, kernels: Iterable[str]) -> str:
    """Return hand-written source, with all headers and CUDA's names."""
    entries = [f"EV_ENTRY({name})" for name in kernels]
    text = for_host(text)
    return (
        "\n".join(
            [*INCLUDES, '#include "cuda_names.hpp"', f'#line 1 "{HAND_WRITTEN}"', text, *entries]
        )
        + "\n"
    )


def file_of(kernel: str) -> str:
    """Return the file name of a kernel's emitted source in debug information."""
    return f"{kernel}.cu"


def origins_of(kernels: Sequence[KernelCode]) -> Origins:
    by_file = {file_of(k.name): k for k in kernels}
    texts = {name: tuple(k.source.splitlines()) for name, k in by_file.items()}

    def python(file: str, line: int) -> Location | None:
        kernel = by_file.get(file)
        if kernel is None or not 0 < line <= len(kernel.origins):
            return None
        return kernel.origins[line - 1]

    return Origins(texts, python)
