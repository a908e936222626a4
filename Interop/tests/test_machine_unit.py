"""The units of `harald install --machine`, run by a systemd system manager with all their restrictions on the
service, on a kernel adapter."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from peers.database import HEART_RATE, HEART_RATE_MEASUREMENT, text
from peers.machine import Machine
from peers.system_manager import SYSTEMD, UNITS, SystemManager, system_manager
from test_kernel import adapters, sensor

SOCKET = "/run/harald/service"
EXPOSURE = 2.0  # on the scale of systemd-analyze, where 10 is everything


@pytest.mark.deadline(300)
async def test_a_confined_service_does_all_that_it_does(machine: Machine, binary: str) -> None:
    """It uses the adapter and keeps it across a crash, serves an app of another user, and saves its state."""
    reason = machine_reason(binary)
    if reason:
        pytest.skip(reason)
    async with adapters(machine), system_manager(machine) as system:
        await system.run(f"{binary} install --machine --controller hci0 --directory {UNITS}")
        # There is no journal.
        await system.run(
            f"mkdir -p {UNITS}/harald.service.d; printf '[Service]\\nStandardOutput=append:/run/said\\nStandardError=append:/run/said\\n'"
            f" > {UNITS}/harald.service.d/log.conf; systemctl daemon-reload; systemctl start harald.socket"
        )
        try:
            await until_on(system, binary)
            await check_confinement(system)
            async with sensor(machine, binary, "hci1"):
                await check_values(machine, system, binary)
            first = await system.property("harald.service", "MainPID")
            await system.run("systemctl kill -s KILL --kill-whom=main harald.service")
            await system.until(f'[ "$(systemctl show --value -p NRestarts harald.service)" = 1 ]')
            await until_on(system, binary)
            assert await system.property("harald.service", "MainPID") != first
            assert await system.property("harald.service", "NFileDescriptorStore") == "1"
            kept = (await system.run("ls /var/lib/harald/bonds")).split()
            assert "secret" in kept and len(kept) > 1, kept
            await system.run("systemctl stop harald.socket harald.service")
            assert await system.property("harald.service", "Result") == "success"
        finally:
            _, said = await system.ask("cat /run/said; systemctl status --no-pager harald.service")
    assert "Operation not permitted" not in said and "Permission denied" not in said, said


def machine_reason(binary: str) -> str | None:
    """Why the unit cannot run the program of this build, or None if it can."""
    if not SYSTEMD.exists():
        return "there is no systemd"
    directory = Path(binary).parent
    if any(directory.is_relative_to(hidden) for hidden in ("/home", "/root", "/tmp", "/var/tmp", "/run/user")):
        return f"the unit hides {directory} from the service"
    for each in (Path(binary), *Path(binary).parents):
        if each.stat().st_uid != 0 or each.stat().st_mode & 0o022:
            return f"others than root can change {each}"
    return None


async def until_on(system: SystemManager, binary: str) -> None:
    """The first query starts the service."""
    await system.until(f"{binary} status --service {SOCKET} --json | grep -q '\"state\" *: *\"poweredOn\"'", 60)


async def check_confinement(system: SystemManager) -> None:
    process = await system.property("harald.service", "MainPID")
    fields = dict(line.split(":\t", 1) for line in (await system.run(f"cat /proc/{process}/status")).splitlines() if ":\t" in line)
    # CAP_NET_ADMIN is number 12.
    assert int(fields["CapEff"], 16) == int(fields["CapBnd"], 16) == 1 << 12
    assert fields["NoNewPrivs"] == "1" and fields["Seccomp"] == "2" and fields["Uid"].split()[0] == "900"
    group = (await system.run(f"cut -d: -f3 /proc/{process}/cgroup")).strip()
    assert (await system.run(f"cat /sys/fs/cgroup{group}/memory.max")).strip() == str(512 << 20)


async def check_values(machine: Machine, system: SystemManager, binary: str) -> None:
    """An app of another user, who belongs to the service's group, receives a sensor's values."""
    app = Path(binary).with_name("interop-app")
    command = f"{app} gateway {text(HEART_RATE)} {text(HEART_RATE_MEASUREMENT)} /tmp/app.out"
    user = "setpriv --reuid 1000 --regid 1000 --groups 900"
    await machine.run("rm -f /tmp/app.out")
    await machine.begin("app", f"{system.enter} env HARALD_SERVICE={SOCKET} {user} {command}")
    try:
        await machine.until("grep -q value /tmp/app.out", 60)
        status = json.loads(await system.run(f"{binary} status --service {SOCKET} --json"))
        assert [(each["owner"], each["phase"]) for each in status["apps"]] == [(1000, "foreground")]
    finally:
        await machine.ask("cat /tmp/app.out /tmp/app.log")
        await machine.end("app", "KILL")


@pytest.mark.parametrize("controller", ["hci0", "usb", "tcp:127.0.0.1:6402", "serial:/dev/ttyUSB0", "unix:/run/controller"])
def test_the_unit_is_confined(program: Path, tmp_path: Path, controller: str) -> None:
    """systemd itself rates the exposure of the service."""
    analyze = shutil.which("systemd-analyze")
    if not analyze:
        pytest.skip("there is no systemd-analyze")
    install = [str(program), "install", "--machine", "--controller", controller, "--directory", str(tmp_path)]
    subprocess.run(install, check=True, capture_output=True)
    unit = tmp_path / "harald.service"
    checked = subprocess.run(
        [analyze, "security", "--offline=true", "--no-pager", f"--threshold={int(EXPOSURE * 10)}", str(unit)],
        capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"},
    )  # fmt: skip
    exposure = float(checked.stdout.split("Overall exposure level for harald.service:")[1].split()[0])
    assert exposure < EXPOSURE and checked.returncode == 0, checked.stdout
    settings = unit.read_text().splitlines()
    # Nothing that only another transport needs.
    assert ("AmbientCapabilities=CAP_NET_ADMIN" in settings) == (controller == "hci0")
    assert ("IPAddressDeny=any" in settings) == (not controller.startswith("tcp"))
    assert ("DeviceAllow=/dev/ttyUSB0 rw" in settings) == controller.startswith("serial")
