"""Target `cuda`: phases emitted as CUDA C++, compiled by NVRTC, launched on the caller's stream."""

from __future__ import annotations

from typing import Any

from evenly.errors import InputError, UnavailableError
from evenly.language.ir import Path
from evenly.language.phases import Phases
from evenly.language.specs import LayoutSpec

from .compile import require


class CudaTarget:
    """NVIDIA GPUs of compute capability 8.0 and newer, through cuda.core."""

    name = "cuda"

    def require(self) -> None:
        """Raises UnavailableError with what is missing and how to get it."""
        core = require()
        try:
            count = len(core.Device.get_all_devices())
        except Exception as error:  # the driver's own errors, and a missing driver library
            missing = type(error).__name__ == "DynamicLibNotFoundError"
            said = (
                "no NVIDIA driver is installed"
                if missing
                else f"no usable NVIDIA driver ({_first_line(error)})"
            )
            raise UnavailableError(
                "target 'cuda'", said, "install the NVIDIA driver; meanwhile use target 'cpu'"
            ) from None
        if count == 0:
            raise UnavailableError(
                "target 'cuda'",
                "no NVIDIA GPU is visible",
                "check nvidia-smi and CUDA_VISIBLE_DEVICES; meanwhile use target 'cpu'",
            )

    def compile(
        self,
        phases: Phases,
        schedule: Any,
        layouts: dict[Path, LayoutSpec],
        wide: bool,
        debug: bool,
    ) -> Any:
        if debug:
            raise InputError(
                "debug",
                expected="target 'cpu' or 'python', which check indices and divisions",
                given="target 'cuda', which does not yet",
                hint="run it there on the same data first",
            )
        from .executable import CudaExecutable

        return CudaExecutable(phases, schedule, layouts, wide)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
