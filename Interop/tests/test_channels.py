"""`harald channel`: L2CAP channels of Harald apps with a foreign host at the other end, opened by either side.

A megabyte takes about 25 s in both directions at once: on Harald's radio as long as packets of 251 octets take at 1
Mbit/s, on rootcanal as long as that takes. With the other parameters, a tenth of it is as good.
"""
from __future__ import annotations

import hashlib
import random
import re
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from checks import foreign_air
from conftest import Start
from peers.central import central
from peers.controllers import controllers
from peers.echo import NAME, PSM, echo, send
from peers.ports import HOST

Capture = Callable[[str], Path]
MEGABYTE, TENTH = 1 << 20, 100_000


def parcel(size: int) -> bytes:
    return random.Random(1).randbytes(size)


def digest(octets: bytes) -> str:
    return hashlib.sha256(octets).hexdigest()


def rootcanal(version: str, *values: object, name: str) -> pytest.param:
    return pytest.param(f"rootcanal {version}", *values, marks=pytest.mark.rootcanal, id=f"rootcanal-{name}")


@asynccontextmanager
async def air(name: str, harald: Start) -> AsyncIterator[tuple[str, str]]:
    """Controllers, in the formats of Harald's --controller and of Bumble: Harald's or foreign ones."""
    if name == "harald":
        async with harald("controllers", "--listen", "0") as process:
            port = (await process.line(r"listening on .*?(\d+)\D*$"))[1]
            yield f"tcp:{HOST}:{port}", f"tcp-client:{HOST}:{port}"
    else:
        async with foreign_air(name) as others:
            yield others.address, others.transport


OPENED_BY_THEM = [
    pytest.param("harald", MEGABYTE, False, id="harald-megabyte"),
    pytest.param("harald", TENTH, True, id="harald-enhanced"),
    rootcanal("full", MEGABYTE, False, name="megabyte"),
    rootcanal("full", TENTH, True, name="enhanced"),
    rootcanal("4.x", TENTH, False, name="4.x"),
    pytest.param("bumble", TENTH, False, id="bumble"),
    pytest.param("bumble", TENTH, True, id="bumble-enhanced"),
]
OPENED_BY_US = [
    pytest.param("harald", MEGABYTE, id="harald-megabyte"),
    rootcanal("full", MEGABYTE, name="megabyte"),
    rootcanal("4.x", TENTH, name="4.x"),
    pytest.param("bumble", TENTH, id="bumble"),
]
AIRS = [pytest.param("harald", id="harald"), rootcanal("full", name="full")]


@pytest.mark.deadline(90)
@pytest.mark.parametrize("air_name, size, enhanced", OPENED_BY_THEM)
async def test_a_foreign_host_opens_a_channel(
    harald: Start, capture: Capture, air_name: str, size: int, enhanced: bool
) -> None:
    async with air(air_name, harald) as (address, transport):
        async with harald("channel", "--controller", address, "--capture", str(capture("echo"))) as process:
            psm = int((await process.line(r"channels on PSM (\d+)"))[1])
            await process.line("advertising as")
            async with central(transport) as client:
                peer = await client.connect("Harald echo")
                sending = await send(peer.connection, psm, parcel(size), enhanced)
                assert digest(await sending.until(size)) == digest(parcel(size))
                await sending.channel.disconnect()
                await process.line(f"closed after {size} octets?")
                await client.disconnect()
            assert await process.stop(signal.SIGTERM) == 0


@pytest.mark.deadline(90)
@pytest.mark.parametrize("air_name, size", OPENED_BY_US)
async def test_we_open_a_channel_of_a_foreign_host(harald: Start, capture: Capture, air_name: str, size: int) -> None:
    async with air(air_name, harald) as (address, transport), echo(transport) as other:
        command = ("channel", "--controller", address, "--capture", str(capture("channel")), "--to", NAME)
        async with harald(*command, "--psm", str(PSM), "--size", str(size), "--timeout", "80") as process:
            assert await process.status(85) == 0
        assert re.search(f"{size} octets? came back", process.output)
        assert len(other.received) == size


@pytest.mark.parametrize("size", [1, 1_000, 8_192, 20_000, 40_000])
async def test_both_ends_are_ours(harald: Start, size: int) -> None:
    """Data of every size returns complete, and both programs end in good order: data that is sent in one write, and
    data that takes several."""
    async with air("harald", harald) as (address, _), harald("channel", "--controller", address) as publisher:
        await publisher.line("advertising as")
        command = ("channel", "--controller", address, "--to", "Harald echo", "--size", str(size), "--timeout", "15")
        async with harald(*command) as opener:
            assert await opener.status() == 0, opener.errors
        assert re.search(f"{size} octets? came back", opener.output)
        await publisher.line(f"closed.* after {size} octets?")
        assert await publisher.stop(signal.SIGTERM) == 0


@pytest.mark.parametrize("pairs", [True, False], ids=["with-pair", "without"])
async def test_a_channel_that_requires_encryption(harald: Start, tmp_path: Path, pairs: bool) -> None:
    """With --pair at both ends they pair according to the options, and keep the bond; an opener without it is
    refused."""
    async with air("harald", harald) as (address, _):
        ours = ("--controller", address, "--answer", "yes", "--io-capability", "display-yes-no")
        async with harald("channel", *ours, "--pair", "--store", str(tmp_path / "publisher")) as publisher:
            await publisher.line("advertising as")
            command = ("channel", *ours, "--to", "Harald echo", "--size", "1000", "--timeout", "10")
            pairing = ("--pair", "--store", str(tmp_path / "opener")) if pairs else ()
            async with harald(*command, *pairing) as opener:
                assert await opener.status() == (0 if pairs else 1)
            assert ("1000 octets came back" in opener.output) == pairs
            # The name of a peer is quoted, followed by its address.
            assert (re.search(r'pair with "Harald echo" \([0-9A-F:]+\), .* does it show', opener.output) is not None) == pairs
            assert await publisher.stop(signal.SIGTERM) == 0
        assert all(any((tmp_path / each).iterdir()) for each in ("publisher", "opener")) if pairs else True


@pytest.mark.deadline(60)
@pytest.mark.parametrize("air_name", AIRS)
async def test_a_foreign_opener_vanishes_in_the_middle(harald: Start, air_name: str) -> None:
    """Its controller disappears at once. The data echoed until then is a prefix; our stream ends, and the next
    opener can connect."""
    octets = parcel(MEGABYTE)
    async with air(air_name, harald) as (address, transport), harald("channel", "--controller", address) as process:
        psm = int((await process.line(r"channels on PSM (\d+)"))[1])
        await process.line("advertising as")
        async with central(transport) as client:
            peer = await client.connect("Harald echo")
            sending = await send(peer.connection, psm, octets)
            came = await sending.until(MEGABYTE // 8)
        assert came == octets[: len(came)]
        ended = await process.line(r"a channel was closed.* after (\d+) octets")
        assert len(came) <= int(ended[1]) < MEGABYTE
        async with central(transport) as client:
            peer = await client.connect("Harald echo")
            sending = await send(peer.connection, psm, octets[:TENTH])
            assert await sending.until(TENTH) == octets[:TENTH]
            await client.disconnect()
        assert await process.stop(signal.SIGTERM) == 0


@pytest.mark.deadline(60)
@pytest.mark.parametrize("air_name", AIRS)
async def test_a_foreign_publisher_leaves_in_the_middle(harald: Start, air_name: str) -> None:
    """The data it received until then is a prefix, and our app is notified of the end."""
    async with air(air_name, harald) as (address, transport), echo(transport, cut_at=MEGABYTE // 8) as other:
        command = ("channel", "--controller", address, "--to", NAME, "--psm", str(PSM), "--timeout", "50")
        async with harald(*command, "--size", str(MEGABYTE)) as process:
            assert await process.status(55) == 1
        assert "came back" not in process.output
        assert re.search("disconnected: |the channel was closed: ", process.errors)
        assert MEGABYTE // 8 <= len(other.received) < MEGABYTE
        assert bytes(other.received) == bytes((each * 2_654_435_761 >> 13) & 0xFF for each in range(len(other.received)))


async def test_a_device_that_is_missing_has_its_exit_status(harald: Start) -> None:
    async with controllers() as air:
        async with harald("channel", "--controller", air.address, "--to", "missing", "--timeout", "0.5") as process:
            assert await process.status() == 5
        assert 'no connectable device named "missing" was found' in process.errors
