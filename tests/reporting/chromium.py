"""A page in Debian's chromium, without a window: told what to do by the browser's own protocol, through a pipe."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")


class Page:
    """A page of a browser of its own; a context manager, which ends the browser."""

    def __init__(
        self, path: Path, width: int = 1280, height: int = 800, dark: bool = False
    ) -> None:
        assert BROWSER is not None
        self.told: list[dict[str, Any]] = []  # events
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._number = 0
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        # The browser reads what it is told from 3, and answers to 4.
        command = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
        options = ("--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe")
        self._process = subprocess.Popen(
            ["/bin/bash", "-c", command, BROWSER, *options, f"--user-data-dir={self._folder.name}"],
            pass_fds=(to_browser, from_browser),
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._rest = b""
        self._session = ""
        target = self.do("Target.createTarget", url="about:blank")["targetId"]
        found = self.do("Target.attachToTarget", targetId=target, flatten=True)
        self._session = found["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.do(f"{domain}.enable")
        self.do(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.do("Emulation.setEmulatedMedia", features=[scheme])
        self._used_before = self._used()
        self.do("Page.navigate", url=path.resolve().as_uri())
        while not any(each["method"] == "Page.loadEventFired" for each in self.told):
            self._hear()

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._write)
        os.close(self._read)
        self._folder.cleanup()

    def do(self, method: str, **params: object) -> dict[str, Any]:
        """One command of the protocol; its result."""
        self._number += 1
        told = {"id": self._number, "method": method, "params": params}
        if self._session:
            told["sessionId"] = self._session
        os.write(self._write, json.dumps(told).encode() + b"\0")
        while True:
            answer = self._hear()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def _hear(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            more = os.read(self._read, 1 << 20)
            assert more, "the browser has ended"
            self._rest += more
        message, self._rest = self._rest.split(b"\0", 1)
        found = json.loads(message)
        if "method" in found:
            self.told.append(found)
        return found

    def _used(self) -> float:
        """Seconds of processor time that the browser and its processes have taken."""
        found: dict[int, list[int]] = {}
        for path in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):  # it has ended
                _, _, stat = path.read_text().rpartition(")")
                found[int(path.parent.name)] = [
                    int(x) if x.lstrip("-").isdigit() else 0 for x in stat.split()
                ]
        known = {self._process.pid}
        for _ in range(6):  # generations
            known |= {pid for pid, stat in found.items() if stat[1] in known}
        ticks = sum(found[pid][11] + found[pid][12] for pid in known & found.keys())
        return ticks / os.sysconf("SC_CLK_TCK")

    def used(self) -> float:
        """Seconds of processor time from the beginning of the navigation on."""
        return self._used() - self._used_before

    def value(self, expression: str) -> Any:
        """What an expression of JavaScript gives."""
        found = self.do(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def click(self, selector: str, number: int = 0) -> None:
        """Click the middle of what a selector finds."""
        x, y = self.value(
            f"(() => {{ const e = document.querySelectorAll({selector!r})[{number}]; "
            "e.scrollIntoView({block: 'nearest'}); const r = e.getBoundingClientRect(); "
            "return [r.left + Math.min(r.width, 100) / 2, r.top + r.height / 2] })()"
        )
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            more = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
            self.do("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def press(self, key: str) -> None:
        """Press a key."""
        code = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowRight": 39, "End": 35}[
            key
        ]
        more = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.do(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=code,
                **more,
            )

    def complaints(self) -> list[object]:
        """What the console says, exceptions, and requests of what is no file."""
        kinds = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        found: list[object] = [each for each in self.told if each["method"] in kinds]
        sent = (
            e["params"]["request"]["url"]
            for e in self.told
            if e["method"] == "Network.requestWillBeSent"
        )
        return found + [url for url in sent if not url.startswith("file:")]

    def picture(self, path: Path) -> None:
        """Write what is seen as PNG."""
        data = self.do("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(data))
