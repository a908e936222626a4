"""Many links at once: Harald's gateway with twenty foreign sensors, Harald's sensor with several foreign centrals."""
from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from checks import FOREIGN_AIRS, foreign_air
from conftest import Start
from peers.central import central
from peers.database import HEART_RATE_MEASUREMENT
from peers.peripheral import Peripheral, peripheral
from peers.ports import HOST
from test_serve import DEFAULT_NAME, serving

Capture = Callable[[str], Path]
SENSORS = 20
CENTRALS = 4


@asynccontextmanager
async def sensors(transport: str) -> AsyncIterator[list[Peripheral]]:
    async with AsyncExitStack() as stack:
        made = []
        for number in range(SENSORS):
            name, address = f"Sensor {number}", f"F0:9E:16:4A:01:{number:02X}"
            made.append(await stack.enter_async_context(peripheral(transport, name, address=address, beat=0.2)))
        yield made


async def check_collection(harald: Start, address: str, found: list[Peripheral], log: Path) -> None:
    command = ("collect", "--controller", address, "--sensors", str(SENSORS), "--capture", str(log))
    async with harald(*command, "--timeout", "25") as process:
        assert await process.status(28) == 0
    assert f"{SENSORS} simultaneous links" in process.output
    for sensor in found:
        assert sensor.seen("subscribe", uuid="2A37", notify=True), sensor.name
        await sensor.event("disconnection")
        assert process.output.count(f'"{sensor.name}"') >= 5


@pytest.mark.rootcanal
async def test_twenty_foreign_sensors_on_foreign_controllers(harald: Start, capture: Capture) -> None:
    async with foreign_air("rootcanal full") as air, sensors(air.transport) as found:
        await check_collection(harald, air.address, found, capture("collect"))


async def test_twenty_foreign_sensors_on_our_controllers(harald: Start, capture: Capture) -> None:
    # Without captures of the controllers: a notification of Bumble's may cross the end of its link, which tshark
    # reports as an error.
    async with harald("controllers", "--listen", "0") as process:
        port = (await process.line(r"listening on .*?(\d+)\D*$"))[1]
        async with sensors(f"tcp-client:{HOST}:{port}") as found:
            await check_collection(harald, f"tcp:{HOST}:{port}", found, capture("collect"))


@pytest.mark.parametrize("air_name", FOREIGN_AIRS)
async def test_several_foreign_centrals_follow_our_sensor(harald: Start, capture: Capture, air_name: str) -> None:
    async with (
        foreign_air(air_name) as air,
        serving(harald, air, "--capture", str(capture("serve"))),
        AsyncExitStack() as stack,
    ):
        clients = []
        for number in range(CENTRALS):
            address = f"F0:9E:16:4A:02:{number:02X}"
            client = await stack.enter_async_context(central(air.transport, address=address))
            await client.connect(DEFAULT_NAME)
            await client.discover()
            clients.append(client)
        followed = await asyncio.gather(*(client.follow(HEART_RATE_MEASUREMENT, 2) for client in clients))
        # The sensor sends the same measurements to all of them.
        assert all(len(each) == 2 for each in followed)
        assert len({each[-1] for each in followed}) == 1
        for client in clients:
            await client.disconnect()
