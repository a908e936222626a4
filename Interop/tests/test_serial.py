"""Controllers on serial ports, which are terminals of this machine here: H4 and the three-wire protocol, and a
foreign host on Harald's controller."""
from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from bumble.device import Device
from bumble.transport import open_transport

from conftest import Start

LISTENING = r"listening on (serial:\S+)"


@asynccontextmanager
async def terminals(harald: Start, *kinds: str) -> AsyncIterator[list[str]]:
    """Virtual controllers on one radio, each on a terminal; provides their paths."""
    arguments = [each for kind in kinds for each in ("--terminal", kind)]
    async with harald("controllers", *arguments) as process:
        yield [found[1] for found in await process.lines(LISTENING, len(kinds))]


@pytest.mark.parametrize("kinds", [("h4", "h4"), ("h5", "h5"), ("h4", "h5")])
async def test_two_of_ours_talk_over_serial_ports(harald: Start, kinds: tuple[str, str]) -> None:
    """One serves a battery level and the other reads it, twice: a new host finds the controller again."""
    async with terminals(harald, *kinds) as (first, second):
        for _ in range(2):
            async with harald("serve", "--controller", first, "--name", "Behind a wire") as server:
                await server.line("advertising|serving|is on")
                async with harald("explore", "--controller", second, "Behind a wire") as explorer:
                    assert await explorer.status(60) == 0
                    assert re.search("180F|Battery|1800|Generic", explorer.output), explorer.output


async def test_the_rate_of_a_port_is_found_out(harald: Start) -> None:
    async with terminals(harald, "h4") as (first,):
        path = first.removeprefix("serial:").split(",")[0]
        async with harald("scan", "--controller", f"serial:{path}", "--timeout", "1") as scanner:
            assert await scanner.status(30) == 0


async def test_a_foreign_host_has_our_controller_behind_a_terminal(harald: Start) -> None:
    """Bumble's serial transport, which parses H4 independently."""
    async with terminals(harald, "h4", "h5") as (first, second):
        path = first.removeprefix("serial:").split(",")[0]
        async with await open_transport(f"serial:{path},115200") as transport:
            device = Device.with_hci("Bumble", "F0:9E:16:4A:00:07", transport.source, transport.sink)
            await device.power_on()
            await device.start_advertising(auto_restart=True)
            # The controller itself advertises once a second.
            async with harald("scan", "--controller", second, "--timeout", "25", "--until", "Bumble") as scanner:
                assert await scanner.status(40) == 0
                assert "Bumble" in scanner.output, scanner.output
