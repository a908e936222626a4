"""`harald page` against clients that are no browsers: other hosts and origins, missing tokens, floods, and WebSockets that
misbehave."""
from __future__ import annotations

import asyncio
import http.client
import json
import os
import socket
import statistics
import sys
import time
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, AsyncIterator
from urllib.parse import urlsplit

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from conftest import Start
from peers.controllers import controllers
from test_service import service


class Site:
    """The address that was printed, in parts."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        assert parts.fragment.startswith("token=") and not parts.query, address
        self.port, self.token = parts.port or 0, parts.fragment.removeprefix("token=")
        self.origin = f"http://127.0.0.1:{self.port}"
        self.socket = f"ws://127.0.0.1:{self.port}/socket"

    def get(self, path: str, **headers: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer

    @asynccontextmanager
    async def open(self, **options: Any) -> AsyncIterator[ClientConnection]:
        """The WebSocket of the page, after its first message."""
        async with connect(self.socket, origin=self.origin, **options) as page:  # type: ignore[arg-type]
            await page.send(json.dumps({"token": self.token}))
            assert json.loads(await asyncio.wait_for(page.recv(), 20))["type"] == "open"
            yield page


async def closed(site: Site, first: str) -> int:
    """The code that closes a WebSocket with this first message."""
    async with connect(site.socket, origin=site.origin) as page:  # type: ignore[arg-type]
        await page.send(first)
        with pytest.raises(ConnectionClosed) as closing:
            await asyncio.wait_for(page.recv(), 20)
        assert closing.value.rcvd is not None
        return closing.value.rcvd.code


async def refused(site: Site, origin: str | None) -> int:
    """The status with which a WebSocket is refused."""
    try:
        async with connect(site.socket, origin=origin):  # type: ignore[arg-type]
            return 101
    except InvalidStatus as error:
        return error.response.status_code


async def test_a_page_is_for_one_browser_and_no_other_site(harald: Start, tmp_path: Path) -> None:
    async with controllers() as air, service(harald, air.address, tmp_path):
        async with harald("page", "--service", str(tmp_path / "service")) as page:
            site = Site((await page.line(r"(http://\S+)")).group(1))
            answer = await asyncio.to_thread(site.get, "/")
            assert answer.status == 200 and "default-src 'none'" in answer.headers["Content-Security-Policy"]
            assert "Set-Cookie" not in answer.headers and answer.headers["Connection"] == "close"
            assert (await asyncio.to_thread(site.get, "/", Host=f"evil.example:{site.port}")).status == 403
            assert (await asyncio.to_thread(site.get, "/", Origin="http://evil.example")).status == 403
            assert (await asyncio.to_thread(site.get, "/packets/0123456789abcdef0123456789abcdef")).status == 410
            assert await refused(site, "http://evil.example") == 403
            assert await refused(site, None) == 404
            assert await refused(site, site.origin) == 101
            assert await closed(site, json.dumps({"token": "0" * 32})) == 4001
            assert await closed(site, json.dumps({"verb": "packets", "on": True})) == 4001
            async with site.open():
                pass


async def test_a_websocket_that_misbehaves_harms_no_other(harald: Start, tmp_path: Path) -> None:
    """Half a frame, a message that is too long, one that is no JSON, and a client that never reads."""
    async with controllers() as air, service(harald, air.address, tmp_path):
        async with harald("page", "--service", str(tmp_path / "service")) as page:
            site = Site((await page.line(r"(http://\S+)")).group(1))
            async with site.open() as good, site.open() as mute, site.open() as long:
                mute.transport.pause_reading()
                # The beginning of a masked text frame of 100 octets, and no more.
                half = mute.transport.get_extra_info("socket")
                assert isinstance(half, socket.socket) or half is not None
                mute.transport.write(bytes([0x81, 0x80 | 100, 1, 2, 3, 4, 5]))
                await long.send("x" * 5_000)
                try:
                    while True:
                        await asyncio.wait_for(long.recv(), 20)
                except ConnectionClosed:
                    pass
                await good.send("no JSON")
                await good.send(json.dumps({"verb": "read", "id": 7}))
                outcomes = []
                while len(outcomes) < 2:
                    message = json.loads(await asyncio.wait_for(good.recv(), 20))
                    if message["type"] == "outcome":
                        outcomes.append(message["value"])
                assert "cannot be read" in outcomes[0]["error"] and outcomes[1]["id"] == 7


def memory(process: int) -> int:
    """The resident memory of a process, in octets."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) << 10


async def counted(page: ClientConnection, count: int) -> tuple[int, int]:
    """The packets that a page receives until there are so many with the lost ones, and the lost ones."""
    got = lost = 0
    while got + lost < count:
        message = json.loads(await asyncio.wait_for(page.recv(), 20))
        if message["type"] == "packets":
            got, lost = got + len(message["value"]["rows"]), lost + message["value"]["lost"]
        elif message["type"] == "lost":
            lost += message["value"]
    return got, lost


async def test_a_hundred_pages_that_do_not_read_cost_little(harald: Start, tmp_path: Path) -> None:
    """The memory of page and service stays bounded, a page that reads gets everything, and a slow one less."""
    async with controllers() as air, service(harald, air.address, tmp_path) as host:
        async with harald("page", "--service", str(tmp_path / "service")) as page:
            site = Site((await page.line(r"(http://\S+)")).group(1))
            follow = json.dumps({"verb": "packets", "on": True})
            async with AsyncExitStack() as stack:
                pages = []
                for number in range(100):
                    narrow = socket.socket()
                    # The kernel must not read in place of the browser.
                    if number:
                        narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
                    narrow.setblocking(False)
                    await asyncio.get_running_loop().sock_connect(narrow, ("127.0.0.1", site.port))
                    pages.append(await stack.enter_async_context(
                        site.open(sock=narrow, max_queue=None, compression=None)))
                    await pages[-1].send(follow)
                good, slow, *mute = pages
                for each in [slow, *mute]:
                    each.transport.pause_reading()
                before = memory(page.child.pid), memory(host.child.pid)
                # Vendor events of 200 octets: 60 MB of text for a hundred pages.
                event = bytes([4, 0xFF, 200]) + bytes(200)
                sent = 6_000
                for _ in range(60):
                    air.hosts[0].write(event * 100)
                    await asyncio.sleep(0.02)
                got, lost = await counted(good, sent)
                assert got >= sent and lost == 0, (got, lost)
                grown = [after - each for after, each in zip((memory(page.child.pid), memory(host.child.pid)), before)]
                assert grown[0] < 80 << 20 and grown[1] < 16 << 20, grown
                slow.transport.resume_reading()
                air.hosts[0].write(event)
                got, lost = await counted(slow, sent)
                assert 0 < lost < sent, (got, lost)
                # A page that does not read would not close in order either.
                for each in mute:
                    each.transport.abort()


async def questions(page: ClientConnection, count: int) -> float:
    """The median time of a question to the service, in seconds."""
    times = []
    for number in range(count):
        start = time.monotonic()
        await page.send(json.dumps({"verb": "forget", "peer": "00000000-0000-0000-0000-000000000000", "id": number}))
        while True:
            message = json.loads(await asyncio.wait_for(page.recv(), 20))
            if message["type"] == "outcome" and message["value"]["id"] == number:
                break
        times.append(time.monotonic() - start)
        await asyncio.sleep(0.02)
    return statistics.median(times)


# Beside a build and other tests, waiting times mean little.
IS_QUIET = "HARALD_THOROUGH" in os.environ
LONGEST_OPENING, LONGEST_WAIT = (2, 0.02) if IS_QUIET else (20, 0.5)


@asynccontextmanager
async def attack(site: Site, kind: str) -> AsyncIterator[None]:
    """256 connections of a kind, in a process of their own; one that the server closes begins again."""
    crowd = await asyncio.create_subprocess_exec(
        sys.executable, str(Path(__file__).parents[1] / "peers/hostile_browsers.py"), kind, str(site.port))
    await asyncio.sleep(3)
    try:
        assert crowd.returncode is None
        yield
    finally:
        crowd.kill()
        await crowd.wait()


@pytest.mark.parametrize("kind", ["pipelined", "endless", "slow", "mute", "pinging"])
async def test_256_hostile_connections_keep_nobody_out(harald: Start, tmp_path: Path, kind: str) -> None:
    """AB-P01, AB-P02, AB-P03: memory is bounded, the owner's page opens at once, and the service answers as before."""
    places = ("--socket", str(tmp_path / "service"), "--store", str(tmp_path / "store"))
    async with controllers() as air, harald("service", "--controller", air.address, *places, "--page") as host:
        site = Site((await host.line(r"(http://\S+)")).group(1))
        # Another page of the same service, which is not attacked, asks as any other process would.
        async with harald("page", "--service", str(tmp_path / "service")) as other:
            async with Site((await other.line(r"(http://\S+)")).group(1)).open() as page:
                before = await questions(page, 30)
                async with attack(site, kind):
                    during = await questions(page, 30)
                    start = time.monotonic()
                    for name in ["/", "/page.js", "/model.js", "/page.css", "/packets.js"]:
                        assert (await asyncio.to_thread(site.get, name)).status == 200
                    async with site.open() as own:
                        assert json.loads(await asyncio.wait_for(own.recv(), 20))
                    opened = time.monotonic() - start
                    used = memory(host.child.pid)
        print(f"{kind}: opened in {opened:.2f} s, questions {before * 1e3:.1f} and {during * 1e3:.1f} ms, {used >> 20} MiB")
        assert used < 96 << 20, used
        assert opened < LONGEST_OPENING, opened
        assert during < before + LONGEST_WAIT, (before, during)
