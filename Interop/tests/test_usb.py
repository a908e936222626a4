"""Controllers on USB in a machine of their own: Harald's virtual controllers as dongles, which the kernel treats as
real ones, through `btusb` and libusb."""
from __future__ import annotations

import json
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from peers import doctor, sleep
from peers import machine as machines
from peers.machine import BLUEZ, LIBRARIES, MANAGE, USER, Machine

# Everything is slow in an emulated machine.
pytestmark = pytest.mark.deadline(420)

# The number of times the kernel may give up on a controller.
ATTEMPTS = 2
# A central holds keys that arrive before Encryption Change for one connection interval, and then lets the pairing fail
# (Documentation/Quirks.md, "Data before Encryption Change"). When the machine is busy, the event can be later than that.
# Without the hold, every attempt with a delay of 20 ms fails.
PAIRINGS = 3
KEYS_TOO_EARLY = "this device ended the pairing: unspecified reason"
SOCKET = "/tmp/mended.socket"
# More commands than the kernel sends to a new controller (22), and fewer than with those of Harald's host (43).
MUTE = 32

# Seconds.
IDLE = 30

# The unplugging that every run tests.
QUICK = [("usb:1-2", "pairing")]
# All of them take minutes; `.ci/run` tests some of each kind.
needs_time = pytest.mark.skipif(not os.environ.get("HARALD_THOROUGH"), reason="takes long; HARALD_THOROUGH=1 runs it")

# Both users compare codes, and answer yes or no.
PERSON = "--io-capability display-yes-no"
# The machine has its own modules, next to the files it shares with this one.
MODULES = "for each in vhci-hcd btusb; do chroot /proc/1/root /bin/modprobe $each || exit 1; done"


@pytest.fixture(scope="session")
def binary(binary: str) -> str:
    """The path in the machine."""
    return machines.inside(binary)


@asynccontextmanager
async def dongles(machine: Machine, binary: str, *arguments: str, count: int = 2) -> AsyncIterator[None]:
    """Virtual controllers on one radio, plugged into the kernel: hci0 and so on, at usb:1-1 and so on."""
    await machine.run(f"{MODULES}; [ -p /tmp/nobody ] || mkfifo -m 666 /tmp/nobody")
    await machine.begin("dongles", f"{binary} controllers {'--dongle ' * count} {' '.join(arguments)}")
    try:
        await ready(machine, count)
        yield
    finally:
        await machine.ask("cat /proc/uptime; tail -n 30 /tmp/dongles.log; chroot /proc/1/root /bin/dmesg | tail -n 20")
        await machine.end("dongles")
        await machine.until("[ -z \"$(ls /sys/class/bluetooth)\" ]")


async def ready(machine: Machine, count: int) -> None:
    """Waits until the kernel's driver has this many adapters and is ready with them. The kernel gives up for good on
    a controller that does not respond to Reset within 10 s, which may happen on a busy machine, and never lists
    it; the driver is then bound to it again."""
    listed = f"[ $({MANAGE} info | grep -c '^.addr') = {count} ]"
    for _ in range(ATTEMPTS):
        if await machine.comes(listed, 40):
            return
        await machine.ask("cd /sys/bus/usb/drivers/btusb && for each in *:1.0; do echo $each > unbind; echo $each > bind; done")
    await machine.until(listed, 40)


@asynccontextmanager
async def sensor(machine: Machine, binary: str, controller: str, *arguments: str) -> AsyncIterator[None]:
    """`harald serve`, with a user who accepts everything."""
    options = f"{PERSON} --answer yes {' '.join(arguments)}"
    await machine.begin("serve", f"{binary} serve --controller {controller} {options}")
    try:
        await machine.wait("serve", "advertising as", 60)
        yield
    finally:
        await machine.ask("tail -n 30 /tmp/serve.log")
        await machine.end("serve")


async def explored(machine: Machine, binary: str, controller: str) -> str:
    """Connects, discovers, pairs, reads and receives values, all from the other dongle."""
    options = f"--timeout 30 --pair {PERSON} --answer yes --notifications 2"
    command = f"{binary} explore --controller {controller} {options} 'Harald HR'"
    for _ in range(PAIRINGS):
        status, text = await machine.ask(command, 150)
        if KEYS_TOO_EARLY not in text:
            break
    assert status == 0, f"{command} ended with {status}:\n{text}"
    for said in ("MTU 185", "180D Heart Rate", "Hello from Harald", "bonded with", "value of 2A37"):
        assert said in text, said
    assert "insufficient" not in text
    return text


async def plug_or_unplug(machine: Machine) -> None:
    """Plugs or unplugs the last dongle."""
    await machine.run("kill -USR1 $(cat /tmp/dongles.pid)")


async def adapters(machine: Machine, binary: str) -> list[tuple[str, str]]:
    found = json.loads(await machine.run(f"{binary} controllers --json"))
    return [(each["name"], each["holder"]) for each in found]


@pytest.mark.parametrize("delay", [pytest.param(0, marks=needs_time), pytest.param(5, marks=needs_time), 20])
async def test_our_host_behind_btusb(machine: Machine, binary: str, delay: int) -> None:
    """On the user channel of the kernel's driver, which uses a dongle with delayed events and randomly split
    transfers."""
    async with dongles(machine, binary, f"--event-delay {delay} --split --seed {delay}"):
        async with sensor(machine, binary, "hci1"):
            await explored(machine, binary, "hci0")
        assert await adapters(machine, binary) == [("hci0", "nobody"), ("hci1", "nobody")]


@pytest.mark.parametrize("delay", [pytest.param(0, marks=needs_time), pytest.param(5, marks=needs_time), 20])
async def test_our_host_on_libusb(machine: Machine, binary: str, delay: int) -> None:
    """With the kernel's driver detached, which has its adapters back at the end."""
    async with dongles(machine, binary, f"--event-delay {delay} --split --seed {delay}"):
        async with sensor(machine, binary, "usb:1-2"):
            assert "hci1" not in await machine.run("ls /sys/class/bluetooth")
            await explored(machine, binary, "usb:1209:0b1e" if delay == 0 else "usb:1-1")
        await ready(machine, 2)
        assert sorted(holder for _, holder in await adapters(machine, binary)) == ["nobody", "nobody"]
        for index in (0, 1):
            assert "powered" in await machine.run(f"{MANAGE} --index {index} power on")


@needs_time
async def test_bulk_serialization_mode(machine: Machine, binary: str) -> None:
    """Selected if offered, and left at the end: this kernel's driver does not support it."""
    async with dongles(machine, binary, "--bulk-serialization", "--split"):
        async with sensor(machine, binary, "usb:1-2"):
            assert (await machine.run("cat /sys/bus/usb/devices/1-2:1.0/bAlternateSetting")).strip() == "1"
            await explored(machine, binary, "usb:1-1")
        await ready(machine, 2)
        assert (await machine.run("cat /sys/bus/usb/devices/1-2:1.0/bAlternateSetting")).strip() == "0"


async def test_the_kernels_own_host_has_our_radio(machine: Machine, binary: str) -> None:
    """BlueZ on one dongle discovers Harald's sensor on the other."""
    async with dongles(machine, binary), sensor(machine, binary, "hci1"):
        await machine.run(f"{MANAGE} --index 0 le on; {MANAGE} --index 0 power on")
        heard = await machine.run(f"(sleep 15) | timeout 20 env {LIBRARIES} {BLUEZ}/usr/bin/btmgmt --index 0 find -l || true", 60)
        assert "Harald HR" in heard


@pytest.mark.parametrize(
    ("controller", "moment"),
    [
        pytest.param(controller, moment, marks=[] if (controller, moment) in QUICK else needs_time)
        for controller in ("hci1", "usb:1-2") for moment in ("connection", "discovery", "pairing")
    ],
)
async def test_unplugged_and_plugged_in_again(machine: Machine, binary: str, controller: str, moment: str) -> None:
    """In the middle of a session, without warning: the other side notices the loss, and when the dongle is back, the
    sensor continues by itself."""
    options, sign = {
        "connection": ("--notifications 500", "value of 2A37"),
        "discovery": ("--notifications 500", "^connected"),
        "pairing": (f"--pair {PERSON}", r"\[ .*\?"),
    }[moment]
    async with dongles(machine, binary, "--event-delay 5"), sensor(machine, binary, controller):
        explore = f"{binary} explore --controller hci0 --timeout 30 {options} 'Harald HR'"
        # No user answers here.
        await machine.begin("explore", f"sh -c \"sleep 200 | {explore}; echo ended with \\$?\"")
        await machine.wait("explore", sign, 60)
        await plug_or_unplug(machine)
        if moment == "discovery":
            assert "value of" not in await machine.run("cat /tmp/explore.log")
        await machine.wait("serve", "resetting|unsupported", 30)
        await machine.wait("explore", "was lost|not secured|disconnected", 60)
        # Discards the output so far.
        await machine.run(": > /tmp/serve.log")
        await plug_or_unplug(machine)
        await machine.wait("serve", "advertising as", 60)
        await explored(machine, binary, "hci0")
        await machine.ask("kill $(cat /tmp/explore.pid); pkill -x sleep")


@needs_time
async def test_a_driver_has_its_adapter_back_after_a_crash(machine: Machine, binary: str) -> None:
    """A killed program cannot return it: it is listed without a driver, `harald doctor` explains how to rebind the
    driver, and that works."""
    async with dongles(machine, binary, count=1):
        await machine.begin("serve", f"{binary} serve --controller usb")
        await machine.wait("serve", "advertising as", 60)
        await machine.end("serve", "KILL")
        assert await adapters(machine, binary) == [("usb:1-1", "nobody")]
        assert "no kernel driver" in await machine.run(f"{binary} controllers")
        found = {each.code: each for each in await doctor.findings(machine, binary)}
        detached = found["driver-detached"]
        assert detached.severity == "problem" and detached.place == "usb-1-1" and "no-adapter" not in found
        # Both remedies that it names.
        bind = re.search(r"echo \S+ \| sudo tee /sys/bus/usb/drivers/btusb/bind", detached.remedy)[0]
        scan = re.search(r"harald (scan --controller usb:1-1 --timeout 1)", detached.remedy)[1]
        await machine.run(f"{binary} {scan}", 60)
        await ready(machine, 1)
        assert await doctor.problems(machine, binary) == []
        await machine.run("echo 1-1:1.0 > /sys/bus/usb/drivers/btusb/unbind")
        assert ("driver-detached", "usb-1-1") in await doctor.problems(machine, binary)
        await machine.run(bind.replace("sudo ", ""))
        await ready(machine, 1)


@needs_time
@pytest.mark.parametrize("controller", ["usb:1-1", "hci0"])
async def test_a_controller_that_falls_silent_is_mended_by_a_reset_of_its_port(machine: Machine, binary: str, controller: str) -> None:
    """Neither a Reset nor a reopened transport helps; the service reaches the third step by itself, and then its
    controller works."""
    async with dongles(machine, binary, f"--mute-after {MUTE}", count=1):
        command = f"{binary} service --controller {controller} --socket {SOCKET} --store /tmp/mended"
        async with machine.running("service", command, "listening at"):
            await machine.wait("dongles", "dongle 1 was reset and responds again", 90)
            assert "dongle 1 stopped responding" in await machine.run("cat /tmp/dongles.log")
            await machine.until(f"{binary} doctor --service {SOCKET} | grep -q 'the service is running, and its controller works'", 40)
        await ready(machine, 1)


@needs_time
@pytest.mark.parametrize("controller", ["hci0", "usb:1-1"])
async def test_an_idle_service_wakes_less_than_once_in_ten_seconds(machine: Machine, binary: str, controller: str) -> None:
    """Pending reads without packets cost nothing, through the kernel's driver and through libusb."""
    async with dongles(machine, binary, count=1):
        command = f"{binary} service --controller {controller} --socket {SOCKET} --store /tmp/idle"
        async with machine.running("service", command, "listening at"):
            await machine.until(f"{binary} doctor --service {SOCKET} | grep -q 'the service is running, and its controller works'", 40)
            count = f"p=$(cat /tmp/service.pid); {sleep.COUNT}"
            begun, ended = (await machine.run(f"sleep 5; {count}; sleep {IDLE}; {count}", IDLE + 30)).split()
            assert (int(ended) - int(begun)) * 10 < IDLE


async def test_a_controller_that_cannot_be_had(machine: Machine, binary: str) -> None:
    """Each reason is reported, with advice."""
    await machine.run(MODULES)
    status, text = await machine.ask(f"{binary} scan --controller usb", 60)
    assert status == 3 and "no USB Bluetooth controller" in text
    status, text = await machine.ask(f"{USER} {binary} controllers --dongle", 60)
    assert status != 0 and "sudo" in text
    async with dongles(machine, binary):
        status, text = await machine.ask(f"{USER} {binary} scan --controller usb:1-1", 60)
        assert status == 3 and "harald install --udev" in text
        said = [each for each in await doctor.findings(machine, binary, USER) if each.code == "usb-rights"]
        assert len(said) == 2 and all("harald install --udev" in each.remedy for each in said)
        for each in said:
            await machine.run(f"[ -c {each.place} ]")
        status, text = await machine.ask(f"{binary} scan --controller usb:7", 60)
        assert status == 3 and "available: usb:1-1 (1209:0b1e), usb:1-2 (1209:0b1e)" in text
        async with sensor(machine, binary, "usb:1-2"):
            status, text = await machine.ask(f"{binary} scan --controller usb:1-2", 60)
            assert status == 3 and "another program uses usb:1-2" in text
            assert ("held", "usb-1-2") in await doctor.problems(machine, binary)
        await ready(machine, 2)
        async with sensor(machine, binary, "hci1"):
            status, text = await machine.ask(f"{binary} scan --controller usb:1-2", 60)
            assert status == 3 and "another program has exclusive access to hci1" in text
