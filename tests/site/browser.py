"""A browser without a window, driven through the DevTools protocol over two pipes: it needs Chromium alone.

The protocol: https://chromedevtools.github.io/devtools-protocol, with --remote-debugging-pipe, where each message ends with
a zero byte.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FOUND = next(filter(None, map(shutil.which, NAMES)), None)
PATIENCE = 20  # seconds for an answer


class Browser:
    """One browser with one page. `problems` collects what its console said, and what could not be loaded."""

    def __init__(self, folder: Path) -> None:
        assert FOUND
        to_browser, self.out = os.pipe()
        self.back, from_browser = os.pipe()
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"]
        options += [
            f"--user-data-dir={folder}",
            "--no-first-run",
            "--hide-scrollbars",
            "about:blank",
        ]
        # The browser reads from descriptor 3 and writes to 4, where the shell puts them.
        shell = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
        self.process = subprocess.Popen(
            ["bash", "-c", shell, FOUND, *options],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self.number, self.rest, self.session = 0, b"", ""
        self.problems: list[str] = []
        targets = self.ask("Target.getTargets")["targetInfos"]
        page = next(t["targetId"] for t in targets if t["type"] == "page")
        given = {"targetId": page, "flatten": True}
        self.session = self.ask("Target.attachToTarget", **given)["sessionId"]
        for domain in "Page", "Runtime", "Network", "Log":
            self.ask(f"{domain}.enable")
        self.ask("Emulation.setFocusEmulationEnabled", enabled=True)  # or nothing has the focus

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(PATIENCE)
        os.close(self.out)
        os.close(self.back)

    def ask(self, method: str, **parameters: Any) -> Any:
        """Send a command, and return its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            for answer in self._messages(until):
                if answer.get("id") == self.number:
                    assert "error" not in answer, (method, answer["error"])
                    return answer["result"]
        raise TimeoutError(method)

    def _messages(self, until: float) -> list[Any]:
        ready, _, _ = select.select([self.back], [], [], max(0.0, until - time.monotonic()))
        if ready:
            self.rest += os.read(self.back, 1 << 20)
        *whole, self.rest = self.rest.split(b"\0")
        found = [json.loads(text) for text in whole]
        for message in found:
            self._note(message.get("method", ""), message.get("params", {}))
        return found

    def _note(self, method: str, said: Any) -> None:
        if method == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(said["exceptionDetails"])[:600])
        elif method == "Runtime.consoleAPICalled" and said["type"] in (
            "error",
            "warning",
            "assert",
        ):
            self.problems.append(json.dumps(said["args"])[:600])
        elif method == "Log.entryAdded" and said["entry"]["level"] in ("error", "warning"):
            self.problems.append(f"{said['entry']['text']} {said['entry'].get('url', '')}")
        elif method == "Network.loadingFailed" and not said.get("canceled"):
            self.problems.append(said["errorText"])

    # ---- the page --------------------------------------------------------------------------------
    def open(self, address: str) -> None:
        """Open a page, and wait until it says that it is ready."""
        self.ask("Page.navigate", url="about:blank")  # a new fragment alone would not load it anew
        self.ask("Page.navigate", url=address)
        self.wait("document.documentElement?.dataset.ready === 'yes'")

    def wait(self, condition: str) -> None:
        until = time.monotonic() + PATIENCE
        while not self.run(condition):
            assert time.monotonic() < until, (condition, self.problems)
            time.sleep(0.02)

    def run(self, script: str) -> Any:
        """Return the value of an expression, awaited."""
        given = {"expression": script, "awaitPromise": True, "returnByValue": True}
        answer = self.ask("Runtime.evaluate", **given)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def size(self, width: int, height: int = 900) -> None:
        given = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.ask("Emulation.setDeviceMetricsOverride", **given)

    def scheme(self, name: str) -> None:
        """Prefer "light" or "dark", as a reader's system does."""
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.ask("Emulation.setEmulatedMedia", features=features)

    def press(self, key: str) -> None:
        codes = {"ArrowRight": 39, "ArrowDown": 40, "ArrowLeft": 37, "ArrowUp": 38, "Escape": 27}
        for kind in "keyDown", "keyUp":
            given = {"type": kind, "key": key, "windowsVirtualKeyCode": codes.get(key, 0)}
            self.ask("Input.dispatchKeyEvent", **given)

    def move(self, x: float, y: float) -> None:
        self.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def picture(self) -> bytes:
        """Return a PNG of what the page shows."""
        return base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"])
