"""`harald channel`: L2CAP channels of our apps with a foreign host at the other end, opened by either."""
from __future__ import annotations

import hashlib
import random
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from checks import FOREIGN_AIRS, foreign_air
from conftest import Start
from peers.central import central
from peers.echo import NAME, PSM, echo, send_and_receive
from peers.ports import HOST

Capture = Callable[[str], Path]
SIZE = 100_000  # a megabyte takes longer than a test may


def parcel() -> bytes:
    return random.Random(1).randbytes(SIZE)


def digest(octets: bytes) -> str:
    return hashlib.sha256(octets).hexdigest()


async def check_foreign_opener(
    harald: Start, address: str, transport: str, log: Path | None, enhanced: bool = False
) -> None:
    capturing = ("--capture", str(log)) if log else ()
    async with harald("channel", "--controller", address, *capturing) as process:
        psm = int((await process.line(r"channels on PSM (\d+)"))[1])
        await process.line("advertising as")
        async with central(transport) as client:
            peer = await client.connect("Harald echo")
            back = await send_and_receive(peer.connection, psm, parcel(), enhanced)
            assert digest(back) == digest(parcel())
            await process.line(f"ended after {SIZE} octets")
            await client.disconnect()
        assert await process.stop(signal.SIGTERM) == 0


async def check_foreign_publisher(harald: Start, address: str, transport: str, log: Path) -> None:
    async with echo(transport):
        command = ("channel", "--controller", address, "--capture", str(log), "--to", NAME, "--psm", str(PSM))
        async with harald(*command, "--size", str(SIZE), "--timeout", "25") as process:
            assert await process.status(28) == 0
        assert re.search(f"{SIZE} octets came back", process.output)


@pytest.mark.parametrize("enhanced", [False, True], ids=["credit-based", "enhanced"])
@pytest.mark.parametrize("air_name", FOREIGN_AIRS)
async def test_a_foreign_host_opens_a_channel(harald: Start, capture: Capture, air_name: str, enhanced: bool) -> None:
    async with foreign_air(air_name) as air:
        # tshark does not know the commands of enhanced channels, and takes them for malformed.
        log = None if enhanced else capture("echo")
        await check_foreign_opener(harald, air.address, air.transport, log, enhanced)


@pytest.mark.parametrize("air_name", FOREIGN_AIRS)
async def test_we_open_a_channel_of_a_foreign_host(harald: Start, capture: Capture, air_name: str) -> None:
    async with foreign_air(air_name) as air:
        await check_foreign_publisher(harald, air.address, air.transport, capture("channel"))


@pytest.mark.parametrize("opener", ["foreign", "ours"])
async def test_channels_on_our_controllers(harald: Start, capture: Capture, opener: str) -> None:
    async with harald("controllers", "--listen", "0") as process:
        port = (await process.line(r"listening on .*?(\d+)\D*$"))[1]
        address, transport = f"tcp:{HOST}:{port}", f"tcp-client:{HOST}:{port}"
        if opener == "foreign":
            await check_foreign_opener(harald, address, transport, capture("channel"))
        else:
            await check_foreign_publisher(harald, address, transport, capture("channel"))
