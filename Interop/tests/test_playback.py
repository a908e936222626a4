"""`--controller capture:FILE`: captures of ours and of a foreign host, played back under `harald explore`."""
from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from conftest import Start
from peers.central import central
from peers.controllers import controllers
from peers.database import HEART_RATE_MEASUREMENT
from peers.peripheral import NAME, peripheral

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


async def test_plays_back_a_capture_of_ours(harald: Start, capture: Capture, tmp_path: Path) -> None:
    """Nothing departs but what is random, and the device looks the same."""
    log = capture("explore")
    async with controllers() as air, peripheral(air.transport) as sensor:
        async with harald("explore", "--controller", air.address, NAME, "--raw", "--capture", str(log)) as process:
            assert await process.status() == 0
        await sensor.event("disconnection")
    status, played, departures = await explore_played(harald, NAME, log, tmp_path / "departures.json")
    assert status == 0
    assert len(played) > 30
    assert played == table(process.output)
    assert [each for each in departures if not each["isRandom"]] == []


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
