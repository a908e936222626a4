"""Foreign peers against each other. If these fail, the harness is to blame, not Harald."""
from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from checks import FOREIGN_AIRS, check_full_session, foreign_air, use_everything
from peers import captures
from peers.central import central
from peers.controllers import controllers
from peers.database import WORKSHOP, text
from peers.hosts import LinkLost
from peers.peripheral import ADDRESS, MANUFACTURER_DATA, NAME, peripheral
from peers.rootcanal import rootcanal

Capture = Callable[[str], Path]


@pytest.mark.parametrize("air_name", FOREIGN_AIRS)
async def test_bumble_central_and_peripheral_use_everything(air_name: str, capture: Capture) -> None:
    central_log, sensor_log = capture("central"), capture("sensor")
    async with (
        foreign_air(air_name) as air,
        peripheral(air.transport, capture=sensor_log) as sensor,
        central(air.transport, capture=central_log) as client,
    ):
        await use_everything(client, sensor)
    check_full_session(central_log, sensor)
    check_full_session(sensor_log, sensor)


async def test_tshark_reads_the_advertising_data(capture: Capture) -> None:
    log = capture("central")
    async with (
        controllers(rssi=-71) as air,
        peripheral(air.transport),
        central(air.transport, capture=log) as client,
    ):
        await client.find(NAME)
    heard = [each for each in captures.advertising(log) if each.address == ADDRESS]
    assert {each.rssi for each in heard} == {-71}
    assert (NAME, ("180D",)) in {(each.name, each.uuids) for each in heard}
    assert ((text(WORKSHOP),), MANUFACTURER_DATA) in {(each.uuids, each.manufacturer_data) for each in heard}


def test_tshark_finds_a_malformed_packet(tmp_path: Path) -> None:
    path = tmp_path / "malformed.btsnoop"
    # An ATT Read Request with a truncated handle.
    packet = bytes.fromhex("02 0100 0600 0200 0400 0a03".replace(" ", ""))
    record = b"".join(value.to_bytes(4, "big") for value in (len(packet), len(packet), 0, 0)) + bytes(8) + packet
    path.write_bytes(b"btsnoop\0" + (1).to_bytes(4, "big") + (1002).to_bytes(4, "big") + record)
    assert captures.records(path) == 1
    assert len(captures.malformed(path)) == 1


@pytest.mark.parametrize(
    "command, is_good",
    [
        ("17 01 0e00 2700 0502 f700 0800 4000 4100 4200", True),
        ("18 01 0c00 0502 f700 0800 0000 4000 4100", True),
        ("18 01 0a00 0000 0000 0000 0200 0000", True),
        ("19 02 0800 0502 f700 4000 4100", True),
        ("1a 02 0200 0000", True),
        ("17 01 0a00 2700 3f00 f700 0800 4000", False),
        ("17 01 0a00 2700 0502 f700 0000 4000", False),
        ("17 01 0c00 2700 0502 f700 0800 4000 4000", False),
        ("17 01 0a00 2700 0502 f700 0800 8000", False),
        ("17 00 0a00 2700 0502 f700 0800 4000", False),
        ("17 01 0900 2700 0502 f700 0800 40", False),
        ("17 01 0800 2700 0502 f700 0800", False),
        ("1b 01 0200 0000", False),
    ],
)
def test_a_command_that_tshark_does_not_know_has_to_be_a_good_one(tmp_path: Path, command: str, is_good: bool) -> None:
    path = tmp_path / "enhanced.btsnoop"
    signal = bytes.fromhex(command.replace(" ", ""))
    header = (len(signal) + 4).to_bytes(2, "little") + len(signal).to_bytes(2, "little") + bytes.fromhex("0500")
    packet = bytes.fromhex("020100") + header + signal
    record = b"".join(value.to_bytes(4, "big") for value in (len(packet), len(packet), 0, 0)) + bytes(8) + packet
    path.write_bytes(b"btsnoop\0" + (1).to_bytes(4, "big") + (1002).to_bytes(4, "big") + record)
    assert captures.records(path) == 1
    assert (captures.malformed(path) == []) is is_good


@pytest.mark.parametrize("air_name", FOREIGN_AIRS)
async def test_a_peripheral_can_be_told_to_end_the_link_in_discovery(air_name: str) -> None:
    async with (
        foreign_air(air_name) as air,
        peripheral(air.transport, cut_at=0x08) as sensor,
        central(air.transport) as client,
    ):
        await client.connect(NAME)
        with pytest.raises(LinkLost):
            await client.discover()
        await sensor.event("disconnection")


@pytest.mark.rootcanal
async def test_a_device_can_be_taken_out_of_range() -> None:
    async with rootcanal() as air, peripheral(air.transport, swallow_at=0x08) as sensor, central(air.transport) as client:
        await client.connect(NAME)
        discovery = asyncio.ensure_future(client.discover())
        await sensor.event("request")
        await air.out_of_range((await air.hosts())[0])
        with pytest.raises(LinkLost):
            await discovery


@pytest.mark.parametrize("air_name", FOREIGN_AIRS)
async def test_a_link_is_lost_when_the_peers_process_ends(air_name: str) -> None:
    async with foreign_air(air_name) as air, central(air.transport) as client:
        async with peripheral(air.transport):
            peer = await client.connect(NAME)
            lost = asyncio.get_running_loop().create_future()
            peer.connection.on(peer.connection.EVENT_DISCONNECTION, lost.set_result)
        assert await asyncio.wait_for(lost, 10) in (0x08, 0x13, 0x15)
