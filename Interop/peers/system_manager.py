"""A systemd system manager, in the machine: process 1 of a PID namespace, with only the units of a directory."""
from __future__ import annotations

import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from .machine import Machine

SYSTEMD = Path("/lib/systemd/systemd")
UNITS = "/run/units"
ACCOUNT = "harald"
ACCOUNT_NUMBER = 900

# The default dependencies of units, empty: no journal, no udev.
TARGETS = ("sysinit", "basic", "sockets", "shutdown", "multi-user", "rescue", "test")

# Its files of users are copies, with the service's account; control groups are those of the machine's kernel.
BEGIN = "; ".join([
    "set -e",
    f"mkdir -p {UNITS} /run/systemd/system",
    "mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup",
    f"(cat /etc/passwd; echo {ACCOUNT}:x:{ACCOUNT_NUMBER}:{ACCOUNT_NUMBER}::/nonexistent:/usr/sbin/nologin) > /run/passwd",
    f"(cat /etc/group; echo {ACCOUNT}:x:{ACCOUNT_NUMBER}:) > /run/group",
    "mount --bind /run/passwd /etc/passwd",
    "mount --bind /run/group /etc/group",
    f"exec env -i PATH=$PATH container=other SYSTEMD_UNIT_PATH={UNITS} {SYSTEMD} --system --unit=test.target",
])  # fmt: skip


class SystemManager:
    """Runs commands as root, where that systemd runs."""

    def __init__(self, machine: Machine, process: int) -> None:
        self.machine = machine
        self.enter = f"nsenter --target {process} --mount --pid --root --wd=/"

    async def ask(self, command: str, timeout: float = 30) -> tuple[int, str]:
        return await self.machine.ask(f"{self.enter} sh -c {shlex.quote(command)}", timeout)

    async def run(self, command: str, timeout: float = 30) -> str:
        return await self.machine.run(f"{self.enter} sh -c {shlex.quote(command)}", timeout)

    async def until(self, condition: str, seconds: float = 30) -> None:
        await self.machine.until(f"{self.enter} sh -c {shlex.quote(condition)}", seconds)

    async def property(self, unit: str, name: str) -> str:
        return (await self.run(f"systemctl show --value -p {name} {unit}")).strip()


@asynccontextmanager
async def system_manager(machine: Machine) -> AsyncIterator[SystemManager]:
    """Runs a systemd until the end of the block."""
    for target in TARGETS:
        await machine.run(f"mkdir -p {UNITS}; printf '[Unit]\\nDescription={target}\\nDefaultDependencies=no\\n' > {UNITS}/{target}.target")
    await machine.begin("systemd", f"unshare --mount --pid --fork --kill-child --mount-proc sh -c {shlex.quote(BEGIN)}")
    try:
        await machine.until("[ -S /run/systemd/private ]", 60)
        child = "cat /proc/$(cat /tmp/systemd.pid)/task/*/children"
        manager = SystemManager(machine, int((await machine.run(child)).split()[0]))
        await manager.until("systemctl is-active -q test.target", 60)
        yield manager
    finally:
        await machine.ask("tail -n 40 /tmp/systemd.log")
        await machine.end("systemd", "KILL")
        await machine.run(f"rm -rf {UNITS} /run/systemd")
