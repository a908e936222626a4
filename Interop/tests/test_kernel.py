"""`harald` on adapters of a real kernel through their user channel, in a machine with virtual adapters: two Harald
hosts, and BlueZ."""
from __future__ import annotations

import json
import shlex
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from peers import doctor
from peers import machine as machines
from peers.machine import BLUEZ, MANAGE, USER, Machine

# Everything is slow in an emulated machine.
pytestmark = pytest.mark.deadline(120)


@pytest.fixture(scope="session")
def binary(binary: str) -> str:
    """The path in the machine."""
    return machines.inside(binary)


@asynccontextmanager
async def adapters(machine: Machine, count: int = 2, taken: bool = False) -> AsyncIterator[None]:
    """Virtual adapters, hci0 and so on, on an air of their own. `taken`: a program takes some of them at once."""
    try:
        await plug(machine, count, taken)
        yield
    finally:
        await unplug(machine)


async def plug(machine: Machine, count: int = 2, taken: bool = False) -> None:
    await machine.run("[ -p /tmp/nobody ] || mkfifo -m 666 /tmp/nobody")
    await machine.begin("btvirt", f"{BLUEZ}/usr/bin/btvirt -l{count}")
    # The kernel brings a new adapter up, and takes it down again. It does not list one that a program uses.
    listed = "ls /sys/class/bluetooth | wc -l" if taken else f"{MANAGE} info | grep -c '^.addr'"
    await machine.until(f"[ $({listed}) = {count} ]", 60)


async def unplug(machine: Machine) -> None:
    await machine.end("btvirt", "KILL")
    await machine.until("[ -z \"$(ls /sys/class/bluetooth)\" ]")


@asynccontextmanager
async def sensor(machine: Machine, binary: str, controller: str) -> AsyncIterator[None]:
    """`harald serve`."""
    await machine.begin("serve", f"{binary} serve --controller {controller}")
    try:
        await machine.wait("serve", "advertising as")
        yield
    finally:
        await machine.end("serve")


async def listed(machine: Machine, binary: str, user: str = "") -> list[dict]:
    return json.loads(await machine.run(f"{user} {binary} controllers --json"))


async def test_programs_run_in_the_machine_wherever_they_lie(machine: Machine, tmp_path: Path) -> None:
    """Even below /tmp, which the machine has its own of, and with spaces and non-ASCII letters in the path."""
    place = tmp_path / "Ein Käfer"
    place.mkdir()
    (place / "program").write_text("#!/bin/sh\ncat \"$(dirname \"$0\")/größe 1\"\n")
    (place / "program").chmod(0o755)
    (place / "größe 1").write_text("six legs\n")
    status, _ = await machine.ask(f"ls {shlex.quote(str(place))}")
    assert status != 0 or not str(place).startswith("/tmp/")
    await machine.run(machines.showing(place, "/run/elsewhere"))
    assert await machine.run("/run/elsewhere/program") == "six legs\n"


async def test_adapters_are_listed(machine: Machine, binary: str) -> None:
    """For any user, with the current owners."""
    assert "no Bluetooth adapter" in await machine.run(f"{binary} controllers")
    assert await listed(machine, binary) == []
    async with adapters(machine):
        for user in ("", USER):
            found = await listed(machine, binary, user)
            assert [(each["name"], each["bus"], each["up"], each["holder"]) for each in found] == [
                ("hci0", "virtual", False, "nobody"), ("hci1", "virtual", False, "nobody")
            ]
        assert sorted(each["address"] for each in found) == sorted(found_in(await machine.run(f"{MANAGE} info")))
        await machine.run(f"{MANAGE} --index 1 power on")
        async with sensor(machine, binary, "hci0"):
            assert [(each["up"], each["holder"]) for each in await listed(machine, binary, USER)] == [
                (True, "program"), (True, "kernel")
            ]


def found_in(information: str) -> list[str]:
    return [line.split()[1] for line in information.splitlines() if line.strip().startswith("addr ")]


async def test_two_of_ours_meet(machine: Machine, binary: str) -> None:
    """Over two adapters selected automatically; both return to the kernel afterwards."""
    async with adapters(machine):
        address = (await listed(machine, binary))[1]["address"]
        async with sensor(machine, binary, f"hci:{address}"):
            # Without --controller, the first available adapter.
            text = await machine.run(f"{binary} explore 'Harald HR'", 60)
            for said in ("MTU 185", "180D Heart Rate", "Hello from Harald", "value of 2A37"):
                assert said in text
        assert {each["holder"] for each in await listed(machine, binary)} == {"nobody"}
        for index in (0, 1):
            assert "complete, settings: powered" in await machine.run(f"{MANAGE} --index {index} power on")


async def test_bluez_is_explored(machine: Machine, binary: str) -> None:
    """The kernel's own host with bluetoothd on one adapter, and Harald on the other."""
    async with adapters(machine), machine.bluetoothd(2):
        # It releases adapters that are powered off.
        await machine.run(f"{MANAGE} --index 0 power off")
        await machine.run(f"{MANAGE} --index 1 name 'Foreign BlueZ'")
        for setting in ("connectable on", "advertising on"):
            await machine.run(f"{MANAGE} --index 1 {setting}")
        address = (await listed(machine, binary))[1]["address"]
        text = await machine.run(f"{binary} scan --controller hci0 --timeout 4", 60)
        assert address in text


async def test_an_adapter_that_cannot_be_had(machine: Machine, binary: str) -> None:
    """Each reason is reported with advice; `harald doctor` reports it too, and continues."""
    async with adapters(machine):
        scan = f"{binary} scan --controller hci0"
        assert await doctor.problems(machine, binary) == []
        status, text = await machine.ask(f"{USER} {scan}")
        assert status == 3 and "CAP_NET_ADMIN" in text and "setcap" in text
        assert await doctor.problems(machine, binary, USER) == [("rights", "hci0, hci1")]
        async with sensor(machine, binary, "hci0"):
            assert await doctor.problems(machine, binary) == [("held", "hci0")]
            status, text = await machine.ask(scan)
            assert status == 3 and "another program has exclusive access to hci0" in text
        status, text = await machine.ask(f"{binary} scan --controller hci7")
        assert status == 3 and "there is no adapter hci7; available: hci0, hci1" in text
        # The radio switch.
        await machine.run("for each in /sys/class/bluetooth/hci*/rfkill*/soft; do echo 1 > $each; done")
        assert [each["blocked"] for each in await listed(machine, binary)] == [True, True]
        status, text = await machine.ask(f"{binary} scan")
        assert status == 3 and text.count("rfkill unblock bluetooth") == 2
        assert await doctor.problems(machine, binary, USER) == [
            ("rfkill-soft", "hci0"), ("rfkill-soft", "hci1"), ("rights", "hci0, hci1")
        ]
        await machine.run("for each in /sys/class/bluetooth/hci*/rfkill*/soft; do echo 0 > $each; done")
        async with machine.bluetoothd(2):
            status, text = await machine.ask(scan)
            assert status == 3 and "bluetoothd uses hci0" in text and "systemctl stop bluetooth" in text
            # It is still present, and powered on.
            assert [each["holder"] for each in await listed(machine, binary)] == ["bluetoothd", "bluetoothd"]
            assert await doctor.problems(machine, binary) == [("bluetoothd", "hci0"), ("bluetoothd", "hci1")]
            said = await doctor.words(machine, binary)
            assert "problem: hci0: bluetoothd uses it" in said and "systemctl disable --now bluetooth" in said


async def test_what_drivers_complain_of_is_found(machine: Machine, binary: str) -> None:
    """From the kernel's log: missing firmware, with its file and package; a user who may not read the log is told
    so."""
    before = await doctor.findings(machine, binary)
    assert ("no-adapter", "this machine") in [(each.code, each.place) for each in before]
    assert not any(each.code.startswith("firmware") or each.code == "log-unreadable" for each in before)
    for line in (
        "bluetooth hci8: Direct firmware load for rtl_bt/rtl8761bu_fw.bin failed with error -2",
        "Bluetooth: hci9: Failed to load Intel firmware file intel/ibt-17-16-1.sfi (-2)",
        "Bluetooth: hci9: Found device firmware: intel/ibt-17-16-1.sfi",
    ):
        await machine.run(f"echo '<3>{line}' > /dev/kmsg")
    found = {each.place: each for each in await doctor.findings(machine, binary) if each not in before}
    assert set(found) == {"hci8", "hci9"} and {each.code for each in found.values()} == {"firmware-missing"}
    assert "rtl_bt/rtl8761bu_fw.bin" in found["hci8"].what and "firmware-realtek" in found["hci8"].remedy
    assert "intel/ibt-17-16-1.sfi" in found["hci9"].what and "firmware-iwlwifi" in found["hci9"].remedy
    await machine.run("echo 1 > /proc/sys/kernel/dmesg_restrict")
    assert "log-unreadable" in [each.code for each in await doctor.findings(machine, binary, USER)]


async def test_an_adapter_that_is_unplugged_is_found_again(machine: Machine, binary: str) -> None:
    """In the middle of a session, without warning; when it is back, the sensor continues by itself."""
    await plug(machine)
    async with sensor(machine, binary, "hci1"):
        await unplug(machine)
        await machine.wait("serve", "resetting|unsupported")
        # Discards the output so far.
        await machine.run(": > /tmp/serve.log")
        async with adapters(machine, taken=True):
            await machine.wait("serve", "advertising as", 40)
            text = await machine.run(f"{binary} explore --controller hci0 'Harald HR'", 60)
            assert "value of 2A37" in text


async def test_a_controller_is_kept_over_a_crash_of_the_service(machine: Machine, binary: str) -> None:
    """No other program can take it before the service is back, and it returns to the kernel when the service ends in
    good order."""
    script = machines.inside(machines.ROOT / "Interop/peers/descriptor_store.py")
    async with adapters(machine, 1):
        said = await machine.run(f"HOME=/tmp {machines.inside(sys.executable)} {script} {binary} /tmp/kept hci0", 100)
    words = ["kept", "after the crash: program", "on again with the one that was kept", "removed", "after the end: nobody"]
    assert [line for line in said.splitlines() if line.split(":")[0] in {each.split(":")[0] for each in words}] == words, said
