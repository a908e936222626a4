"""Controllers behind Unix sockets, and behind standard input and output: the test connects each to one of Harald's
over TCP."""
from __future__ import annotations

import asyncio
import re
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("streams", ["< /dev/null | cat", "<&- | cat", "<&- >&-", "< /dev/null > /dev/full", "< /etc/passwd | cat"])
def test_streams_that_cannot_carry_packets(binary: str, streams: str) -> None:
    """What is no pipe, socket or terminal is refused, and does not crash the event loop."""
    command = f'set -o pipefail; "$0" scan --controller - --timeout 1 {streams}'
    tried = subprocess.run(["bash", "-c", command, binary], capture_output=True, text=True, timeout=20)
    assert tried.returncode == 3, tried.stderr
    assert tried.stderr == (
        "harald: cannot use the controller -: standard input and output have to be pipes, sockets or terminals\n"
    )


def test_the_path_of_a_socket_is_too_long(binary: str) -> None:
    for command in (["scan", "--controller", f"unix:{'x' * 300}"], ["status", "--service", "x" * 300]):
        tried = subprocess.run([binary, *command], capture_output=True, text=True, timeout=20)
        assert tried.returncode == (3 if command[0] == "scan" else 1)
        assert "the path is too long for a socket" in tried.stderr
