"""`harald controllers`: foreign hosts on Harald's virtual controllers."""
from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bumble import hci

from checks import FIRST_BEATS, check_full_session, use_everything
from conftest import Start
from peers import captures
from peers.central import central
from peers.database import BATTERY_LEVEL, HEART_RATE_MEASUREMENT, VALUES
from peers.peripheral import ADDRESS, NAME, peripheral

LINK_LOST = hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR


@asynccontextmanager
async def our_controllers(harald: Start, directory: Path) -> AsyncIterator[str]:
    """Provides the Bumble transport name. The captures of the controllers must be valid."""
    async with harald("controllers", "--listen", "0", "--capture", str(directory)) as process:
        found = await process.line(r"listening on .*?(\d+)\D*$")
        yield f"tcp-client:127.0.0.1:{found[1]}"
    for path in directory.glob("**/*.btsnoop"):
        assert captures.records(path) > 0
        # A Bumble host may send one more packet on a link whose end it has not processed yet.
        faults = [each for each in captures.malformed(path) if 'out of any "connection handle" session' not in each]
        assert faults == []


async def test_bumble_hosts_use_everything(harald: Start, tmp_path: Path) -> None:
    async with (
        our_controllers(harald, tmp_path) as transport,
        peripheral(transport) as sensor,
        central(transport) as client,
    ):
        await use_everything(client, sensor)
        # Once more, because the controllers must have discarded some state in between.
        await client.connect(NAME)
        await client.disconnect()

    logs = sorted(tmp_path.glob("**/*.btsnoop"))
    assert len(logs) == 2, "one capture for each controller"
    for log in logs:
        check_full_session(log, sensor)
    heard = [each for log in logs for each in captures.advertising(log) if each.address == ADDRESS]
    assert NAME in {each.name for each in heard}
    assert all(-127 <= each.rssi <= 20 for each in heard)


async def test_one_central_holds_links_to_two_peripherals(harald: Start, tmp_path: Path) -> None:
    async with (
        our_controllers(harald, tmp_path) as transport,
        peripheral(transport, "Left") as left,
        peripheral(transport, "Right", address="F0:9E:16:4A:00:06") as right,
        central(transport) as client,
    ):
        peers = {}
        for sensor in (left, right):
            peers[sensor.name] = await client.connect(sensor.name)
            await client.discover()
        for name in peers:
            client.peer = peers[name]
            assert await client.read(BATTERY_LEVEL) == VALUES[BATTERY_LEVEL]
            assert await client.follow(HEART_RATE_MEASUREMENT, 3) == FIRST_BEATS
        for name in peers:
            client.peer = peers[name]
            await client.disconnect()
        await left.event("disconnection")
        await right.event("disconnection")


async def test_a_controller_leaves_the_air_with_its_host(harald: Start, tmp_path: Path) -> None:
    async with our_controllers(harald, tmp_path) as transport, central(transport) as client:
        async with peripheral(transport):
            peer = await client.connect(NAME)
            lost = asyncio.get_running_loop().create_future()
            peer.connection.on(peer.connection.EVENT_DISCONNECTION, lost.set_result)
        assert await asyncio.wait_for(lost, 10) == LINK_LOST
        # The address is free for a new host on a new controller.
        async with peripheral(transport):
            await client.connect(NAME)
            await client.disconnect()


async def test_the_air_between_foreign_hosts_is_captured_with_their_names(harald: Start, tmp_path: Path) -> None:
    air = tmp_path / "air.pcapng"
    async with harald("controllers", "--listen", "0", "--air", str(air), "--quirk", "versionRepeated") as process:
        found = await process.line(r"listening on .*?(\d+)\D*$")
        transport = f"tcp-client:127.0.0.1:{found[1]}"
        async with peripheral(transport) as sensor, central(transport) as client:
            await client.connect(NAME)
            await client.discover()
            assert await client.follow(HEART_RATE_MEASUREMENT, 3) == FIRST_BEATS
            await client.disconnect()
            await sensor.event("disconnection")
    assert captures.malformed(air) == []
    senders = set(captures.tshark(air, "-T", "fields", "-e", "frame.comment").splitlines())
    assert f"{NAME} (controller 1)" in senders and "controller 2" in senders
    notified = f'btatt.opcode == 0x1b && frame.comment == "{NAME} (controller 1)"'
    assert len(captures.tshark(air, "-Y", notified).splitlines()) >= 3
    # The quirk: each controller sends LL_VERSION_IND (0x0C) several times.
    versions = captures.tshark(air, "-Y", "btle.control_opcode == 0x0c", "-T", "fields", "-e", "frame.comment")
    assert versions.splitlines().count("controller 2") > 1


async def test_all_connections_to_a_controller_share_a_capture(harald: Start, tmp_path: Path) -> None:
    reset, complete = bytes.fromhex("01 030c00"), bytes.fromhex("04 0e")
    async with harald("controllers", "--listen", "0", "--capture", str(tmp_path)) as process:
        port = int((await process.line(r"listening on .*?(\d+)\D*$"))[1])
        for _ in range(3):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(reset)
            assert (await reader.readexactly(7)).startswith(complete)
            writer.close()
            await writer.wait_closed()
            await process.line("controller 1 disconnected")
    assert [each.name for each in tmp_path.iterdir()] == ["controller-1.btsnoop"]
    assert captures.records(tmp_path / "controller-1.btsnoop") == 6
    assert captures.malformed(tmp_path / "controller-1.btsnoop") == []


async def test_the_65th_connection_is_refused_with_words_at_both_ends(harald: Start) -> None:
    """The listener says why, and so does the client's error. A controller that becomes free is offered again."""
    async with harald("controllers", "--listen", "0") as process:
        port = int((await process.line(r"listening on .*?(\d+)\D*$"))[1])
        writers = [(await asyncio.open_connection("127.0.0.1", port))[1] for _ in range(64)]
        await process.line("controller 64 connected")
        async with harald("scan", "--controller", f"tcp:127.0.0.1:{port}", "--timeout", "1") as scan:
            assert await scan.status(timeout=20) == 4
        assert "accepts no more connections: all of them are in use; end a program that uses one" in scan.errors
        await process.line("connection refused: all 64 controllers of this port are in use; end a program that uses one")
        writers.pop().close()
        await process.line("controller 64 disconnected")
        async with harald("scan", "--controller", f"tcp:127.0.0.1:{port}", "--timeout", "1") as scan:
            assert await scan.status(timeout=20) == 0
        for writer in writers:
            writer.close()
