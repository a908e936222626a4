"""Values that take several packets, indicated values, and changing services: each in both directions."""
from __future__ import annotations

import asyncio
import re
import signal
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from bumble.core import UUID

from checks import (
    CONFIRMATION, EXECUTE_WRITE, FOREIGN_AIRS, INDICATION, NEW_LONG_VALUE, PREPARE_WRITE, counter, foreign_air,
    read_values, values,
)  # fmt: skip
from conftest import Start
from peers import captures
from peers.central import Central, central
from peers.controllers import controllers
from peers.database import ALARM, BATTERY, BATTERY_LEVEL, EXTRA, EXTRA_NOTE, EXTRA_VALUE, LONG, text
from peers.peripheral import NAME, peripheral
from test_serve import DEFAULT_NAME, serving

Capture = Callable[[str], Path]
NOTE = UUID("6E6F7465-0001-4861-7261-6C6420303031")  # of `harald serve`
SERVICE_CHANGED = UUID("2A05")


# --- Harald's client --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("air_name", FOREIGN_AIRS)
@pytest.mark.parametrize("mtu", [23, 247])
async def test_writes_and_reads_back_a_long_value(harald: Start, capture: Capture, air_name: str, mtu: int) -> None:
    log = capture("explore")
    async with foreign_air(air_name) as air, peripheral(air.transport, mtu=mtu) as sensor:
        write = f"{text(LONG)}={NEW_LONG_VALUE.hex()}"
        command = ("explore", "--controller", air.address, NAME, "--write", write, "--capture", str(log))
        async with harald(*command, "--notifications", "0") as process:
            assert await process.status() == 0
        await sensor.event("write", uuid=text(LONG), value=NEW_LONG_VALUE)
    assert f"wrote {len(NEW_LONG_VALUE)} octets" in process.output
    assert NEW_LONG_VALUE in read_values(log)
    parts = values(log, PREPARE_WRITE, sensor.database.long.handle)
    assert b"".join(parts) == NEW_LONG_VALUE and max(map(len, parts)) <= mtu - 5
    assert len(captured(log, EXECUTE_WRITE)) == 1


def captured(path: Path, opcode: int) -> list[int]:
    """The frames with PDUs of one kind."""
    return [each.frame for each in captures.att_operations(path) if each.opcode == opcode]


@pytest.mark.parametrize("air_name", FOREIGN_AIRS)
async def test_confirms_what_is_indicated(harald: Start, capture: Capture, air_name: str) -> None:
    log = capture("explore")
    async with foreign_air(air_name) as air, peripheral(air.transport) as sensor:
        command = ("explore", "--controller", air.address, NAME, "--follow", text(ALARM), "--notifications", "5")
        async with harald(*command, "--capture", str(log)) as process:
            assert await process.status() == 0
        await sensor.event("subscribe", uuid=text(ALARM), notify=False, indicate=False)
    indicated = values(log, INDICATION, sensor.database.alarm.handle)
    assert indicated[:5] == [counter(number) for number in range(1, 6)]
    assert len(captured(log, CONFIRMATION)) == len(captured(log, INDICATION))
    assert all(value.hex() in process.output for value in indicated[:5])


@pytest.mark.parametrize("air_name", FOREIGN_AIRS)
async def test_hears_of_a_new_service(harald: Start, capture: Capture, air_name: str) -> None:
    log = capture("explore")
    async with foreign_air(air_name) as air, peripheral(air.transport) as sensor:
        command = ("explore", "--controller", air.address, NAME, "--await-change", "--notifications", "0")
        async with harald(*command, "--capture", str(log)) as process:
            await process.line("waiting for the services to change")
            assert text(EXTRA).lower() not in process.output.lower()
            await sensor.grow()
            assert await process.status() == 0
    first = sensor.seen("grown")[0].details["first"]
    assert f"services changed from 0x{first:04x} to 0xffff" in process.output
    after = process.output.split("services changed")[1].lower()
    assert text(EXTRA).lower() in after and text(EXTRA_NOTE).lower() in after and EXTRA_VALUE.hex() in after
    assert struct.pack("<HH", first, 0xFFFF) in values(log, INDICATION)


async def test_says_which_characteristic_is_missing(harald: Start) -> None:
    async with controllers() as air, peripheral(air.transport):
        async with harald("explore", "--controller", air.address, NAME, "--follow", "FFF0") as process:
            assert await process.status() == 1
    assert re.search('no characteristic "FFF0"; it has ', process.errors)


# --- Harald's server --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("air_name", FOREIGN_AIRS)
async def test_indicates_a_note_to_who_has_subscribed(harald: Start, capture: Capture, air_name: str) -> None:
    log = capture("serve")
    async with foreign_air(air_name) as air, serving(harald, air, "--capture", str(log)):
        async with central(air.transport) as client:
            await client.connect(DEFAULT_NAME)
            await client.discover()
            notes = await client.subscribe(NOTE)
            for note in (b"short", NEW_LONG_VALUE, b""):
                await client.write(NOTE, note)
                # An indication is truncated to the packet; the rest can be read (Vol 3 Part F 3.4.7.2).
                assert await asyncio.wait_for(notes.get(), 10) == note[: client.mtu - 3]
                assert await client.read(NOTE) == note
            await client.unsubscribe(NOTE)
            await client.disconnect()
    assert len(captured(log, CONFIRMATION)) == len(captured(log, INDICATION)) == 3


@pytest.mark.parametrize("air_name", FOREIGN_AIRS)
async def test_tells_of_changed_services(harald: Start, capture: Capture, air_name: str) -> None:
    log = capture("serve")
    async with foreign_air(air_name) as air, serving(harald, air, "--capture", str(log)) as process:
        async with central(air.transport) as client:
            await client.connect(DEFAULT_NAME)
            await client.discover()
            assert not client.peer.get_services_by_uuid(BATTERY)
            changes = await client.subscribe(SERVICE_CHANGED)
            process.child.send_signal(signal.SIGUSR1)
            start, end = struct.unpack("<HH", await asyncio.wait_for(changes.get(), 10))
            await discover_anew(client)
            (battery,) = client.peer.get_services_by_uuid(BATTERY)
            assert start <= battery.handle <= battery.end_group_handle <= end
            assert await client.read(BATTERY_LEVEL) == bytes([100])
            process.child.send_signal(signal.SIGUSR1)
            start, end = struct.unpack("<HH", await asyncio.wait_for(changes.get(), 10))
            assert start <= battery.handle <= battery.end_group_handle <= end
            await discover_anew(client)
            assert not client.peer.get_services_by_uuid(BATTERY)
            await client.disconnect()
    assert len(captured(log, CONFIRMATION)) == len(values(log, INDICATION)) == 2


async def discover_anew(client: Central) -> None:
    client.peer.gatt_client.services.clear()
    client.peer.gatt_client.cached_values.clear()
    await client.discover()
