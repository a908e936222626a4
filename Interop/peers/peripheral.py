"""A heart rate sensor on Bumble's host: the GATT database of database.py, advertised until Ctrl-C.

    Interop/peer peripheral tcp-client:127.0.0.1:6402 [--name NAME]
"""
from __future__ import annotations

import argparse
import asyncio
import itertools
import struct
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bumble import att, hci
from bumble.core import AdvertisingData
from bumble.device import Connection, Device
from bumble.gatt import Characteristic

from peers.database import HEART_RATE, WORKSHOP, Database, heart_rate, text
from peers.hosts import add_host_options, powered_device, tell
from peers.pairing import Pairing

NAME, ADDRESS = "Foreign HR", "F0:9E:16:4A:00:01"
POWER_OFF = hci.HCI_ErrorCode.REMOTE_DEVICE_TERMINATED_CONNECTION_DUE_TO_POWER_OFF_ERROR
COMPANY = 0xFFFF  # the company identifier reserved for tests
MANUFACTURER_DATA = COMPANY.to_bytes(2, "little") + b"harald"
BEATS = range(60, 181)  # increasing heart rates, so that a lost notification shows


@dataclass
class Event:
    kind: str  # connection, disconnection, read, write, subscribe, mtu, request
    details: dict[str, Any] = field(default_factory=dict)


class Peripheral:
    def __init__(self, device: Device, name: str, beat: float, cut_at: int | None, swallow_at: int | None) -> None:
        self.device, self.name, self.beat = device, name, beat
        self.cut_at, self.swallow_at = cut_at, swallow_at
        self.database = Database()
        self.events: list[Event] = []
        self.on_request: Callable[[att.Bearer, att.ATT_PDU], None] = lambda bearer, pdu: None
        self._changed = asyncio.Event()
        self._beats = itertools.cycle(BEATS)
        self._ticks, self._alarms = itertools.count(1), itertools.count(1)
        self._prepare()

    # --- events

    def note(self, kind: str, **details: Any) -> None:
        tell(self.name, kind, **details)
        self.events.append(Event(kind, details))
        self._changed.set()

    def seen(self, kind: str, **details: Any) -> list[Event]:
        wanted = details.items()
        return [event for event in self.events if event.kind == kind and wanted <= event.details.items()]

    async def event(self, kind: str, timeout: float = 30, **details: Any) -> Event:
        """Waits for an event, unless it has already occurred."""
        async with asyncio.timeout(timeout):
            while not (found := self.seen(kind, **details)):
                self._changed.clear()
                await self._changed.wait()
        return found[-1]

    # --- GATT

    def _prepare(self) -> None:
        self.device.add_services(self.database.services)
        server = self.device.gatt_server
        server.on(server.EVENT_CHARACTERISTIC_SUBSCRIPTION, self._on_subscription)
        for each in self.database.writable:
            each.on(each.EVENT_WRITE, lambda _, value, uuid=text(each.uuid): self.note("write", uuid=uuid, value=value))
        self.device.on("connection", self._on_connection)
        answer = server.on_gatt_pdu
        server.on_gatt_pdu = lambda bearer, pdu: self._on_request(bearer, pdu) and answer(bearer, pdu)

    def _on_request(self, connection: att.Bearer, pdu: att.ATT_PDU) -> bool:
        """Whether to respond: faults start at the configured request."""
        self.on_request(connection, pdu)
        if pdu.op_code == self.cut_at:
            self.note("request", fault="cut", opcode=int(pdu.op_code))
            asyncio.ensure_future(connection.disconnect(POWER_OFF))
            return False
        if pdu.op_code == self.swallow_at:
            self.note("request", fault="swallowed", opcode=int(pdu.op_code))
            return False
        return True

    def _on_subscription(self, _: Connection, which: Characteristic, notify: bool, indicate: bool) -> None:
        self.note("subscribe", uuid=text(which.uuid), notify=notify, indicate=indicate)

    async def grow(self) -> None:
        """Adds a service while clients are connected; subscribed clients are notified."""
        server = self.device.gatt_server
        first = server.next_handle()
        server.add_service(self.database.extra_service())
        self.note("grown", first=first)
        changed = self.device.gatt_service.service_changed_characteristic
        await server.indicate_subscribers(changed, struct.pack("<HH", first, 0xFFFF))

    # --- the link

    def _on_connection(self, connection: Connection) -> None:
        self.note("connection", peer=str(connection.peer_address))
        connection.on(
            connection.EVENT_DISCONNECTION, lambda reason: self.note("disconnection", reason=int(reason))
        )
        connection.on(
            connection.EVENT_CONNECTION_ATT_MTU_UPDATE, lambda: self.note("mtu", value=connection.att_mtu)
        )

    async def advertise(self, name_in_scan_response: bool) -> None:
        name = (AdvertisingData.COMPLETE_LOCAL_NAME, self.name.encode())
        advertised = [
            (AdvertisingData.FLAGS, b"\x06"),
            (AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, bytes(HEART_RATE)),
        ]
        answered = [(AdvertisingData.MANUFACTURER_SPECIFIC_DATA, MANUFACTURER_DATA)]
        if name_in_scan_response:
            answered.append(name)
        else:
            advertised.append(name)
            answered.append((AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS, bytes(WORKSHOP)))
        await self.device.start_advertising(
            auto_restart=True,
            advertising_data=bytes(AdvertisingData(advertised)),
            scan_response_data=bytes(AdvertisingData(answered)),
            advertising_interval_min=30,
            advertising_interval_max=30,
        )
        self.note("advertising", address=str(self.device.random_address))

    # --- changing values

    async def live(self) -> None:
        await asyncio.gather(self._notify(), self._indicate())

    def _has_subscriber(self, which: Characteristic) -> bool:
        # The counters wait for a subscriber, so that the first notification carries the first value.
        return bool(self.seen("subscribe", uuid=text(which.uuid)))

    async def _notify(self) -> None:
        send = self.device.gatt_server.notify_subscribers
        while True:
            await asyncio.sleep(self.beat)
            if self._has_subscriber(self.database.measurement):
                await send(self.database.measurement, heart_rate(next(self._beats)))
            if self._has_subscriber(self.database.ticks):
                await send(self.database.ticks, next(self._ticks).to_bytes(4, "little"))

    async def _indicate(self) -> None:
        send = self.device.gatt_server.indicate_subscribers
        while True:
            await asyncio.sleep(self.beat)
            if self._has_subscriber(self.database.alarm):
                await send(self.database.alarm, next(self._alarms).to_bytes(4, "little"))


@asynccontextmanager
async def peripheral(
    transport: str,
    name: str = NAME,
    *,
    address: str = ADDRESS,
    mtu: int = 517,
    beat: float = 0.03,
    name_in_scan_response: bool = False,
    cut_at: int | None = None,
    swallow_at: int | None = None,
    capture: Path | None = None,
    pairing: Pairing | None = None,
    settings: dict[str, Any] | None = None,
    on_request: Callable[[att.Bearer, att.ATT_PDU], None] = lambda bearer, pdu: None,
) -> AsyncIterator[Peripheral]:
    """Advertises for the length of an `async with`. `cut_at` and `swallow_at` are ATT opcodes: the first such
    request ends the link, or gets no response. `settings` are more of Bumble's configuration; `on_request` is
    called for each request, with its bearer."""
    async with powered_device(transport, name, address, capture, pairing, settings=settings) as device:
        device.gatt_server.max_mtu = mtu
        sensor = Peripheral(device, name, beat, cut_at, swallow_at)
        sensor.on_request = on_request
        await sensor.advertise(name_in_scan_response)
        life = asyncio.create_task(sensor.live())
        try:
            yield sensor
        finally:
            life.cancel()


async def serve(arguments: argparse.Namespace) -> None:
    options = vars(arguments)
    async with peripheral(options.pop("transport"), options.pop("name"), **options) as sensor:
        gone = asyncio.Event()
        sensor.device.once(sensor.device.EVENT_FLUSH, gone.set)
        await gone.wait()
        raise ConnectionError("it hung up")


def main() -> int:
    parser = argparse.ArgumentParser(prog="peer peripheral", description=__doc__.split("\n\n")[0])
    add_host_options(parser)
    opcode = {"type": lambda word: int(word, 0), "metavar": "OPCODE"}
    parser.add_argument("--name", default=NAME)
    parser.add_argument("--address", default=ADDRESS, help="its random static address")
    parser.add_argument("--mtu", type=int, default=517, help="the largest ATT MTU to accept")
    parser.add_argument("--beat", type=float, default=1.0, help="the seconds between notifications")
    parser.add_argument("--name-in-scan-response", action="store_true")
    parser.add_argument("--cut-at", **opcode, help="end the link at the first such ATT request, for example 0x08")
    parser.add_argument("--swallow-at", **opcode, help="leave such ATT requests unanswered")
    try:
        asyncio.run(serve(parser.parse_args()))
    except KeyboardInterrupt:
        return 0
    except (OSError, TimeoutError) as error:
        print(f"peer peripheral: the controller cannot be used: {error!r}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
