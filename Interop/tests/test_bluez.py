"""BlueZ as a peer on Harald's radio, paired and bonded, in a machine of its own: its adapter is a virtual controller
of Harald's, through the kernel's `hci_vhci`."""
from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from peers import machine as machines
from peers.machine import BLUEZ, Machine

# Everything is slow in an emulated machine.
pytestmark = pytest.mark.deadline(300)

PORT = 9700
OURS = f"--controller tcp:127.0.0.1:{PORT}"
# Only for paired centrals.
EMAIL, EMAIL_VALUE = "00002a87-0000-1000-8000-00805f9b34fb", b"wearer@example.org".hex()
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
                assert ("[ pair with" in served) == (word == "pair") and "a paired central reads" in served


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
