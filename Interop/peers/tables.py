"""A Bumble peripheral whose attribute table breaks a rule of Core Vol 3 Part G, advertised until Ctrl-C.

    Interop/peer tables tcp-client:127.0.0.1:6402 self-inclusion
"""
from __future__ import annotations

import argparse
import asyncio
import struct
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from bumble.core import UUID, AdvertisingData
from bumble.device import Device
from bumble.gatt import Characteristic, Descriptor, Service

from peers.hosts import add_host_options, powered_device

NAME, ADDRESS = "Quirky", "F0:9E:16:4A:00:0B"
INCLUDE, DECLARATION = UUID.from_16_bits(0x2802), UUID.from_16_bits(0x2803)
OUTER, INNER, LAST = (UUID.from_16_bits(number) for number in (0xAA00, 0xBB00, 0xCC00))
LONG_INNER = UUID("0000bb00-5a5a-5a5a-5a5a-5a5a5a5a5a5a")
# Each characteristic that every table has, and its value.
VALUES = {UUID.from_16_bits(0xAA01): b"\x01", UUID.from_16_bits(0xBB01): b"\x02", UUID.from_16_bits(0xCC01): b"\x03"}
NOTIFYING = UUID.from_16_bits(0xCC02)


def characteristic(uuid: UUID) -> Characteristic:
    read = Characteristic.Properties.READ
    description = Descriptor("2901", Characteristic.READABLE, b"described")
    return Characteristic(uuid, read, Characteristic.READABLE, VALUES[uuid], [description])


def services(inner: UUID) -> tuple[Service, Service, Service]:
    first, second, third = VALUES
    notify = Characteristic.Properties.NOTIFY | Characteristic.Properties.READ
    enclosed = Service(inner, [characteristic(second)])
    outer = Service(OUTER, [characteristic(first)], included_services=[enclosed])
    ticks = Characteristic(NOTIFYING, notify, Characteristic.READABLE, b"\x04")
    return outer, enclosed, Service(LAST, [characteristic(third), ticks])


def published(device: Device, inner: UUID = INNER) -> tuple[Service, Service, Service]:
    """Services one behind the other: Bumble would publish the included one inside of the other."""
    outer, enclosed, last = services(inner)
    for service in (enclosed, outer, last):
        device.add_service(service)
    return outer, enclosed, last


def self_inclusion(device: Device) -> None:
    """As each service of bluez_peripheral."""
    outer, _, _ = published(device)
    for attribute in device.gatt_server.attributes:
        if attribute.type == INCLUDE:
            attribute.value = struct.pack("<HHH", outer.handle, outer.end_group_handle, 0xAA00)


def nested(device: Device, inner: UUID = INNER) -> None:
    """As Bumble publishes the services of its CSIS and VCP examples."""
    outer, _, last = services(inner)
    device.add_service(outer)
    device.add_service(last)


def nested_long(device: Device) -> None:
    """The same with a UUID of 128 bits, of which Bumble's include has the first 16."""
    nested(device, LONG_INNER)


def overlap(device: Device) -> None:
    """A service that ends behind the beginning of the next one."""
    _, enclosed, _ = published(device)
    enclosed.end_group_handle += 3


def backwards(device: Device) -> None:
    """A service that ends before it begins."""
    outer, _, _ = published(device)
    outer.end_group_handle = outer.handle - 1


def circle(device: Device) -> None:
    """Two services that include each other, which is allowed, and which a client must not follow for ever."""
    outer, enclosed, last = services(INNER)
    other = Service(UUID.from_16_bits(0xDD00), [])
    outer.included_services, enclosed.included_services = [other], [outer]
    for service in (other, outer, enclosed, last):
        device.add_service(service)
    include = next(each for each in device.gatt_server.attributes if each.type == INCLUDE)
    include.value = struct.pack("<HHH", enclosed.handle, enclosed.end_group_handle, 0xBB00)


def lost_value(device: Device) -> None:
    """A characteristic whose value is not there, beside sound ones."""
    published(device)
    broken = Characteristic(UUID.from_16_bits(0xDD01), Characteristic.Properties.READ, Characteristic.READABLE, b"")
    device.add_service(Service(UUID.from_16_bits(0xDD00), [broken]))
    for attribute in device.gatt_server.attributes:
        if attribute.type == DECLARATION and bytes(attribute.value).endswith(b"\x01\xdd"):
            attribute.value = bytes(attribute.value)[:1] + b"\0\0" + bytes(attribute.value)[3:]


def dangling_include(device: Device) -> None:
    """An include of a service that is not there, without a UUID, which would be read from it."""
    published(device)
    for attribute in device.gatt_server.attributes:
        if attribute.type == INCLUDE:
            attribute.value = struct.pack("<HH", 0x0700, 0x0701)


TABLES: dict[str, Callable[[Device], None]] = {
    "self-inclusion": self_inclusion,
    "nested": nested,
    "nested-long": nested_long,
    "overlap": overlap,
    "backwards": backwards,
    "circle": circle,
    "lost-value": lost_value,
    "dangling-include": dangling_include,
}


@asynccontextmanager
async def tables(transport: str, table: str, *, capture: Path | None = None) -> AsyncIterator[Device]:
    """Advertises for the length of an `async with`."""
    async with powered_device(transport, NAME, ADDRESS, capture) as device:
        TABLES[table](device)

        async def tick() -> None:
            while True:
                await asyncio.sleep(0.1)
                await device.gatt_server.notify_subscribers(
                    next(each for each in device.gatt_server.attributes if each.type == NOTIFYING), b"\x04"
                )

        advertised = [(AdvertisingData.FLAGS, b"\x06"), (AdvertisingData.COMPLETE_LOCAL_NAME, NAME.encode())]
        await device.start_advertising(
            auto_restart=True,
            advertising_data=bytes(AdvertisingData(advertised)),
            advertising_interval_min=30,
            advertising_interval_max=30,
        )
        life = asyncio.create_task(tick())
        try:
            yield device
        finally:
            life.cancel()


async def serve(arguments: argparse.Namespace) -> None:
    async with tables(arguments.transport, arguments.table, capture=arguments.capture) as device:
        gone = asyncio.Event()
        device.once(device.EVENT_FLUSH, gone.set)
        await gone.wait()
        raise ConnectionError("it hung up")


def main() -> int:
    parser = argparse.ArgumentParser(prog="peer tables", description=__doc__.split("\n\n")[0])
    add_host_options(parser)
    parser.add_argument("table", choices=TABLES)
    try:
        asyncio.run(serve(parser.parse_args()))
    except KeyboardInterrupt:
        return 0
    except (OSError, TimeoutError) as error:
        print(f"peer tables: the controller cannot be used: {error!r}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
