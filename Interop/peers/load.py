"""The air of `controllers.py` under load: while the last host that connects scans, many devices advertise to it, and a
heart rate sensor notifies it quickly once it has subscribed.

    Interop/peer load [PORT] [--devices 1000] [--packets 5000] [--values 500]

The packets are made here and written straight to the host, because Bumble is too slow to simulate so many devices.
"""
from __future__ import annotations

import argparse
import asyncio
import itertools
import random
import sys
import time
from collections.abc import Iterator

from bumble.hci import HCI_ACL_DATA_PACKET, HCI_EVENT_PACKET

from peers.controllers import EXTENDED_REPORT, Air, controllers
from peers.database import text
from peers.peripheral import Peripheral, peripheral

TICK = 0.02  # seconds
REPORT_PERIOD = 10  # seconds
LE_META, ATT, NOTIFICATION = 0x3E, 4, 0x1B
ACL_START = 0x2000
ADV_IND = 0x0013
# For each device, so that its signal strength varies.
REPORTS = 16


def report(number: int) -> bytes:
    """An extended advertising report of one device (Core Vol 4 Part E 7.7.65.13)."""
    name = f"Crowd {number:04}".encode()
    data = bytes([2, 1, 6, len(name) + 1, 9]) + name
    address = (0xC0_00_00_00_00_00 + number).to_bytes(6, "little")
    rssi = 0x100 - random.randint(40, 90)
    content = bytes([EXTENDED_REPORT.subevent_code, 1]) + ADV_IND.to_bytes(2, "little") + bytes([1]) + address
    # One primary PHY, no secondary one, no set, no transmit power, no periodic advertising, no direct address.
    content += bytes([1, 0, 0xFF, 0x7F, rssi, 0, 0, 0]) + bytes(6) + bytes([len(data)]) + data
    return bytes([HCI_EVENT_PACKET, LE_META, len(content)]) + content


def notifications(connection: int, attribute: int) -> Iterator[bytes]:
    """Heart rates without end."""
    for beat in itertools.cycle(range(60, 181)):
        pdu = bytes([NOTIFICATION]) + attribute.to_bytes(2, "little") + bytes([0, beat])
        frame = len(pdu).to_bytes(2, "little") + ATT.to_bytes(2, "little") + pdu
        header = (connection | ACL_START).to_bytes(2, "little") + len(frame).to_bytes(2, "little")
        yield bytes([HCI_ACL_DATA_PACKET]) + header + frame


class Pace:
    """Counts what is due at a rate. What was not due while nothing could be sent is not made up for."""

    def __init__(self, rate: float) -> None:
        self.rate, self.rest = rate, 0.0

    def due(self, seconds: float, can_send: bool) -> int:
        if not can_send:
            return 0
        self.rest += seconds * self.rate
        count = int(self.rest)
        self.rest -= count
        return count


async def run(air: Air, sensor: Peripheral, devices: int, packets: int, values: int) -> None:
    while len(air.hosts) < 2:
        await asyncio.sleep(0.1)
    measurement = sensor.database.measurement
    advertised = itertools.cycle([report(number % devices) for number in range(devices * REPORTS)])
    beats: Iterator[bytes] | None = None
    # The notifications are some of the packets.
    reports_due, values_due = Pace(packets - values), Pace(values)
    last = told = time.monotonic()
    sent = 0
    while True:
        await asyncio.sleep(TICK)
        now = time.monotonic()
        passed, last = now - last, now
        host, controller = air.hosts[-1], air.newest
        assert controller
        links = [each.handle for each in controller.le_connections.values()]
        subscribed = bool(links) and bool(sensor.seen("subscribe", uuid=text(measurement.uuid), notify=True))
        if subscribed and not beats:
            beats = notifications(links[0], measurement.handle)
        elif not subscribed:
            beats = None
        batch = list(itertools.islice(beats, values_due.due(passed, True))) if beats else []
        batch += itertools.islice(advertised, reports_due.due(passed, controller.le_scan_enable))
        if batch:
            host.write(b"".join(batch))
        sent += len(batch)
        if now - told >= REPORT_PERIOD:
            print(f"{sent / (now - told):.0f} packets a second, {host.get_write_buffer_size()} octets unread", flush=True)
            told, sent = now, 0


async def serve(port: int, devices: int, packets: int, values: int) -> None:
    # The sensor's own values are none.
    async with controllers(port) as air, peripheral(air.transport, beat=1_000_000) as sensor:
        print(f"controllers for every connection to {air.address}", flush=True)
        await run(air, sensor, devices, packets, values)


def main() -> int:
    parser = argparse.ArgumentParser(prog="peer load", description=__doc__.split("\n\n")[0])
    parser.add_argument("port", type=int, nargs="?", default=0, help="0 selects a free port")
    parser.add_argument("--devices", type=int, default=1_000)
    parser.add_argument("--packets", type=int, default=5_000, help="packets a second")
    parser.add_argument("--values", type=int, default=500, help="of them, notifications a second")
    arguments = parser.parse_args()
    try:
        asyncio.run(serve(arguments.port, arguments.devices, arguments.packets, arguments.values))
    except KeyboardInterrupt:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
