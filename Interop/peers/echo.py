"""L2CAP channels on Bumble's host: a device that sends back what comes, and what is sent to one."""
from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bumble.core import AdvertisingData
from bumble.device import Connection, Device
from bumble.l2cap import LeCreditBasedChannel, LeCreditBasedChannelSpec

from peers.hosts import powered_device

NAME = "Foreign echo"
ADDRESS = "F0:9E:16:4A:00:03"
PSM = 0x90
ANSWER_TIMEOUT = 25.0


def spec(psm: int = PSM) -> LeCreditBasedChannelSpec:
    return LeCreditBasedChannelSpec(psm=psm, mtu=2048, mps=247, max_credits=64)


@asynccontextmanager
async def echo(transport: str, capture: Path | None = None) -> AsyncIterator[Device]:
    """Advertises for the length of an `async with`, and sends back what comes on channels."""

    def opened(channel: LeCreditBasedChannel) -> None:
        channel.sink = channel.write

    async with powered_device(transport, NAME, ADDRESS, capture) as device:
        device.create_l2cap_server(spec=spec(), handler=opened)
        data = AdvertisingData([(AdvertisingData.FLAGS, b"\x06"), (AdvertisingData.COMPLETE_LOCAL_NAME, NAME.encode())])
        await device.start_advertising(auto_restart=True, advertising_data=bytes(data))
        yield device


async def send_and_receive(connection: Connection, psm: int, octets: bytes, enhanced: bool = False) -> bytes:
    """Opens a channel, sends, waits until as much has come back, and closes the channel."""
    if enhanced:
        manager = connection.device.l2cap_channel_manager
        [channel] = await manager.create_enhanced_credit_based_channels(connection, spec(psm), 1)
    else:
        channel = await connection.create_l2cap_channel(spec=spec(psm))
    received = bytearray()
    complete = asyncio.Event()

    def came(sdu: bytes) -> None:
        received.extend(sdu)
        if len(received) >= len(octets):
            complete.set()

    channel.sink = came
    channel.write(octets)
    await asyncio.wait_for(complete.wait(), ANSWER_TIMEOUT)
    await channel.disconnect()
    return bytes(received)
