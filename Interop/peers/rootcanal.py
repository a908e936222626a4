"""rootcanal, the virtual controller of the Android project: every TCP connection gets a controller of its own, all on
one air.

    Interop/peer rootcanal [PORT]      controllers on PORT (default 6402) of 127.0.0.1, until Ctrl-C
"""
from __future__ import annotations

import argparse
import asyncio
import os
import re
import struct
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from peers.ports import HOST, free_ports, wait_until_listening
from peers.processes import Process, running

DIRECTORY = Path(os.environ.get("HARALD_INTEROP_DIR") or Path(__file__).parents[2] / ".build/interop")
RUNNER = DIRECTORY / "rootcanal"  # Interop/setup writes it, if rootcanal is available for the machine
LOW_ENERGY_PHY = "1"

# The controllers behind the port, in rootcanal's own configuration language.
KINDS = {
    # All features, and an error instead of an abort for unimplemented commands.
    "full": "configuration { strict: false }",
    # An LE-only controller as on the Laird BL654 module.
    "le-only": "configuration { preset: LAIRD_BL654 strict: false }",
    # The features of a Bluetooth 4.x controller: no extended advertising, one PHY, no privacy.
    "4.x": "configuration { strict: false features { le_extended_advertising: false le_periodic_advertising: false"
    " le_2m_phy: false le_coded_phy: false ll_privacy: false } }",
}


class TestChannel:
    """rootcanal's remote control. Uses one permanent connection: rootcanal confuses a closing connection with a new
    one."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def open(cls, port: int) -> TestChannel:
        channel = cls(*await asyncio.open_connection(HOST, port))
        await read_answer(channel.reader)  # the greeting
        return channel

    async def command(self, name: str, *arguments: str) -> str:
        """`list`, `set_timer_period MS`, `del_device_from_phy DEVICE PHY` ..."""
        words = [word.encode() for word in arguments]
        packet = bytes([len(name)]) + name.encode() + bytes([len(words)])
        self.writer.write(packet + b"".join(bytes([len(word)]) + word for word in words))
        return await read_answer(self.reader)


class Rootcanal:
    def __init__(self, process: Process, hci_port: int, channel: TestChannel) -> None:
        self.process, self.channel = process, channel
        self.address = f"tcp:{HOST}:{hci_port}"  # in the format of Harald's --controller
        self.transport = f"tcp-client:{HOST}:{hci_port}"  # in the format of Bumble

    async def hosts(self) -> list[str]:
        """The numbers of the devices with a host, in the order of connecting."""
        return re.findall(r"(\d+):hci_device@", await self.channel.command("list"))

    async def out_of_range(self, device: str) -> None:
        await self.channel.command("del_device_from_phy", device, LOW_ENERGY_PHY)


async def read_answer(reader: asyncio.StreamReader) -> str:
    (length,) = struct.unpack("<I", await asyncio.wait_for(reader.readexactly(4), 5))
    return (await asyncio.wait_for(reader.readexactly(length), 5)).decode(errors="replace").rstrip()


@asynccontextmanager
async def rootcanal(kind: str = "full", hci_port: int | None = None) -> AsyncIterator[Rootcanal]:
    if not RUNNER.exists():
        raise FileNotFoundError(f"there is no {RUNNER}; run Interop/setup")
    test_port, link_port, le_link_port, free_port = free_ports(4)
    hci_port = hci_port or free_port
    command = [
        str(RUNNER),
        "-test_port", str(test_port),
        "-link_port", str(link_port),
        "-link_ble_port", str(le_link_port),
        "-configuration", f"tcp_server {{ tcp_port: {hci_port} {KINDS[kind]} }}",
    ]  # fmt: skip
    async with running(*command, name="rootcanal", mute=" root-canal I ") as process:
        await wait_until_listening([test_port, hci_port])
        channel = await TestChannel.open(test_port)
        try:
            # By default it polls its devices every 10 ms, so every ATT round trip takes that long.
            await channel.command("set_timer_period", "1")
            yield Rootcanal(process, hci_port, channel)
        finally:
            channel.writer.close()


async def serve(arguments: argparse.Namespace) -> None:
    async with rootcanal(arguments.kind, arguments.port) as air:
        print(f"controllers for every connection to {air.address}", flush=True)
        await air.process.child.wait()


def main() -> int:
    parser = argparse.ArgumentParser(prog="peer rootcanal", description=__doc__.split("\n\n")[0])
    parser.add_argument("port", type=int, nargs="?", default=6402)
    parser.add_argument("--kind", choices=KINDS, default="full", help="the features of the controllers")
    try:
        asyncio.run(serve(parser.parse_args()))
    except KeyboardInterrupt:
        return 0
    except (FileNotFoundError, TimeoutError) as error:
        print(f"peer rootcanal: {error}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
