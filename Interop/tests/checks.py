"""Common checks of controllers, foreign or Harald's, and of captures."""
from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from peers import captures
from peers.central import Central, Table
from peers.controllers import Air, controllers
from peers.database import (
    ALARM, DESCRIPTIONS, ERRORS, FORMAT, HEART_RATE_MEASUREMENT, LONG, NOTE, TEMPERATURE, VALUES, WORKSHOP,
    heart_rate, text,
)  # fmt: skip
from peers.peripheral import Peripheral
from peers.rootcanal import Rootcanal, rootcanal

WRITE_REQUEST, WRITE_COMMAND, PREPARE_WRITE, EXECUTE_WRITE = 0x12, 0x52, 0x16, 0x18
READ_RESPONSE, READ_BLOB_RESPONSE, NOTIFICATION, INDICATION, CONFIRMATION = 0x0B, 0x0D, 0x1B, 0x1D, 0x1E
CCCD_NOTIFY = b"\x01\x00"
NEW_LONG_VALUE = bytes(index * 11 & 0xFF for index in range(410))
FIRST_BEATS = [heart_rate(60), heart_rate(61), heart_rate(62)]

# Foreign controllers, by name.
FOREIGN_AIRS = [
    pytest.param("rootcanal full", marks=pytest.mark.rootcanal, id="rootcanal"),
    pytest.param("rootcanal 4.x", marks=pytest.mark.rootcanal, id="rootcanal-4.x"),
    pytest.param("bumble", id="bumble"),
]


def foreign_air(name: str) -> AbstractAsyncContextManager[Rootcanal | Air]:
    return controllers() if name == "bumble" else rootcanal(name.removeprefix("rootcanal "))


async def use_everything(client: Central, sensor: Peripheral) -> None:
    """Runs a whole session of the Bumble central with the Bumble peripheral, over any controllers."""
    await client.connect(sensor.name, mtu=247)
    await sensor.event("connection")
    assert client.mtu == (await sensor.event("mtu")).details["value"] == 247
    check_table(await client.table())

    await client.write(NOTE, b"with response")
    await sensor.event("write", uuid=text(NOTE), value=b"with response")
    await client.write(NOTE, b"without", response=False)
    await sensor.event("write", uuid=text(NOTE), value=b"without")
    assert await client.read(NOTE) == b"without"
    await client.write(LONG, NEW_LONG_VALUE)
    await sensor.event("write", uuid=text(LONG), value=NEW_LONG_VALUE)
    assert await client.read(LONG) == NEW_LONG_VALUE

    assert await client.follow(HEART_RATE_MEASUREMENT, 3) == FIRST_BEATS
    assert await client.follow(ALARM, 2) == [counter(1), counter(2)]
    await client.unsubscribe(ALARM)
    await sensor.event("subscribe", uuid=text(ALARM), notify=False, indicate=False)

    await client.disconnect()
    await sensor.event("disconnection")


def counter(value: int) -> bytes:
    return value.to_bytes(4, "little")


def check_table(table: Table) -> None:
    """Checks every value of the foreign peripheral's database, and every refusal, in a client's table of it."""
    # The secondary service is reached through its include, which names its handles.
    for uuid in VALUES.keys() - {TEMPERATURE}:
        assert table.characteristic(uuid).value == VALUES[uuid], text(uuid)
    for uuid, error in ERRORS.items():
        assert table.characteristic(uuid).error == error, text(uuid)
    descriptors = {each.uuid: each.value for each in table.characteristic(NOTE).descriptors}
    assert descriptors == {"2901": DESCRIPTIONS[NOTE], "2904": FORMAT}
    assert [len(service.includes) for service in table if service.uuid == text(WORKSHOP)] == [1]


def values(path: Path, opcode: int, handle: int | None = None) -> list[bytes]:
    """The values that tshark reads in the PDUs of one kind, for one attribute or for all."""
    operations = captures.att_operations(path)
    return [each.value for each in operations if each.opcode == opcode and handle in (None, each.handle)]


def read_values(path: Path) -> list[bytes]:
    """The values read, each with its Read Blob parts joined."""
    found: list[bytes] = []
    for each in captures.att_operations(path):
        if each.opcode == READ_RESPONSE:
            found.append(each.value)
        elif each.opcode == READ_BLOB_RESPONSE:
            found[-1] += each.value
    return found


def check_full_session(path: Path, sensor: Peripheral) -> None:
    """Checks that tshark finds the steps of `use_everything` in a capture of either side."""
    database = sensor.database
    assert values(path, WRITE_REQUEST, database.note.handle) == [b"with response"]
    assert values(path, WRITE_COMMAND, database.note.handle) == [b"without"]
    assert b"".join(values(path, PREPARE_WRITE, database.long.handle)) == NEW_LONG_VALUE
    assert values(path, NOTIFICATION, database.measurement.handle)[:3] == FIRST_BEATS
    assert values(path, INDICATION, database.alarm.handle)[:2] == [counter(1), counter(2)]
    assert len(values(path, CONFIRMATION)) >= 2
