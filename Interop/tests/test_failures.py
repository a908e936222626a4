"""The messages and exit statuses of `harald` when a controller or a peer fails."""
from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from checks import FOREIGN_AIRS, foreign_air
from conftest import Start
from peers.controllers import controllers
from peers.peripheral import NAME, Peripheral, peripheral
from peers.ports import HOST, free_ports
from peers.rootcanal import rootcanal

USAGE, UNREACHABLE, NONSENSE, NOT_FOUND, VANISHED = 64, 3, 4, 5, 6
Behaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def fails(harald: Start, status: int, *command: str, names: str | None = None) -> None:
    """Checks that the program ends with the status and one line on standard error that names the failure."""
    async with harald(*command) as process:
        assert await process.status() == status
    lines = [line for line in process.err if line.strip()]
    assert len(lines) == 1, "standard error has to be one line"
    if names:
        assert names in lines[0]


# --- usage ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        "nonsense",
        "explore",
        "explore --controller tcp:127.0.0.1:6402",
        "explore --controller nonsense NAME",
        "explore --controller tcp:127.0.0.1:port NAME",
        "explore --controller tcp:127.0.0.1:70000 NAME",
        "explore --controller tcp:127.0.0.1:6402 NAME --notifications some",
        "explore --controller tcp:127.0.0.1:6402 NAME --timeout soon",
        "serve --controller serial:",
        "serve --controller tcp:127.0.0.1",
        "controllers --listen nowhere",
        "demo --seed x",
    ],
)
async def test_wrong_usage(harald: Start, command: str) -> None:
    async with harald(*command.split()) as process:
        assert await process.status() == USAGE
    assert process.err, "standard error says nothing"


async def test_a_machine_without_an_adapter(harald: Start) -> None:
    """Without a named controller the first adapter is used; here there is none."""
    if any(Path("/sys/class/bluetooth").glob("hci*")):
        pytest.skip("this machine has an adapter, which is not ours to take")
    async with harald("serve") as process:
        assert await process.status() == UNREACHABLE
    assert "Bluetooth" in process.errors


# --- controllers ------------------------------------------------------------------------------------------------------


def commands(address: str) -> list[tuple[str, ...]]:
    return [("explore", "--controller", address, NAME, "--timeout", "5"), ("serve", "--controller", address)]


@asynccontextmanager
async def pretender(behaviour: Behaviour) -> AsyncIterator[str]:
    """A server that is not a controller; provides its --controller address."""
    server = await asyncio.start_server(behaviour, HOST, 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield f"tcp:{HOST}:{port}"
    finally:
        server.close()


async def says_nothing(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    while await reader.read(1024):
        pass


async def hangs_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()


async def speaks_http(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
    await says_nothing(reader, writer)


async def floods(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(bytes(range(256)) * 64)
    await says_nothing(reader, writer)


async def answers_in_halves(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """The first half of a Command Complete event, and nothing more."""
    await reader.read(1024)
    writer.write(bytes.fromhex("040e0401"))
    await says_nothing(reader, writer)


async def refuses_everything(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Unknown HCI Command is the response to every command, including Reset."""
    while command := await reader.read(1024):
        writer.write(bytes.fromhex("040f040101") + command[1:3])


@pytest.mark.parametrize("which", [0, 1], ids=["explore", "serve"])
async def test_nobody_listens(harald: Start, which: int) -> None:
    (port,) = free_ports(1)
    await fails(harald, UNREACHABLE, *commands(f"tcp:{HOST}:{port}")[which], names=str(port))


async def test_a_host_without_an_address(harald: Start) -> None:
    command = ("explore", "--controller", "tcp:no-such-host.invalid:6402", NAME)
    await fails(harald, UNREACHABLE, *command, names="no-such-host")


async def turns_out_to_be_none(harald: Start, behaviour: Behaviour) -> None:
    async with pretender(behaviour) as address:
        where = address.removeprefix("tcp:")
        await asyncio.gather(*(fails(harald, NONSENSE, *each, names=where) for each in commands(address)))


@pytest.mark.parametrize("behaviour", [hangs_up, speaks_http, floods, refuses_everything])
async def test_what_listens_is_no_controller(harald: Start, behaviour: Behaviour) -> None:
    await turns_out_to_be_none(harald, behaviour)


async def test_what_listens_never_answers(harald: Start) -> None:
    # Concurrently, because each waits as long as a command may take.
    await asyncio.gather(turns_out_to_be_none(harald, says_nothing), turns_out_to_be_none(harald, answers_in_halves))


async def test_a_controller_that_stops_answering(harald: Start) -> None:
    """The message names the command without an answer, which tells a slow controller from a broken one."""
    create_connection = bytes.fromhex("014320")  # LE Extended Create Connection

    async with controllers() as air, peripheral(air.transport):
        host, port = air.address.removeprefix("tcp:").split(":")

        async def stops_at_connections(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            answers, commands = await asyncio.open_connection(host, int(port))
            asyncio.ensure_future(relayed(answers, writer))
            while (command := await reader.read(1024)) and create_connection not in command:
                commands.write(command)
            await says_nothing(reader, writer)

        async with pretender(stops_at_connections) as address:
            reason = "the controller does not answer LE Extended Create Connection [v1] (0x2043); it was reset"
            await fails(harald, NONSENSE, "explore", "--controller", address, NAME, names=reason)


async def relayed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1024):
        writer.write(data)


async def test_a_scan_on_a_controller_that_never_answers(harald: Start) -> None:
    async with pretender(says_nothing) as address:
        command = ("scan", "--controller", address, "--timeout", "1")
        await fails(harald, NONSENSE, *command, names="does not answer")
        await fails(harald, NONSENSE, *command, "--until", "Nobody", names="does not answer")


async def test_the_port_to_listen_on_is_taken(harald: Start) -> None:
    async with pretender(says_nothing) as address, harald("controllers", "--listen", address.split(":")[2]) as process:
        assert await process.status() not in (0, None)
        assert process.err, "standard error says nothing"


# --- peers ------------------------------------------------------------------------------------------------------------


async def test_nobody_has_the_name(harald: Start) -> None:
    async with controllers() as air, peripheral(air.transport):
        command = ("explore", "--controller", air.address, "Nobody", "--timeout", "1")
        await fails(harald, NOT_FOUND, *command, names="Nobody")


DISCOVERY = {
    "services": 0x10,
    "characteristics": 0x08,
    "descriptors": 0x04,
    "reading": 0x0A,
    "reading-a-long-value": 0x0C,
    "subscribing": 0x12,
}


@pytest.mark.parametrize("opcode", DISCOVERY.values(), ids=DISCOVERY.keys())
async def test_the_peer_hangs_up(harald: Start, opcode: int) -> None:
    async with controllers() as air, peripheral(air.transport, cut_at=opcode, mtu=64) as sensor:
        await fails(harald, VANISHED, "explore", "--controller", air.address, NAME, names=NAME)
        assert sensor.seen("request", fault="cut")


async def test_what_is_known_of_a_peer_that_hangs_up_is_printed(harald: Start) -> None:
    async with controllers() as air, peripheral(air.transport, cut_at=DISCOVERY["reading"], mtu=64):
        async with harald("explore", "--controller", air.address, NAME) as process:
            assert await process.status() == VANISHED
    told = process.out.index("its services as far as they were discovered:")
    table = process.out[told + 1 :]
    for service in ("Generic Access", "Heart Rate", "Battery"):
        assert any(f" {service}" in line for line in table), service
    # The first value is that of the first service: its characteristic is printed, and nothing after it.
    assert any("characteristic" in line for line in table)
    assert "following" not in process.output


async def until_stuck(explorer: asyncio.Task[None], sensor: Peripheral) -> None:
    """Waits for the request that the peripheral leaves unanswered; an explorer that has ended by then has failed."""
    stuck = asyncio.ensure_future(sensor.event("request"))
    await asyncio.wait([explorer, stuck], return_when=asyncio.FIRST_COMPLETED)
    if not stuck.done():
        stuck.cancel()
        await explorer
    await stuck


@pytest.mark.rootcanal
async def test_the_peer_goes_out_of_range(harald: Start) -> None:
    async with rootcanal() as air, peripheral(air.transport, swallow_at=0x08) as sensor:
        command = ("explore", "--controller", air.address, NAME)
        explorer = asyncio.ensure_future(fails(harald, VANISHED, *command, names=NAME))
        await until_stuck(explorer, sensor)
        await air.out_of_range((await air.hosts())[0])
        await explorer


@pytest.mark.parametrize("air_name", FOREIGN_AIRS)
async def test_the_peers_process_ends(harald: Start, air_name: str) -> None:
    async with foreign_air(air_name) as air:
        async with peripheral(air.transport, swallow_at=0x08) as sensor:
            command = ("explore", "--controller", air.address, NAME)
            explorer = asyncio.ensure_future(fails(harald, VANISHED, *command, names=NAME))
            await until_stuck(explorer, sensor)
        await explorer


async def test_the_controller_goes_away_in_discovery(harald: Start) -> None:
    """Not a fault of the peer: the connection to the controller ends."""
    async with controllers() as air, peripheral(air.transport, swallow_at=0x08) as sensor:
        command = ("explore", "--controller", air.address, NAME)
        port = air.address.split(":")[2]
        explorer = asyncio.ensure_future(fails(harald, NONSENSE, *command, names=port))
        await until_stuck(explorer, sensor)
        for host in air.hosts:
            host.abort()
        await explorer
