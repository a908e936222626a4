"""`harald page` against clients that are no browsers: other hosts and origins, missing keys, and WebSockets that misbehave."""
from __future__ import annotations

import asyncio
import http.client
import json
import socket
from contextlib import AsyncExitStack
from pathlib import Path
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from conftest import Start
from peers.controllers import controllers
from test_service import service


class Site:
    """The address that was printed, in parts."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self.port, self.path = parts.port or 0, f"{parts.path}?{parts.query}"
        self.origin = f"http://127.0.0.1:{self.port}"
        self.socket = f"ws://127.0.0.1:{self.port}/socket"

    def get(self, path: str, **headers: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer

    def cookie(self) -> str:
        answer = self.get(self.path)
        assert answer.status == 303 and answer.headers["Location"] == "/"
        cookie = answer.headers["Set-Cookie"]
        assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
        return cookie.partition(";")[0]


async def refused(site: Site, cookie: str | None, origin: str | None) -> int:
    """The status with which a WebSocket is refused."""
    try:
        async with connect(site.socket, origin=origin, additional_headers={"Cookie": cookie} if cookie else {}):  # type: ignore[arg-type]
            return 101
    except InvalidStatus as error:
        return error.response.status_code


async def test_a_page_is_for_one_browser_and_no_other_site(harald: Start, tmp_path: Path) -> None:
    async with controllers() as air, service(harald, air.address, tmp_path):
        async with harald("page", "--service", str(tmp_path / "service")) as page:
            site = Site((await page.line(r"(http://\S+)")).group(1))
            cookie = await asyncio.to_thread(site.cookie)
            answer = await asyncio.to_thread(site.get, "/", Cookie=cookie)
            assert answer.status == 200 and "default-src 'none'" in answer.headers["Content-Security-Policy"]
            assert (await asyncio.to_thread(site.get, "/")).status == 401
            assert (await asyncio.to_thread(site.get, "/?token=0123456789abcdef0123456789abcdef")).status == 401
            assert (await asyncio.to_thread(site.get, "/", Cookie=cookie, Host=f"evil.example:{site.port}")).status == 403
            assert (await asyncio.to_thread(site.get, "/", Cookie=cookie, Origin="http://evil.example")).status == 403
            assert await refused(site, None, site.origin) == 401
            assert await refused(site, cookie, "http://evil.example") == 403
            assert await refused(site, cookie, None) == 404
            assert await refused(site, cookie, site.origin) == 101


async def test_a_websocket_that_misbehaves_harms_no_other(harald: Start, tmp_path: Path) -> None:
    """Half a frame, a message that is too long, one that is no JSON, and a client that never reads."""
    async with controllers() as air, service(harald, air.address, tmp_path):
        async with harald("page", "--service", str(tmp_path / "service")) as page:
            site = Site((await page.line(r"(http://\S+)")).group(1))
            headers = {"Cookie": await asyncio.to_thread(site.cookie)}
            async with (
                connect(site.socket, origin=site.origin, additional_headers=headers) as good,  # type: ignore[arg-type]
                connect(site.socket, origin=site.origin, additional_headers=headers) as mute,  # type: ignore[arg-type]
                connect(site.socket, origin=site.origin, additional_headers=headers) as long,  # type: ignore[arg-type]
            ):
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
            headers = {"Cookie": await asyncio.to_thread(site.cookie)}
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
                        connect(site.socket, sock=narrow, origin=site.origin, additional_headers=headers,  # type: ignore[arg-type]
                                max_queue=None, compression=None)))
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
