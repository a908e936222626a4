"""L2CAP channels on Bumble's host: a device that echoes all data, and a sender."""
from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bumble.core import AdvertisingData
from bumble.device import Connection, Device
from bumble.hci import HCI_ErrorCode
from bumble.l2cap import LeCreditBasedChannel, LeCreditBasedChannelSpec

from peers.hosts import powered_device

NAME = "Foreign echo"
ADDRESS = "F0:9E:16:4A:00:03"
PSM = 0x90
POWER_OFF = HCI_ErrorCode.REMOTE_DEVICE_TERMINATED_CONNECTION_DUE_TO_POWER_OFF_ERROR


def spec(psm: int = PSM) -> LeCreditBasedChannelSpec:
    return LeCreditBasedChannelSpec(psm=psm, mtu=2048, mps=247, max_credits=64)


class Echo:
    """Echoes the data received on channels. The link is cut after `cut_at` octets."""

    def __init__(self, cut_at: int | None) -> None:
        self.cut_at = cut_at
        self.received = bytearray()

    def opened(self, channel: LeCreditBasedChannel) -> None:
        def came(sdu: bytes) -> None:
            self.received.extend(sdu)
            channel.write(sdu)
            if self.cut_at is not None and len(self.received) >= self.cut_at:
                self.cut_at = None
                asyncio.ensure_future(channel.connection.disconnect(POWER_OFF))

        channel.sink = came


@asynccontextmanager
async def echo(transport: str, capture: Path | None = None, cut_at: int | None = None) -> AsyncIterator[Echo]:
    """Advertises for the length of an `async with`, and echoes the data on channels."""
    async with powered_device(transport, NAME, ADDRESS, capture) as device:
        made = Echo(cut_at)
        device.create_l2cap_server(spec=spec(), handler=made.opened)
        data = AdvertisingData([(AdvertisingData.FLAGS, b"\x06"), (AdvertisingData.COMPLETE_LOCAL_NAME, NAME.encode())])
        await device.start_advertising(auto_restart=True, advertising_data=bytes(data))
        yield made


class Sending:
    """A channel on which data is sent, and the data echoed so far."""

    def __init__(self, channel: LeCreditBasedChannel, octets: bytes) -> None:
        self.channel = channel
        self.received = bytearray()
        self._came = asyncio.Event()
        channel.sink = self._take
        channel.write(octets)

    def _take(self, sdu: bytes) -> None:
        self.received.extend(sdu)
        self._came.set()

    async def until(self, count: int) -> bytes:
        """Waits until `count` octets have been echoed."""
        while len(self.received) < count:
            self._came.clear()
            await self._came.wait()
        return bytes(self.received)


async def send(connection: Connection, psm: int, octets: bytes, enhanced: bool = False) -> Sending:
    """Opens a channel, and sends data on it."""
    if enhanced:
        manager = connection.device.l2cap_channel_manager
        [channel] = await manager.create_enhanced_credit_based_channels(connection, spec(psm), 1)
    else:
        channel = await connection.create_l2cap_channel(spec=spec(psm))
    return Sending(channel, octets)
