"""Target `cuda`: emit phases as CUDA C++, compile them with NVRTC, and launch them on the caller's stream.

compile, loading                   machine code: made, kept on disk, loaded on a device
executable, measuring, memory      a program on a device: memory, lengths of scratch arrays
prepared, looping                  launches packed for the driver; a while around some of them
graph, conditional, capture, retained   CUDA graphs
working                            waiting for a stream, so that Ctrl-C acts
place                              the device of a call
scan, copies                       subsets made on the device; what `tune` measures on
"""

from __future__ import annotations

from evenly.arguments import Binding
from evenly.errors import UnavailableError
from evenly.language.ir import Path
from evenly.language.phases import Phases
from evenly.language.specs import LayoutSpec
from evenly.schedules.contract import Schedule
from evenly.targets.contract import Executable, Target

from .compile import require
from .copies import CudaCopies
from .place import current_device, device_at


class CudaTarget(Target):
    """NVIDIA GPUs of compute capability 8.0 and newer, through cuda.core."""

    name = place = "cuda"
    gpu = True
    clock = "a run's kernels, by the GPU's clock"
    copies = CudaCopies
    seconds = 2.0
    net_seconds = 0.05

    def require(self) -> None:
        core = require()
        try:
            count = len(core.Device.get_all_devices())
        except Exception as error:  # an error of the driver, or a missing driver library
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

    def device(self, binding: Binding | None = None) -> str:
        device = current_device(None) if binding is None else device_at(binding)
        major, minor = device.compute_capability
        return f"{device.name} (sm_{major}{minor})"

    def compile(
        self,
        phases: Phases,
        schedule: Schedule,
        layouts: dict[Path, LayoutSpec],
        wide: bool,
        debug: bool,
    ) -> Executable:
        from .executable import CudaExecutable

        return CudaExecutable(phases, schedule, layouts, wide)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
