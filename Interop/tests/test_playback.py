"""`--controller capture:FILE`: captures of ours and of a foreign host, played back under `harald explore`."""
from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import Start
from peers import echo
from peers.central import central
from peers.controllers import controllers
from peers.database import HEART_RATE_MEASUREMENT
from peers.extended import advertise_extended, with_manufacturer_data
from peers.hosts import powered_device
from peers.pairing import NOTHING, Pairing
from peers.peripheral import ADDRESS, NAME, Peripheral, peripheral

Capture = Callable[[str], Path]
SENSOR = "Harald HR"


async def explore_played(harald: Start, name: str, path: Path, report: Path) -> tuple[int, list[str], list[dict]]:
    """Explores a device of a capture. Returns the exit status, the output, and the departures."""
    options = ("--raw", "--controller", f"capture:{path}", "--departures", str(report))
    async with harald("explore", name, *options) as process:
        status = await process.status()
    return status, table(process.output), [json.loads(line) for line in report.read_text().splitlines()]


def table(output: str) -> list[str]:
    """The lines about attributes and values."""
    return [line for line in output.splitlines() if line.startswith(("0x", "value of"))]


@asynccontextmanager
async def extended(transport: str) -> AsyncIterator[None]:
    """A device that uses extended advertising."""
    data = b"\x02\x01\x06" + with_manufacturer_data(NAME)
    async with powered_device(transport, NAME, ADDRESS, None) as device:
        await advertise_extended(device, data, connectable=True)
        yield


@asynccontextmanager
async def growing(transport: str) -> AsyncIterator[None]:
    """A sensor that gets another service while the client is subscribed."""

    async def grow(sensor: Peripheral) -> None:
        await sensor.event("subscribe", uuid="2A37")
        await sensor.grow()

    async with peripheral(transport) as sensor:
        growth = asyncio.create_task(grow(sensor))
        yield
        await growth


@asynccontextmanager
async def crowded(transport: str) -> AsyncIterator[None]:
    """A sensor with another one in range."""
    async with peripheral(transport, "Somebody else", address="F0:9E:16:4A:00:05"), peripheral(transport):
        yield


@dataclass(frozen=True)
class Peer:
    """A peripheral on Bumble's host, and the command that meets it."""

    begin: Callable[[str], AbstractAsyncContextManager[object]]
    command: tuple[str, ...] = ("explore", "--raw", NAME)
    status: int = 0
    # Whether the command ends while the service still explores the peripheral: how far it comes is a race.
    races: bool = False


VANISHED = 6
CHANNEL = ("channel", "--to", echo.NAME, "--psm", str(echo.PSM), "--size")
PEERS = {
    "sensor": Peer(peripheral),
    "smallest-mtu": Peer(lambda transport: peripheral(transport, mtu=23)),
    "name-in-scan-response": Peer(lambda transport: peripheral(transport, name_in_scan_response=True)),
    "pairing-declined": Peer(
        lambda transport: peripheral(transport, pairing=Pairing(NOTHING)), ("explore", "--raw", "--answer", "no", NAME)
    ),
    "enhanced-bearers": Peer(lambda transport: peripheral(transport, settings={"eatt_enabled": True})),
    "hangs-up": Peer(lambda transport: peripheral(transport, mtu=64, cut_at=0x0A), status=VANISHED),
    "growing": Peer(growing),
    "one-of-two": Peer(crowded),
    "extended-advertising": Peer(extended, ("explore", "--raw", "--notifications", "0", NAME)),
    "echo": Peer(echo.echo, (*CHANNEL, "900"), races=True),
    "echo-that-hangs-up": Peer(
        lambda transport: echo.echo(transport, cut_at=2_000), (*CHANNEL, "3000"), status=1, races=True
    ),
}


async def meet(harald: Start, peer: Peer, *options: str) -> tuple[int, list[str], str]:
    """The exit status, the lines on standard output without times and rates, and standard error."""
    async with harald(*peer.command, *options) as process:
        status = await process.status()
    lines = [re.sub(r"\d+(\.\d+)? (ms|s|kB/s|kbit/s|octets/s)\b", "…", line) for line in process.out]
    return status, lines, process.errors


@pytest.mark.parametrize("peer", PEERS.values(), ids=PEERS.keys())
async def test_a_recording_of_a_foreign_peripheral_is_met_as_the_original_was(
    harald: Start, capture: Capture, tmp_path: Path, peer: Peer
) -> None:
    """The command prints the same, and ends the same. Nothing departs but what is random."""
    log, report = capture("meeting"), tmp_path / "departures.json"
    async with controllers() as air, peer.begin(air.transport):
        status, output, errors = await meet(harald, peer, "--controller", air.address, "--capture", str(log))
    assert status == peer.status, errors
    options = ("--controller", f"capture:{log}", "--departures", str(report))
    status_again, output_again, errors_again = await meet(harald, peer, *options)
    assert status_again == status, errors_again
    assert output_again == output
    assert len(output) > 1
    departures = [json.loads(line) for line in report.read_text().splitlines()]
    lost = [each for each in departures if not each["isRandom"]]
    if peer.races:
        lost = [each for each in lost if "ATT " not in (each["captured"] if each["kind"] == "missing" else each["sent"])]
    assert lost == []


async def test_a_command_ends_when_the_capture_is_over(harald: Start, capture: Capture, tmp_path: Path) -> None:
    """What waits for ever otherwise: an app that follows, and stays connected. Few of the packets missed are printed."""
    log, report = capture("heart"), tmp_path / "departures.json"
    async with harald("demo", "heart-rate", "--virtual-time", "--capture", str(log)) as demo:
        assert await demo.status(timeout=25) == 0
    played = ("--controller", f"capture:{log}")
    async with harald("follow", SENSOR, "2A37", *played) as follow, harald(
        "connect", SENSOR, "--json", *played, "--departures", str(report)
    ) as stay:
        assert await follow.status(timeout=60) == 6
        assert await stay.status(timeout=60) == 6
    assert follow.output.count("bpm, contact") > 5
    assert f"capture:{log} is over: nothing in it is left to play" in follow.errors
    assert follow.errors.count("departure at ") == 20
    assert "further departures are not printed: --departures FILE has all of them" in follow.errors
    last = json.loads(stay.out[-1])
    assert (last["event"], last["code"], last["exitStatus"]) == ("error", "captureOver", 6)
    assert len(report.read_text().splitlines()) > 20


async def test_a_shell_goes_on_when_the_capture_is_over(harald: Start, capture: Capture) -> None:
    """The command that waits ends, and the next one is answered."""
    log = capture("heart")
    async with harald("demo", "heart-rate", "--virtual-time", "--capture", str(log)) as demo:
        assert await demo.status(timeout=25) == 0
    async with harald("shell", "--keep-going", "--controller", f"capture:{log}") as shell:
        lines = f'connect "{SENSOR}"', f'follow "{SENSOR}" 2A37', f'read "{SENSOR}" 2A38', "disconnect"
        shell.child.stdin.write("".join(f"{line}\n" for line in lines).encode())
        shell.child.stdin.close()
        assert await shell.status(timeout=60) == 6
    assert shell.errors.count("nothing in it is left to play") == 1
    assert shell.out[-1] == "disconnected", shell.output
    assert "chest" in shell.out, shell.output


async def test_plays_back_a_capture_of_a_foreign_host(harald: Start, capture: Capture, tmp_path: Path) -> None:
    """The app finds, connects and reads; each departure is explained, and shows both packets."""
    log = capture("central")
    async with controllers() as air:
        async with harald("serve", "--controller", air.address) as process:
            await process.line("(?i)advertising")
            async with central(air.transport, capture=log) as client:
                await client.connect(SENSOR)
                await client.table()
                await client.follow(HEART_RATE_MEASUREMENT, 3)
                await client.disconnect()
    status, played, departures = await explore_played(harald, SENSOR, log, tmp_path / "departures.json")
    assert status == 0
    assert any("2A37" in line for line in played)
    assert sum(line.startswith("value of") for line in played) == 3
    assert departures
    assert all(each["explanation"] for each in departures)
    different = [each for each in departures if each["kind"] == "different"]
    assert different
    assert all(each["captured"] and each["sent"] for each in different)
