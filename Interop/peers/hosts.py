"""The common part of the Bumble peripheral and the Bumble central: the device, its transport, its capture."""
from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from bumble.device import Device, DeviceConfiguration
from bumble.hci import Address
from bumble.keys import MemoryKeyStore, PairingKeys
from bumble.snoop import BtSnooper
from bumble.transport import open_transport
from bumble.transport.common import SnoopingTransport

from peers.pairing import Pairing

Result = TypeVar("Result")


class LinkLost(Exception):
    """The link or the controller was lost during an operation."""


@asynccontextmanager
async def powered_device(
    transport_name: str,
    name: str,
    address: str,
    capture: Path | None,
    pairing: Pairing | None = None,
    *,
    knows: Sequence[str] = (),
    settings: dict[str, Any] | None = None,
) -> AsyncIterator[Device]:
    """A Bumble host on the controller behind a Bumble transport name such as tcp-client:127.0.0.1:6402.

    knows: static addresses of devices whose identity resolving keys it has. settings: more of Bumble's configuration.
    """
    file = open(capture, "wb", buffering=0) if capture else None  # unbuffered: complete even after a kill
    transport = await asyncio.wait_for(open_transport(transport_name), 10)
    if file:
        transport = SnoopingTransport(transport, BtSnooper(file))
    try:
        config = DeviceConfiguration.from_dict({"name": name, "address": address, "le_simultaneous_enabled": False})
        for setting, value in (settings or {}).items():
            setattr(config, setting, value)
        device = Device.from_config_with_hci(config, transport.source, transport.sink)
        device.keystore = MemoryKeyStore()  # the default one is a file in the home directory
        if pairing:
            pairing.prepare(device)
        for peer in knows:
            await device.keystore.update(peer, PairingKeys(irk=PairingKeys.Key(identity_key(peer))))
        await asyncio.wait_for(device.power_on(), 10)
        yield device
    finally:
        await transport.close()
        if file:
            file.close()


def identity_key(address: str) -> bytes:
    """The identity resolving key that Bumble assigns to a device with this address, least significant octet first."""
    return (bytes(Address(address)) * 3)[:16]


async def unless_lost(operation: Awaitable[Result]) -> Result:
    """Raises LinkLost if the link is lost. Bumble merely cancels the operation, which looks like a cancelled test."""
    try:
        return await operation
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task and task.cancelling():
            raise
        raise LinkLost("the link was lost in the middle of an operation") from None


def tell(source: str, event: str, **details: Any) -> None:
    """Prints one line about an event at a peer. pytest shows it if the test fails."""
    shown = " ".join(f"{key}={value.hex() if isinstance(value, bytes) else value}" for key, value in details.items())
    print(f"[{source}] {event} {shown}".rstrip(), file=sys.stderr, flush=True)


def add_host_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("transport", help="the controller's transport, for example tcp-client:127.0.0.1:6402")
    parser.add_argument("--capture", type=Path, metavar="FILE", help="keep the HCI packets in this btsnoop file")
