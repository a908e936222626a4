"""Harald apps as processes, which `harald service` launches: each has a directory with its Info.plist."""
from __future__ import annotations

import asyncio
import os
import plistlib
import re
import shutil
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from peers.processes import Process, running


@dataclass
class App:
    """An app that is installed in a directory of the test. The output of all its launches is in one log."""

    name: str
    command: list[str]
    log: Path
    service: Path
    _seen: int = field(default=0)

    @property
    def lines(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []

    @property
    def processes(self) -> list[int]:
        """The processes that have printed a line, in the order of their start."""
        return list(dict.fromkeys(int(line.split()[0]) for line in self.lines))

    def skip(self) -> None:
        """Ignores the output so far."""
        self._seen = len(self.lines)

    async def line(self, pattern: str, timeout: float = 30) -> re.Match[str]:
        """Waits for a line that has not been waited for yet, and returns the match."""
        deadline = time.monotonic() + timeout
        while True:
            for index, text in list(enumerate(self.lines))[self._seen :]:
                if match := re.search(pattern, text):
                    self._seen = index + 1
                    return match
            if time.monotonic() > deadline:
                raise AssertionError(f"{self.name} printed no line that matches {pattern!r} after {self.lines[-10:]}")
            await asyncio.sleep(0.02)

    @asynccontextmanager
    async def opened(self, user: int | None = None) -> AsyncIterator[Process]:
        """Opens the app as its user, or as another user of the machine."""
        as_user = [] if user is None else ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
        command = ["env", f"HARALD_SERVICE={self.service}", *as_user, *self.command]
        async with running(*command, name=self.name) as process:
            yield process

    def kill_all(self) -> None:
        """Kills the processes that the service has launched, which nothing else ends."""
        for process in self.processes:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass


@contextmanager
def installed(
    binary: str, directory: Path, service: Path, kind: str, uuids: tuple[str, str], name: str = "", managed: bool = True,
    modes: tuple[str, ...] = ("bluetooth-central", "bluetooth-peripheral"),
) -> Iterator[App]:
    """Installs the app of `Tests/Fixtures/interop-app` in a directory. `managed`: it has the lifecycle of an app on a phone."""
    name = name or f"com.example.{kind}"
    home = directory / name
    home.mkdir(parents=True)
    program = home / "interop-app"
    shutil.copy2(Path(binary).with_name("interop-app"), program)
    command = [str(program), kind, *uuids, str(home / "log")]
    declaration = {
        "CFBundleIdentifier": name,
        "CFBundleDisplayName": kind.title(),
        "NSBluetoothAlwaysUsageDescription": "To be tested",
        "UIBackgroundModes": list(modes),
        "HaraldLaunch": command,
        "HaraldManaged": managed,
    }
    (home / "Info.plist").write_bytes(plistlib.dumps(declaration))
    app = App(name, command, home / "log", service)
    try:
        yield app
    finally:
        app.kill_all()
