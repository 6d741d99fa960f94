"""The file of a process: a line of JSON for each event, each by one write."""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from fxc.ir.records import field, mutable

_log = logging.getLogger("fxc")


@mutable
class TraceWriter:
    """The file of this process in a folder. Where it cannot be written to, or not any more, one
    message says so, and events are dropped: the program goes on.
    """

    folder: str
    head: Mapping[str, object]  # what the first line says besides
    _process: int = 0  # the one that the file is of: a fork has its own
    _file: int = -1
    _since: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def write(self, event: str, **content: object) -> None:
        """Add a line. What JSON has no word for is written as its text."""
        if self._process != os.getpid():
            with self._lock:  # a fork waits for who compiles, see Note [Forks]
                if self._process != os.getpid():
                    self._open()
        if self._file >= 0:
            self._put(
                {"event": event, "at": round(time.perf_counter() - self._since, 6), **content}
            )

    def _open(self) -> None:
        self._since = time.perf_counter()
        name = f"fxc-{os.getpid()}-{time.time_ns():x}.jsonl"
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
        self._file = -1
        try:
            Path(self.folder).mkdir(parents=True, exist_ok=True)
            self._file = os.open(Path(self.folder) / name, flags, 0o600)
        except (OSError, ValueError) as error:
            _log.warning("no trace is written to %s: %s", self.folder, error)
        else:
            self._put({"event": "trace", **self.head, "pid": os.getpid(), "started": time.time()})
        self._process = os.getpid()  # last: other threads may write from now on

    def _put(self, content: Mapping[str, object]) -> None:
        line = json.dumps(content, separators=(",", ":"), default=str).encode() + b"\n"
        try:
            whole = os.write(self._file, line) == len(line)
            why = "there is no room left"
        except OSError as error:
            whole, why = False, str(error)
        if not whole:  # what came behind a cut line could not be told from it
            self._file = -1  # and stays open: another thread may be about to write to that number
            _log.warning("the trace in %s ends here: %s", self.folder, why)
