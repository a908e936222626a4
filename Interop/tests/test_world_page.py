"""The world of `harald demo --page` against clients that are no browsers, its phone, and the page of a service."""
from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, AsyncIterator

from websockets.asyncio.client import ClientConnection

from conftest import Start
from peers.controllers import controllers
from peers.processes import Process
from test_page import Site


@asynccontextmanager
async def page(process: Process) -> AsyncIterator[ClientConnection]:
    """The WebSocket of the page whose address a program has printed."""
    site = Site((await process.line(r"(http://\S+)")).group(1))
    async with site.open() as socket:
        yield socket


@asynccontextmanager
async def world(harald: Start) -> AsyncIterator[ClientConnection]:
    """The WebSocket of a page with a world."""
    async with harald("demo", "--page", "--seed", "7") as process, page(process) as socket:
        yield socket


async def value(socket: ClientConnection, *kinds: str) -> Any:
    """The next value of one of these kinds."""
    while True:
        message = json.loads(await asyncio.wait_for(socket.recv(), 30))
        if message["type"] in kinds:
            return message["value"]


async def test_the_world_refuses_what_it_does_not_know_and_goes_on(harald: Start) -> None:
    hostile: list[dict[str, Any]] = [
        {}, {"act": "fly"}, {"act": "speed", "amount": 1e308}, {"act": "speed", "amount": -1},
        {"act": "move", "device": "sensor", "x": 1e300, "y": 0}, {"act": "move", "device": "Heart Rate", "x": 0, "y": 0},
        {"act": "begin", "text": "x" * 3_000}, {"act": "removeWall", "amount": 1e9}, {"act": "end", "text": "lossy"},
        {"act": ["run"]}, {"act": "restart", "text": "-1"},
    ]
    async with world(harald) as socket:
        for message in hostile:
            await socket.send(json.dumps({"verb": "world", "id": 1, **message}))
            assert "error" in await value(socket, "outcome"), message
        for _ in range(500):
            await socket.send(json.dumps({"verb": "world", "act": "move", "device": "phone", "x": 1, "y": 1}))
        # Some are refused while too many wait.
        for _ in range(500):
            await value(socket, "outcome")
        # Time stands still until the first visitor starts it.
        await socket.send(json.dumps({"verb": "world", "act": "run"}))
        assert "error" not in await value(socket, "outcome")
        first = (await value(socket, "world"))["milliseconds"]
        # Reports from before may come first.
        async with asyncio.timeout(30):
            while (await value(socket, "world"))["milliseconds"] <= first:
                pass


async def test_the_page_shows_the_phone_of_each_world(harald: Start) -> None:
    async with world(harald) as socket:
        assert [app["name"] for app in (await value(socket, "status"))["apps"]] == ["watch"]
        await socket.send(json.dumps({"verb": "forget", "peer": "00000000-0000-0000-0000-000000000000"}))
        assert "view of the world" in (await value(socket, "outcome"))["error"]
        await socket.send(json.dumps({"verb": "world", "act": "restart", "text": "12"}))
        await value(socket, "again")
        assert [app["name"] for app in (await value(socket, "status"))["apps"]] == ["watch"]
        assert (await value(socket, "world"))["seed"] == "12"
        await socket.send(json.dumps({"verb": "world", "act": "test"}))
        assert ".world(seed: 12)" in await value(socket, "worldTest")


async def test_a_service_shows_its_own_page(harald: Start, tmp_path: Path) -> None:
    """In the same process, with the same rights as `harald page`; devices are used by a process of their own."""
    places = ("--socket", str(tmp_path / "service"), "--store", str(tmp_path / "store"))
    async with controllers() as air, harald("service", "--controller", air.address, *places, "--page") as service:
        async with page(service) as socket:
            while (await value(socket, "status"))["state"] != "poweredOn":
                pass
            await socket.send(json.dumps({"verb": "scan"}))
            assert await value(socket, "scanning") is True
            while "harald" not in [app["name"] for app in (await value(socket, "status"))["apps"]]:
                pass
