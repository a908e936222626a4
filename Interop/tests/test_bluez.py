"""BlueZ as a peer on Harald's radio, paired and bonded, in a machine of its own: its adapter is a virtual controller
of Harald's, through the kernel's `hci_vhci`."""
from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from peers import machine as machines
from peers.machine import BLUEZ, LIBRARIES, Machine

# Everything is slow in an emulated machine.
pytestmark = pytest.mark.deadline(300)

PORT = 9700
OURS = f"--controller tcp:127.0.0.1:{PORT}"
# Only for paired centrals.
EMAIL, EMAIL_VALUE = "00002a87-0000-1000-8000-00805f9b34fb", b"wearer@example.org".hex()
INITIALIZED = "the capture begins after the controller's initialization; its answers are made up"
LOCATION = "00002a38-0000-1000-8000-00805f9b34fb"
BLUEZ_PEER = f"{machines.inside(sys.executable)} {machines.inside(machines.ROOT / 'Interop/peers/bluez.py')}"


@pytest.fixture(scope="session")
def binary(binary: str) -> str:
    """The path in the machine."""
    return machines.inside(binary)


@asynccontextmanager
async def radio(machine: Machine, binary: str) -> AsyncIterator[None]:
    """An air with a kernel adapter, and with controllers for Harald. BlueZ has no bonds, and pairs only when asked
    to."""
    await machine.run("rm -rf /var/lib/bluetooth")
    await machine.begin("radio", f"{binary} controllers --vhci --listen {PORT}")
    try:
        await machine.wait("radio", "listening on")
        await machine.until("[ -e /sys/class/bluetooth/hci0 ]")
        yield
    finally:
        await machine.end("radio")
        await machine.until('[ -z "$(ls /sys/class/bluetooth)" ]')


async def test_bluez_pairs_as_central_and_knows_us_after_restarts(machine: Machine, binary: str) -> None:
    """A value for paired centrals is read after pairing, and again after both sides restart."""
    options = "--io-capability none --answer yes --store /tmp/bonds-of-sensor"
    async with radio(machine, binary):
        for word in ("pair", ""):
            async with machine.bluetoothd(1), machine.running("serve", f"{binary} serve {OURS} {options}", "advertising as"):
                said = await machine.run(f"{BLUEZ_PEER} central hci0 'Harald HR' {EMAIL} {word}", 120)
                assert "paired True" in said and f"value {EMAIL_VALUE}" in said
                served = await machine.run("cat /tmp/serve.log")
                assert ("wants to pair:" in served) == (word == "pair") and "a paired central reads" in served


async def test_bluez_pairs_as_peripheral_and_knows_us_after_restarts(machine: Machine, binary: str) -> None:
    """It serves a value to paired centrals only, and its values reach Harald."""
    options = "--io-capability none --answer yes --store /tmp/bonds-of-explorer --pair --follow FFE2 --notifications 2 --timeout 60"
    async with radio(machine, binary):
        for is_first in (True, False):
            async with machine.bluetoothd(1), machine.running("bluez", f"{BLUEZ_PEER} peripheral hci0", "^advertising"):
                said = await machine.run(f"{binary} explore {OURS} {options} 'Foreign BlueZ'", 150)
                assert "for friends" in said and "value of FFE2" in said
                assert ("bonded with" in said) == is_first
                assert "read ffe1" in await machine.run("cat /tmp/bluez.log")


@asynccontextmanager
async def monitored(machine: Machine, path: str) -> AsyncIterator[None]:
    """Records all adapters with BlueZ's monitor. Its output is buffered, so its file shows that it has begun."""
    await machine.begin("btmon", f"env {LIBRARIES} {BLUEZ}/usr/bin/btmon -w {path}")
    try:
        await machine.until(f"[ -s {path} ]")
        yield
    finally:
        await machine.end("btmon", "INT")


async def test_a_capture_of_btmon_is_played_back(machine: Machine, binary: str) -> None:
    """BlueZ meets a sensor as the central, and its monitor records that. Then Harald explores the sensor of the capture:
    it finds the attributes that BlueZ found, and the value that BlueZ read. Each departure is explained."""
    async with radio(machine, binary), monitored(machine, "/tmp/bluez.btsnoop"):
        async with machine.bluetoothd(1), machine.running("serve", f"{binary} serve {OURS}", "advertising as"):
            await machine.run(f"{BLUEZ_PEER} central hci0 'Harald HR' {LOCATION}", 120)
    options = "--controller capture:/tmp/bluez.btsnoop --notifications 0 --departures /tmp/departures.json"
    said = await machine.run(f"{binary} explore {options} 'Harald HR'", 120)
    for line in ("2A38 Body Sensor Location [read] = chest", "2902", "2A87 Email Address [read, notify]"):
        assert line in said
    departures = [json.loads(line) for line in (await machine.run("cat /tmp/departures.json")).splitlines()]
    # BlueZ had initialized its adapter before, and explored the sensor in other ranges.
    assert [each["explanation"] for each in departures].count(INITIALIZED) == 1
    assert all(each["explanation"] and (each.get("sent") or each.get("captured")) for each in departures)
    assert not any("unknown" in each["explanation"].lower() for each in departures)
