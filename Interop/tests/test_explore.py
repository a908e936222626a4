"""`harald explore`: Harald's host as central, on foreign controllers, with a foreign peripheral."""
from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from checks import CCCD_NOTIFY, FIRST_BEATS, FOREIGN_AIRS, NOTIFICATION, WRITE_REQUEST, foreign_air, read_values, values
from conftest import Start
from peers import captures
from peers.controllers import controllers
from peers.database import (
    BATTERY_LEVEL, BODY_SENSOR_LOCATION, DESCRIPTIONS, ENVIRONMENT, ERRORS, FORMAT, HEART_RATE, HEART_RATE_MEASUREMENT, LONG, LONG_VALUE,
    MANUFACTURER_NAME, MODEL_NUMBER, NOTE, VALUES, WORKSHOP, text,
)  # fmt: skip
from peers.peripheral import ADDRESS, MANUFACTURER_DATA, NAME, peripheral

Capture = Callable[[str], Path]


class Printed:
    """The output of `explore`, by the UUIDs in its lines."""

    def __init__(self, output: str) -> None:
        self.lines = output.splitlines()

    def of(self, uuid: object) -> str:
        """The lines that contain the UUID, in lower case; hexadecimal numbers without spaces between the octets."""
        name = re.compile(rf"(?<![0-9a-f-]){text(uuid)}(?![0-9a-f-])", re.IGNORECASE)
        found = [line for line in self.lines if name.search(line)]
        assert found, f"no line names {text(uuid)}"
        return "\n".join(re.sub(r"(?<=\b[0-9a-f]{2}) (?=[0-9a-f]{2}\b)", "", line.lower()) for line in found)

    def has_handle(self, uuid: object, handle: int) -> bool:
        return bool(re.search(rf"\b(0x0*{handle:x}|0*{handle:x}|{handle})\b", self.of(uuid)))


@pytest.mark.parametrize("air_name", FOREIGN_AIRS)
async def test_explores_the_foreign_peripheral(harald: Start, capture: Capture, air_name: str) -> None:
    log, sensor_log = capture("explore"), capture("sensor")
    async with foreign_air(air_name) as air, peripheral(air.transport, capture=sensor_log) as sensor:
        async with harald("explore", "--controller", air.address, NAME, "--raw", "--capture", str(log)) as process:
            assert await process.status() == 0
        await sensor.event("disconnection")
        assert sensor.seen("subscribe", uuid="2A37", notify=True)

    printed, database = Printed(process.output), sensor.database
    for uuid in (HEART_RATE, WORKSHOP, HEART_RATE_MEASUREMENT, *ERRORS):
        printed.of(uuid)
    for uuid, value in VALUES.items():
        assert value.hex() in printed.of(uuid), text(uuid)
    for uuid in ERRORS:
        assert "not readable" in printed.of(uuid)
    assert f"includes {text(ENVIRONMENT)}" in process.output
    for uuid in (MANUFACTURER_NAME, MODEL_NUMBER):
        assert VALUES[uuid].decode().lower() in printed.of(uuid)
    assert DESCRIPTIONS[NOTE].hex() in process.output.lower().replace(" ", "")
    for each in (database.measurement, database.note, database.long, database.alarm):
        assert printed.has_handle(each.uuid, each.handle), f"{text(each.uuid)} is not shown with 0x{each.handle:04X}"
    for property in ("read", "write"):
        assert property in printed.of(NOTE)
    assert "notify" in printed.of(HEART_RATE_MEASUREMENT)

    check_exploration(log, database.measurement.handle)
    check_exploration(sensor_log, database.measurement.handle)


def check_exploration(path: Path, measurement: int) -> None:
    """Checks that tshark finds the same in Harald's capture and in Bumble's."""
    assert values(path, NOTIFICATION, measurement)[:3] == FIRST_BEATS
    assert CCCD_NOTIFY in values(path, WRITE_REQUEST, measurement + 1)
    read = read_values(path)
    for uuid, value in VALUES.items():
        assert value in read, text(uuid)
    assert {DESCRIPTIONS[NOTE], FORMAT} <= set(read)


async def test_the_capture_has_the_advertising_data(harald: Start, capture: Capture) -> None:
    log = capture("explore")
    async with controllers(rssi=-63) as air, peripheral(air.transport):
        async with harald("explore", "--controller", air.address, NAME, "--raw", "--capture", str(log)) as process:
            assert await process.status() == 0
    heard = [each for each in captures.advertising(log) if each.address == ADDRESS]
    assert {each.rssi for each in heard} == {-63}
    assert (NAME, ("180D",)) in {(each.name, each.uuids) for each in heard}
    assert ((text(WORKSHOP),), MANUFACTURER_DATA) in {(each.uuids, each.manufacturer_data) for each in heard}


async def test_finds_a_name_in_the_scan_response(harald: Start) -> None:
    async with controllers() as air, peripheral(air.transport, name_in_scan_response=True):
        async with harald("explore", "--controller", air.address, NAME) as process:
            assert await process.status() == 0


async def test_reads_long_values_over_the_smallest_mtu(harald: Start, capture: Capture) -> None:
    log = capture("explore")
    async with controllers() as air, peripheral(air.transport, mtu=23) as sensor:
        async with harald("explore", "--controller", air.address, NAME, "--raw", "--capture", str(log)) as process:
            assert await process.status() == 0
    assert LONG_VALUE.hex() in Printed(process.output).of(LONG)
    assert LONG_VALUE in read_values(log)
    assert values(log, NOTIFICATION, sensor.database.measurement.handle)[:3] == FIRST_BEATS


async def test_prints_as_many_notifications_as_asked_for(harald: Start, capture: Capture) -> None:
    log = capture("explore")
    async with controllers() as air, peripheral(air.transport):
        command = ("explore", "--controller", air.address, NAME, "--raw", "--notifications", "20", "--capture", str(log))
        async with harald(*command) as process:
            assert await process.status() == 0
    beats = values(log, NOTIFICATION)
    assert len(beats) >= 20
    output = process.output.lower().replace(" ", "")
    assert all(beat.hex() in output for beat in beats[:20])


async def test_picks_the_peripheral_that_was_asked_for(harald: Start) -> None:
    async with (
        controllers() as air,
        peripheral(air.transport, "Somebody else", address="F0:9E:16:4A:00:05") as other,
        peripheral(air.transport) as sensor,
    ):
        async with harald("explore", "--controller", air.address, NAME, "--raw") as process:
            assert await process.status() == 0
        assert sensor.seen("connection") and not other.seen("connection")
    assert VALUES[BATTERY_LEVEL].hex() in Printed(process.output).of(BATTERY_LEVEL)


async def test_a_value_that_does_not_notify_is_not_followed(harald: Start) -> None:
    """A characteristic that exists but never notifies: the ones that do are named, and the peer is not blamed."""
    async with controllers() as air, peripheral(air.transport) as sensor:
        command = ("explore", "--controller", air.address, NAME, "--follow", text(BODY_SENSOR_LOCATION))
        async with harald(*command) as process:
            assert await process.status() == 1
        await sensor.event("disconnection")
    assert "2A38 Body Sensor Location does not notify; these do: 2A37 Heart Rate Measurement, " in process.errors
    assert "was lost" not in process.errors and len(process.err) == 1
