"""Controllers behind Unix sockets, and behind standard input and output: the test connects each to one of Harald's
over TCP."""
from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from conftest import Start


async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while octets := await reader.read(4096):
            writer.write(octets)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


@asynccontextmanager
async def controllers(harald: Start) -> AsyncIterator[int]:
    """Virtual controllers, one of which advertises; provides the port for another."""
    async with harald("controllers", "--listen", "0") as offer:
        port = int((await offer.line(r"listening on tcp:127.0.0.1:(\d+)"))[1])
        async with harald("serve", "--controller", f"tcp:127.0.0.1:{port}", "--name", "Along the way") as server:
            await server.line("advertising as")
            yield port


async def test_a_controller_behind_a_unix_socket(harald: Start, tmp_path: Path) -> None:
    async with controllers(harald) as port:
        async def lead(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            there = await asyncio.open_connection("127.0.0.1", port)
            await asyncio.gather(pass_on(reader, there[1]), pass_on(there[0], writer))

        bridge = await asyncio.start_unix_server(lead, tmp_path / "controller")
        try:
            async with harald("scan", "--controller", f"unix:{tmp_path}/controller", "--until", "Along the way") as scanner:
                assert await scanner.status(30) == 0
                assert "Along the way" in scanner.output
        finally:
            bridge.close()


async def test_a_controller_behind_the_standard_input_and_output(harald: Start, binary: str) -> None:
    """The tool's messages go to standard error, where they cannot be taken for packets."""
    async with controllers(harald) as port:
        there = await asyncio.open_connection("127.0.0.1", port)
        scanner = await asyncio.create_subprocess_exec(
            binary, "scan", "--controller", "-", "--until", "Along the way",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        leads = [
            asyncio.create_task(pass_on(scanner.stdout, there[1])), asyncio.create_task(pass_on(there[0], scanner.stdin)),
        ]
        try:
            said = (await asyncio.wait_for(scanner.stderr.read(), 30)).decode()
            assert await scanner.wait() == 0
            assert re.search("Along the way", said), said
        finally:
            if scanner.returncode is None:
                scanner.kill()
            for each in leads:
                each.cancel()
            there[1].close()


async def test_nobody_at_a_unix_socket(harald: Start, tmp_path: Path) -> None:
    async with harald("scan", "--controller", f"unix:{tmp_path}/nobody") as scanner:
        assert await scanner.status(30) == 3
    assert f"unix:{tmp_path}/nobody" in scanner.errors
