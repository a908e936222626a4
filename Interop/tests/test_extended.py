"""Extended advertising in both directions: Harald's and foreign hosts, on Harald's and foreign controllers."""
from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from bumble import hci
from bumble.core import UUID

from checks import foreign_air
from conftest import Start
from peers.central import central
from peers.extended import advertise_extended, extended_scan, with_manufacturer_data
from peers.hosts import powered_device
from peers.ports import HOST

Capture = Callable[[str], Path]
NAME, ADDRESS = "Far reaching", "F0:9E:16:4A:03:01"
DEVICE_NAME = UUID("2A00")
# More than one command, one report or one PDU can hold. rootcanal's limit is 512 octets.
CHUNKS = [b"\xff\xff" + bytes((index * step) & 0xFF for index in range(220)) for step in (1, 3)]
SHORT, LONG = with_manufacturer_data(NAME, CHUNKS[0][:40]), with_manufacturer_data(NAME, *CHUNKS)
FLAGS = b"\x02\x01\x06"

AIRS = [
    pytest.param("rootcanal full", marks=pytest.mark.rootcanal, id="rootcanal"),
    pytest.param("bumble", id="bumble"),
    pytest.param("ours", id="ours"),
]


@asynccontextmanager
async def air_of(harald: Start, name: str) -> AsyncIterator[tuple[str, str]]:
    """The controllers, in the formats of Harald and of Bumble."""
    if name == "ours":
        async with harald("controllers", "--listen", "0") as process:
            port = (await process.line(r"listening on .*?(\d+)\D*$"))[1]
            yield f"tcp:{HOST}:{port}", f"tcp-client:{HOST}:{port}"
    else:
        async with foreign_air(name) as air:
            yield air.address, air.transport


def advertise(address: str, *options: str, chunks: list[bytes] = CHUNKS) -> list[str]:
    data = [word for chunk in chunks for word in ("--manufacturer", chunk.hex())]
    return ["advertise", "--controller", address, "--name", NAME, "--extended", *options, *data]


# --- Harald advertises ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["connectable", "scannable", "non-connectable"])
@pytest.mark.parametrize("air_name", AIRS)
async def test_bumble_hears_long_data(harald: Start, capture: Capture, air_name: str, mode: str) -> None:
    # A connectable advertisement has no chain of packets (Core Vol 6 Part B 2.3.1.5): it must fit in one.
    chunks = [CHUNKS[0][:150]] if mode == "connectable" else CHUNKS
    data = (FLAGS if mode == "connectable" else b"") + with_manufacturer_data(NAME, *chunks)
    async with air_of(harald, air_name) as (address, transport):
        command = advertise(address, "--mode", mode, "--capture", str(capture("advertise")), chunks=chunks)
        async with harald(*command) as process, central(transport, capture=capture("central")) as client:
            await process.line("advertising")
            async with extended_scan(client.device) as scan:
                heard = await scan.data(data)
    assert not heard.is_legacy and not heard.is_truncated
    assert heard.is_connectable == (mode == "connectable")
    assert heard.is_scan_response == (mode == "scannable")
    assert (heard.primary_phy, heard.secondary_phy) == (hci.Phy.LE_1M, hci.Phy.LE_1M)


@pytest.mark.parametrize("air_name", AIRS)
async def test_bumble_connects_to_an_extended_advertisement(harald: Start, capture: Capture, air_name: str) -> None:
    async with air_of(harald, air_name) as (address, transport):
        command = advertise(address, "--capture", str(capture("advertise")), chunks=[])
        async with harald(*command) as process, central(transport, capture=capture("central")) as client:
            await process.line("advertising")
            await client.connect(NAME)
            await client.discover()
            assert await client.read(DEVICE_NAME) == NAME.encode()
            await client.disconnect()
            await process.line("disconnected")


# --- foreign hosts advertise ------------------------------------------------------------------------------------------


@asynccontextmanager
async def foreign_advertiser(transport: str, data: bytes, **options: object) -> AsyncIterator[None]:
    async with powered_device(transport, NAME, ADDRESS, None) as device:
        await advertise_extended(device, data, **options)
        yield


@pytest.mark.parametrize("mode", ["connectable", "scannable", "non-connectable"])
@pytest.mark.parametrize("air_name", AIRS)
async def test_hears_long_data(harald: Start, capture: Capture, air_name: str, mode: str) -> None:
    data = SHORT if mode == "connectable" else LONG
    options = {"connectable": mode == "connectable", "scannable": mode == "scannable"}
    async with air_of(harald, air_name) as (address, transport), foreign_advertiser(transport, data, **options):
        command = ("scan", "--controller", address, "--until", NAME, "--raw", "--capture", str(capture("scan")))
        async with harald(*command) as process:
            assert await process.status() == 0
    line = next(line for line in process.out if f'"{NAME}"' in line)
    assert line.endswith(data.hex()) and "truncated" not in line
    # rootcanal omits the number of the set in a scan response.
    assert "set 3" in line or mode == "scannable"
    assert ("connectable" in line.split(", ")) == (mode == "connectable")


@pytest.mark.parametrize("air_name", AIRS)
async def test_hears_legacy_advertising_with_the_newer_commands(
    harald: Start, capture: Capture, air_name: str
) -> None:
    async with air_of(harald, air_name) as (address, transport):
        async with powered_device(transport, NAME, ADDRESS, None) as device:
            await device.start_advertising(advertising_data=FLAGS, scan_response_data=with_manufacturer_data(NAME))
            command = ("scan", "--controller", address, "--until", NAME, "--raw", "--capture", str(capture("scan")))
            async with harald(*command) as process:
                assert await process.status() == 0
    line = next(line for line in process.out if f'"{NAME}"' in line)
    assert "extended" not in line and "connectable" in line
    assert re.search(re.escape(ADDRESS), line, re.IGNORECASE)


@pytest.mark.parametrize("air_name", AIRS)
async def test_connects_to_an_extended_advertisement(harald: Start, capture: Capture, air_name: str) -> None:
    data = FLAGS + with_manufacturer_data(NAME)
    async with air_of(harald, air_name) as (address, transport):
        async with foreign_advertiser(transport, data, connectable=True):
            command = ("explore", "--controller", address, NAME, "--notifications", "0")
            async with harald(*command, "--capture", str(capture("explore"))) as process:
                assert await process.status() == 0
    assert "connected" in process.output and "Device Name" in process.output
