"""Android's netsim, whose packet streamer is gRPC: Bumble's bridge connects it to H4 over TCP, in either direction."""
from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from conftest import Start
from peers.ports import free_ports, wait_until_listening
from peers.processes import running
from test_ways import controllers

PEER = Path(__file__).parents[1] / "peer"


@asynccontextmanager
async def bridge(host: str, controller: str, listens: int, directory: Path) -> AsyncIterator[None]:
    program = str(Path(sys.executable).with_name("bumble-hci-bridge"))
    # It writes its port there.
    command = ["env", f"XDG_RUNTIME_DIR={directory}", program, host, controller]
    async with running(*command, name="bridge") as process:
        # Packets sent before both sides are connected are lost.
        await process.lines(">>> connected", 2)
        await wait_until_listening([listens])
        yield


async def test_an_android_emulators_host_has_our_radio(harald: Start, tmp_path: Path) -> None:
    """A client of netsim's, like the emulator, connects to Harald's sensor."""
    async with controllers(harald) as port:
        (netsim,) = free_ports(1)
        async with bridge(f"android-netsim:127.0.0.1:{netsim},mode=controller", f"tcp-client:127.0.0.1:{port}", netsim, tmp_path):
            # Not in this process: gRPC starts threads, which conflict with forking.
            command = (str(PEER), "central", f"android-netsim:127.0.0.1:{netsim}", "Along the way")
            async with running(*command, name="client") as client:
                assert await client.status(30) == 0
                assert "180D" in client.output and "2A37" in client.output


async def test_our_host_has_a_controller_of_netsims(harald: Start, tmp_path: Path) -> None:
    """A server of netsim's, like netsimd, is connected to one of Harald's controllers by another bridge."""
    async with controllers(harald) as port:
        netsim, ours = free_ports(2)
        async with bridge(f"android-netsim:127.0.0.1:{netsim},mode=controller", f"tcp-client:127.0.0.1:{port}", netsim, tmp_path):
            async with bridge(f"tcp-server:_:{ours}", f"android-netsim:127.0.0.1:{netsim}", ours, tmp_path):
                scan = ("scan", "--controller", f"tcp:127.0.0.1:{ours}", "--until", "Along the way")
                async with harald(*scan) as scanner:
                    assert await scanner.status(30) == 0
                    assert "Along the way" in scanner.output
