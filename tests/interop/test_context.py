"""The context of a device outlives the thread that used it first. A stand-in for the driver counts references."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("cuda.core")

DRIVER = Path(__file__).parent / "fixtures" / "driver.c"
USE = """
import ctypes, gc, threading
import evenly as ev
from evenly.targets.cuda.place import current_device

driver = ctypes.CDLL("libcuda.so.1")
thread = threading.Thread(target={use})
thread.start()
thread.join()
gc.collect()
print(driver.holders_of_the_context(), driver.times_destroyed())
"""


@pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("gcc") is None, reason="no gcc, or no Linux"
)
@pytest.mark.parametrize(
    "use", ["current_device, args=[None]", "ev.device_empty, args=[(3,), 'float32']"]
)
def test_a_context_outlives_the_thread_that_asked_first(use: str, tmp_path: Path) -> None:
    library = tmp_path / "libcuda.so.1"
    subprocess.run(["gcc", "-shared", "-fPIC", str(DRIVER), "-o", str(library)], check=True)
    path = os.pathsep.join(p for p in (str(tmp_path), os.environ.get("LD_LIBRARY_PATH", "")) if p)
    done = subprocess.run(
        [sys.executable, "-c", USE.format(use=use)],
        env={**os.environ, "LD_LIBRARY_PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["1", "0"], done.stdout + done.stderr
