"""`harald serve`: Harald's heart rate sensor on foreign controllers, with a foreign central."""
from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from bumble import att, hci

from checks import FOREIGN_AIRS, NEW_LONG_VALUE, NOTIFICATION, foreign_air, values
from conftest import Start
from peers import captures
from peers.central import Central, central
from peers.controllers import Air, controllers
from peers.database import BODY_SENSOR_LOCATION, HEART_RATE_CONTROL_POINT, HEART_RATE_MEASUREMENT
from peers.ports import HOST, free_ports
from peers.processes import Process
from peers.rootcanal import Rootcanal
from peers.terminal import at_terminal

Capture = Callable[[str], Path]
DEFAULT_NAME = "Harald HR"
RESET_ENERGY_EXPENDED = b"\x01"
RESET = 0x0C03  # an HCI command


@asynccontextmanager
async def serving(harald: Start, air: Air | Rootcanal, *arguments: str) -> AsyncIterator[Process]:
    async with harald("serve", "--controller", air.address, *arguments) as process:
        await process.line("(?i)advertising")
        yield process


def beats_per_minute(measurement: bytes) -> int:
    wide = measurement[0] & 1
    return int.from_bytes(measurement[1:3], "little") if wide else measurement[1]


@pytest.mark.parametrize("air_name", FOREIGN_AIRS)
async def test_serves_the_foreign_central(harald: Start, capture: Capture, air_name: str) -> None:
    log, central_log = capture("serve"), capture("central")
    async with foreign_air(air_name) as air, serving(harald, air, "--capture", str(log)) as process:
        async with central(air.transport, capture=central_log) as client:
            await client.connect(DEFAULT_NAME)
            table = await client.table()
            measurement = table.characteristic(HEART_RATE_MEASUREMENT)
            assert measurement.properties == ["notify"]
            assert [each.uuid for each in measurement.descriptors] == ["2902"]
            assert len(table.characteristic(BODY_SENSOR_LOCATION).value) == 1
            assert "write" in table.characteristic(HEART_RATE_CONTROL_POINT).properties
            await client.write(HEART_RATE_CONTROL_POINT, RESET_ENERGY_EXPENDED)
            beats = await client.follow(HEART_RATE_MEASUREMENT, 3)
            await client.disconnect()
        assert await process.stop(signal.SIGTERM) == 0

    assert all(25 <= beats_per_minute(each) <= 230 for each in beats)
    for path in (log, central_log):
        assert values(path, NOTIFICATION, measurement.handle)[:3] == beats
    advertised = captures.advertising(log)
    assert DEFAULT_NAME in {each.name for each in advertised}
    assert "180D" in {uuid for each in advertised for uuid in each.uuids}


async def test_takes_and_gives_back_notes(harald: Start, capture: Capture) -> None:
    """The 128-bit service with a value to read and write: short, long, and by commands."""
    async with controllers() as air, serving(harald, air, "--capture", str(capture("serve"))):
        async with central(air.transport) as client:
            await client.connect(DEFAULT_NAME)
            await client.discover()
            note = next((each for each in characteristics(client) if len(each.uuid.to_bytes()) == 16), None)
            if note is None:
                pytest.skip("harald serve has no 128-bit service")
            for value in (b"from elsewhere", NEW_LONG_VALUE, b""):
                await client.write(note.uuid, value)
                assert await client.read(note.uuid) == value


def characteristics(client: Central) -> list:
    return [each for service in client.peer.services for each in service.characteristics]


async def test_refuses_what_is_not_permitted(harald: Start, capture: Capture) -> None:
    async with controllers() as air, serving(harald, air, "--capture", str(capture("serve"))):
        async with central(air.transport) as client:
            await client.connect(DEFAULT_NAME)
            await client.discover()
            measurement = client.characteristic(HEART_RATE_MEASUREMENT).handle
            location = client.characteristic(BODY_SENSOR_LOCATION).handle
            refusals = [
                (lambda: client.peer.read_value(measurement), att.ATT_READ_NOT_PERMITTED_ERROR),
                (lambda: client.peer.read_value(0xFFF0), att.ATT_INVALID_HANDLE_ERROR),
                (lambda: client.peer.write_value(location, b"\x01", True), att.ATT_WRITE_NOT_PERMITTED_ERROR),
            ]
            for attempt, code in refusals:
                with pytest.raises(att.ATT_Error) as error:
                    await client.answer(attempt())
                assert error.value.error_code == code


async def test_advertises_again_after_a_disconnection(harald: Start, capture: Capture) -> None:
    async with controllers() as air, serving(harald, air, "--name", "Second wind", "--capture", str(capture("serve"))):
        async with central(air.transport) as client:
            for _ in range(3):
                await client.connect("Second wind")
                await client.discover()
                assert await client.follow(HEART_RATE_MEASUREMENT, 1)
                await client.disconnect()


async def test_survives_a_central_that_vanishes(harald: Start) -> None:
    async with controllers() as air, serving(harald, air):
        for _ in range(2):
            async with central(air.transport) as client:
                await client.connect(DEFAULT_NAME)
                await client.discover()
                await client.subscribe(HEART_RATE_MEASUREMENT)
                # The block ends with the link up: its controller leaves the air.


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=["SIGINT", "SIGTERM", "SIGHUP"])
async def test_ends_in_order_on_a_signal(harald: Start, capture: Capture, sent: int) -> None:
    log = capture("serve")
    async with controllers() as air, serving(harald, air, "--capture", str(log)) as process:
        async with central(air.transport) as client:
            await client.connect(DEFAULT_NAME)
            assert await process.stop(sent) == 0
        # A user who ends it gets no messages about the consequences.
        assert process.errors == ""
        assert "Bluetooth is" not in process.output
    # The controller is left clean: its Reset ends the advertising.
    assert captures.commands(log)[-1] == RESET


async def test_a_central_learns_at_once_that_it_ended(harald: Start) -> None:
    """The link is disconnected, so that the central does not wait for its supervision timeout."""
    async with controllers() as air, serving(harald, air) as process, central(air.transport) as client:
        await client.connect(DEFAULT_NAME)
        ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        client.peer.connection.on(client.peer.connection.EVENT_DISCONNECTION, ended.set_result)
        assert await process.stop(signal.SIGINT) == 0
        assert await asyncio.wait_for(ended, 5) == hci.HCI_REMOTE_USER_TERMINATED_CONNECTION_ERROR


async def test_in_the_background_of_a_terminal_it_declines_to_pair(harald: Start, binary: str, tmp_path: Path) -> None:
    """It says why, and keeps running. A read of the terminal would stop it."""
    log = tmp_path / "sensor.log"
    async with controllers() as air, at_terminal("bash", "--norc", "-i", PS1="$ ") as terminal:
        terminal.type(f"{binary} serve --controller {air.address} > {log} &\n")
        while not log.exists() or "advertising" not in log.read_text():
            await asyncio.sleep(0.05)
        async with harald("pair", "--controller", air.address, "--answer", "yes", DEFAULT_NAME) as process:
            assert await process.status() == 7
        assert "[ declined, because this program runs in the background" in log.read_text()
        terminal.type("jobs\n")
        await terminal.sees("Running")
        terminal.type("kill %1; wait\n")
        await terminal.sees("Done")


async def test_a_name_cannot_steer_the_terminal(harald: Start) -> None:
    name = "\x1b[8m\u202e\x9b2Jx"
    async with controllers() as air, serving(harald, air, "--name", name) as process:
        async with harald("scan", "--controller", air.address, "--timeout", "3", "--until", name) as scan:
            assert await scan.status() == 0
        assert await process.stop() == 0
    for output in (process.output, scan.output):
        assert r"\u{1b}[8m\u{202e}\u{9b}2Jx" in output
        assert not any(each in output for each in "\x1b\x9b\u202e")


async def test_a_capture_is_for_the_user_alone(harald: Start, tmp_path: Path) -> None:
    log, link = tmp_path / "old.btsnoop", tmp_path / "link.btsnoop"
    log.write_bytes(b"old")
    log.chmod(0o644)
    async with controllers() as air:
        async with serving(harald, air, "--capture", str(log)) as process:
            assert await process.stop() == 0
        assert log.stat().st_mode & 0o777 == 0o600 and captures.records(log) > 0
        link.symlink_to(log)
        before = log.read_bytes()
        async with harald("serve", "--controller", air.address, "--capture", str(link)) as process:
            assert await process.status() == 1
        assert "link" in process.errors and log.read_bytes() == before


async def test_the_controllers_process_is_killed_and_started_again(harald: Start, capture: Capture, tmp_path: Path) -> None:
    """Behaviours 1.4 and 1.13: the sensor waits for its controller, keeps its identity on it, and its centrals
    reconnect."""
    (port,) = free_ports(1)
    log, store = capture("serve"), tmp_path / "bonds"

    async def serves_a_central() -> None:
        async with central(f"tcp-client:{HOST}:{port}") as client:
            await client.connect(DEFAULT_NAME)
            await client.discover()
            await client.follow(HEART_RATE_MEASUREMENT, 2)
            await client.disconnect()

    controller = ("controllers", "--listen", str(port))
    serve = ("serve", "--controller", f"tcp:{HOST}:{port}", "--capture", str(log), "--store", str(store))
    async with harald(*controller) as first:
        await first.line("listening on")
        async with harald(*serve) as sensor:
            await sensor.line("(?i)advertising")
            await serves_a_central()
            identity = secret(store)
            await first.kill()
            await sensor.line("waiting for the controller to come back")
            assert sum("advertising" in line for line in sensor.out) == 1
            async with harald(*controller) as second:
                await second.line("listening on")
                await sensor.lines("(?i)advertising", 2)
                await serves_a_central()
                assert secret(store) == identity
            assert await sensor.stop(signal.SIGTERM) == 0


def secret(store: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in store.rglob("*") if path.is_file()}


async def test_a_name_that_does_not_fit_is_shortened_and_says_so(harald: Start) -> None:
    name = "A name that is longer than an advertisement"
    async with controllers() as air, serving(harald, air, "--name", name) as process:
        assert 'the name is shortened to "A name that is longer ": 22 of its 43 octets fit into the advertisement' in process.out
        await process.line('advertising as "A name that is longer "')
        async with central(air.transport) as client:
            await client.connect("A name that is longer ")
            await client.disconnect()
