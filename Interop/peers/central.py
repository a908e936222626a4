"""A client on Bumble's host: finds a peripheral by its name, prints its whole GATT table, and subscribes to a value.

    Interop/peer central tcp-client:127.0.0.1:6402 NAME [--notifications N]
"""
from __future__ import annotations

import argparse
import asyncio
import struct
import sys
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bumble import att, hci
from bumble.core import UUID, AdvertisingData
from bumble.device import Advertisement, ConnectionParametersPreferences, Device, Peer
from bumble.gatt import Characteristic
from bumble.gatt_client import CharacteristicProxy, ServiceProxy

from peers.database import HEART_RATE_MEASUREMENT, text
from peers.hosts import LinkLost, Result, add_host_options, powered_device, tell, unless_lost
from peers.pairing import Pairing

ADDRESS = "F0:9E:16:4A:00:02"
INCLUDE = UUID("2802")
ANSWER_TIMEOUT = 10.0


class NotFound(Exception):
    pass


@dataclass
class Attribute:
    """A characteristic's value or a descriptor, as read."""

    handle: int
    uuid: str
    value: bytes | None = None
    error: int | None = None  # the ATT error of a refused read

    def shown(self) -> str:
        if self.error is not None:
            return f"error 0x{self.error:02X}"
        if self.value is None:
            return ""
        readable = self.value.decode(errors="replace")
        return f"{self.value.hex()} {readable!r}" if readable.isprintable() and readable else self.value.hex()


@dataclass
class CharacteristicEntry(Attribute):
    properties: list[str] = field(default_factory=list)
    descriptors: list[Attribute] = field(default_factory=list)


@dataclass
class ServiceEntry:
    start: int
    end: int
    uuid: str
    includes: list[tuple[int, int]] = field(default_factory=list)  # first and last handle
    characteristics: list[CharacteristicEntry] = field(default_factory=list)


class Table(list[ServiceEntry]):
    def characteristic(self, uuid: UUID) -> CharacteristicEntry:
        for service in self:
            for entry in service.characteristics:
                if entry.uuid == text(uuid):
                    return entry
        raise NotFound(f"the table has no characteristic {text(uuid)}")

    def lines(self) -> list[str]:
        lines = []
        for service in self:
            lines.append(f"0x{service.start:04X} service {service.uuid} to 0x{service.end:04X}")
            lines += [f"         includes 0x{start:04X} to 0x{end:04X}" for start, end in service.includes]
            for entry in service.characteristics:
                properties = ",".join(entry.properties)
                lines.append(f"0x{entry.handle:04X}   characteristic {entry.uuid} {properties} {entry.shown()}".rstrip())
                lines += [f"0x{each.handle:04X}     descriptor {each.uuid} {each.shown()}" for each in entry.descriptors]
        return lines


class Central:
    def __init__(self, device: Device) -> None:
        self.device = device
        self.peer: Peer | None = None

    # --- finding and connecting

    async def find(self, name: str, timeout: float = 30) -> Advertisement:
        """Scans actively until a connectable device with this name is discovered."""
        found: asyncio.Future[Advertisement] = asyncio.get_running_loop().create_future()

        def heard(advertisement: Advertisement) -> None:
            if name_of(advertisement) == name and advertisement.is_connectable and not found.done():
                found.set_result(advertisement)

        self.device.on("advertisement", heard)
        await self.device.start_scanning()
        try:
            return await asyncio.wait_for(found, timeout)
        except TimeoutError:
            raise NotFound(f"nobody called {name!r} advertised within {timeout} s") from None
        finally:
            self.device.remove_listener("advertisement", heard)
            await self.device.stop_scanning()

    async def connect(self, name: str, mtu: int = 247) -> Peer:
        advertisement = await self.find(name)
        wish = ConnectionParametersPreferences(
            connection_interval_min=15, connection_interval_max=15, supervision_timeout=2000
        )
        connection = await self.device.connect_le(advertisement.address, {hci.Phy.LE_1M: wish}, timeout=10)
        self.peer = Peer(connection)
        tell("central", "connected", peer=str(advertisement.address), rssi=advertisement.rssi)
        if mtu > att.ATT_DEFAULT_MTU:
            await self.answer(self.peer.request_mtu(mtu))
        return self.peer

    async def disconnect(self) -> None:
        await asyncio.wait_for(self.peer.connection.disconnect(), ANSWER_TIMEOUT)

    @property
    def mtu(self) -> int:
        return self.peer.connection.att_mtu

    async def answer(self, operation: Awaitable[Result]) -> Result:
        return await unless_lost(asyncio.wait_for(operation, ANSWER_TIMEOUT))

    # --- GATT

    async def discover(self) -> None:
        await self.answer(self.peer.discover_all())

    def characteristic(self, uuid: UUID) -> CharacteristicProxy:
        found = self.peer.get_characteristics_by_uuid(uuid)
        if not found:
            raise NotFound(f"the peer has no characteristic {text(uuid)}")
        return found[0]

    async def read(self, uuid: UUID) -> bytes:
        """Reads a value of any length: Read Blob requests follow a value that fills a packet."""
        return bytes(await self.answer(self.peer.read_value(self.characteristic(uuid))))

    async def write(self, uuid: UUID, value: bytes, response: bool = True) -> None:
        """Writes a value. With response, a value that does not fit a packet is written by Prepare Writes and an
        Execute Write."""
        await self.answer(self.peer.write_value(self.characteristic(uuid), value, with_response=response))

    async def subscribe(self, uuid: UUID) -> asyncio.Queue[bytes]:
        values: asyncio.Queue[bytes] = asyncio.Queue()
        await self.answer(self.peer.subscribe(self.characteristic(uuid), lambda value: values.put_nowait(bytes(value))))
        return values

    async def unsubscribe(self, uuid: UUID) -> None:
        await self.answer(self.peer.unsubscribe(self.characteristic(uuid)))

    async def follow(self, uuid: UUID, count: int) -> list[bytes]:
        values = await self.subscribe(uuid)
        return [await asyncio.wait_for(values.get(), ANSWER_TIMEOUT) for _ in range(count)]

    async def table(self) -> Table:
        """Discovers everything, and reads everything readable."""
        await self.discover()
        return Table([await self._service(service) for service in self.peer.services])

    async def _service(self, service: ServiceProxy) -> ServiceEntry:
        entry = ServiceEntry(service.handle, service.end_group_handle, text(service.uuid))
        entry.includes = await self._includes(service)
        entry.characteristics = [await self._characteristic(each) for each in service.characteristics]
        return entry

    async def _includes(self, service: ServiceProxy) -> list[tuple[int, int]]:
        # Bumble's own procedure fails for a 128-bit service, whose include declaration contains no UUID.
        request = att.ATT_Read_By_Type_Request(
            starting_handle=service.handle, ending_handle=service.end_group_handle, attribute_type=INCLUDE
        )
        response = await self.answer(self.peer.gatt_client.send_request(request))
        if response.op_code == att.Opcode.ATT_ERROR_RESPONSE:
            return []
        return [struct.unpack_from("<HH", value) for _, value in response.attributes]

    async def _characteristic(self, proxy: CharacteristicProxy) -> CharacteristicEntry:
        entry = CharacteristicEntry(proxy.handle, text(proxy.uuid))
        entry.properties = [each.name.lower() for each in Characteristic.Properties if each in proxy.properties]
        if Characteristic.Properties.READ in proxy.properties:
            await self._read_into(entry)
        for each in proxy.descriptors:
            entry.descriptors.append(Attribute(each.handle, text(each.type)))
            await self._read_into(entry.descriptors[-1])
        return entry

    async def _read_into(self, entry: Attribute) -> None:
        try:
            entry.value = bytes(await self.answer(self.peer.read_value(entry.handle)))
        except att.ATT_Error as error:
            entry.error = int(error.error_code)


def name_of(advertisement: Advertisement) -> str | None:
    data = advertisement.data
    return data.get(AdvertisingData.COMPLETE_LOCAL_NAME) or data.get(AdvertisingData.SHORTENED_LOCAL_NAME)


@asynccontextmanager
async def central(
    transport: str, *, address: str = ADDRESS, capture: Path | None = None, pairing: Pairing | None = None
) -> AsyncIterator[Central]:
    async with powered_device(transport, "Foreign central", address, capture, pairing) as device:
        yield Central(device)


async def explore(arguments: argparse.Namespace) -> None:
    async with central(arguments.transport, capture=arguments.capture) as client:
        await client.connect(arguments.name, arguments.mtu)
        print("\n".join((await client.table()).lines()), flush=True)
        if arguments.notifications:
            values = await client.subscribe(arguments.follow)
            for _ in range(arguments.notifications):
                print(f"{text(arguments.follow)} {(await values.get()).hex()}", flush=True)
        await client.disconnect()


def main() -> int:
    parser = argparse.ArgumentParser(prog="peer central", description=__doc__.split("\n\n")[0])
    add_host_options(parser)
    parser.add_argument("name", help="the peripheral's advertised name")
    parser.add_argument("--mtu", type=int, default=247, help="ATT MTU to request; 23 requests none")
    parser.add_argument("--follow", type=UUID, default=HEART_RATE_MEASUREMENT, metavar="UUID", help="default 2A37")
    parser.add_argument("--notifications", type=int, default=3, metavar="N", help="number of notifications; 0 for none")
    try:
        asyncio.run(explore(parser.parse_args()))
    except KeyboardInterrupt:
        return 130
    except (OSError, TimeoutError, NotFound, LinkLost) as error:
        print(f"peer central: {error or repr(error)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
