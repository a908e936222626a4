"""`harald service` under systemd: the user's manager, in a separate tree of control groups."""
from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from peers.apps import App, installed
from peers.controllers import controllers
from peers.database import HEART_RATE, HEART_RATE_MEASUREMENT, text
from peers.peripheral import peripheral
from peers.processes import Process, running

SYSTEMD = Path("/lib/systemd/systemd")
HEART = (text(HEART_RATE), text(HEART_RATE_MEASUREMENT))

# A tree of control groups for this systemd only, in a mount namespace: its own part of the whole one. systemd checks
# the first of these directories to find out whether groups can be frozen.
PREPARE = """
set -e
umount -R /sys/fs/cgroup 2>/dev/null || umount -l /sys/fs/cgroup
mount -t cgroup2 none /sys/fs/cgroup
mkdir -p /sys/fs/cgroup/init.scope "/sys/fs/cgroup/$GROUP"
test -e /sys/fs/cgroup/init.scope/cgroup.freeze
echo $$ > "/sys/fs/cgroup/$GROUP/cgroup.procs"
"""


def beats(app: App) -> list[int]:
    return [int(line.split()[3], 16) for line in app.lines if line.split()[1] == "value"]


@dataclass
class UserManager:
    """The user's systemd, for the length of a test."""

    environment: dict[str, str]
    process: Process

    async def run(self, *command: str) -> str:
        """Runs a command as the user."""
        child = await asyncio.create_subprocess_exec(
            *command, env=self.environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        output = (await child.communicate())[0].decode()
        assert child.returncode == 0, f"{command} failed: {output}"
        return output

    async def is_frozen(self, unit: str) -> bool:
        return "frozen" in await self.run("systemctl", "--user", "show", "-p", "FreezerState", unit)

    async def until_frozen(self, unit: str, wanted: bool) -> None:
        for _ in range(500):
            if await self.is_frozen(unit) == wanted:
                return
            await asyncio.sleep(0.02)
        raise AssertionError(f"{unit} is {'not ' if wanted else ''}frozen")


def reason_against() -> str | None:
    """Why no systemd can run here, or None if it can."""
    if os.geteuid() != 0 or not SYSTEMD.exists() or not shutil.which("unshare"):
        return "it takes root, systemd and unshare to run a systemd of its own"
    tried = subprocess.run(
        ["unshare", "--mount", "sh", "-c", PREPARE], env={**os.environ, "GROUP": "harald-probe"}, capture_output=True,
        text=True,
    )  # fmt: skip
    return f"control groups cannot be had: {tried.stderr.strip()}" if tried.returncode else None


@asynccontextmanager
async def user_manager(directory: Path) -> AsyncIterator[UserManager]:
    if reason := reason_against():
        pytest.skip(reason)
    runtime, home = directory / "run", directory / "home"
    for each in (runtime, home):
        each.mkdir(mode=0o700)
    environment = {
        "HOME": str(home), "XDG_RUNTIME_DIR": str(runtime), "PATH": os.environ["PATH"], "SYSTEMD_LOG_TARGET": "console",
        "GROUP": f"harald-{os.getpid()}-{id(directory)}", "LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", ""),
    }  # fmt: skip
    # It is ready when its own units are loaded; sd_booted(3) is the directory that its tools check.
    command = f"{PREPARE}\nmkdir -p /run/systemd/system\nexec {SYSTEMD} --user"
    assigned = [f"{name}={value}" for name, value in environment.items()]
    async with running("env", "-i", *assigned, "unshare", "--mount", "sh", "-c", command, name="systemd") as process:
        manager = UserManager(environment, process)
        for _ in range(500):
            if (runtime / "systemd" / "private").exists():
                break
            assert process.child.returncode is None, process.errors
            await asyncio.sleep(0.02)
        try:
            yield manager
        finally:
            for unit in ("app-harald-*", "harald.service", "harald.socket"):
                await asyncio.create_subprocess_exec("systemctl", "--user", "kill", "-s", "KILL", unit, env=environment)


async def test_a_service_of_systemd_launches_apps_as_units_and_has_them_frozen(binary: str, tmp_path: Path) -> None:
    """Behaviours 9.1, 10.4 and 10.15: the units of `harald install`, started by the first program that connects."""
    async with controllers() as air, peripheral(air.transport), user_manager(tmp_path) as user:
        socket = tmp_path / "run" / "harald" / "service"
        apps = tmp_path / "home" / ".local" / "share" / "harald" / "apps"
        await user.run(binary, "install", "--controller", air.address, "--freeze")
        await user.run("systemctl", "--user", "daemon-reload")
        await user.run("systemctl", "--user", "start", "harald.socket")
        with installed(binary, apps, socket, "gateway", HEART, modes=()) as app:
            unit = f"app-harald-{app.name}.service"
            await user.run(binary, "app", "launch", app.name)
            await app.line("value")
            assert "active" in await user.run("systemctl", "--user", "is-active", unit, "harald.service")
            await user.run(binary, "app", "suspend", app.name)
            await user.until_frozen(unit, True)
            before = len(beats(app))
            await user.run(binary, "app", "foreground", app.name)
            await user.until_frozen(unit, False)
            app.skip()
            await app.line("value")
            heard = beats(app)
            assert len(heard) > before and heard == list(range(heard[0], heard[0] + len(heard)))
            # However the service ends, the apps that it had frozen resume.
            await user.run(binary, "app", "suspend", app.name)
            await user.until_frozen(unit, True)
            await user.run("systemctl", "--user", "kill", "-s", "KILL", "harald.service")
            await user.until_frozen(unit, False)
            # A frozen process still ends in good order, and its state is restored.
            await user.run(binary, "app", "foreground", app.name)
            await user.run(binary, "app", "suspend", app.name)
            await user.until_frozen(unit, True)
            await user.run(binary, "app", "force-quit", app.name)
            for _ in range(500):
                if "inactive" in subprocess.run(
                    ["systemctl", "--user", "is-active", unit], env=user.environment, capture_output=True, text=True,
                ).stdout:  # fmt: skip
                    break
                await asyncio.sleep(0.02)
            else:
                raise AssertionError("the app runs on")
