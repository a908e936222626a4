"""Measures BlueZ through its D-Bus interface, with the same steps as Harald's `SideBySide` in `Benchmarks`. Values go
through descriptors (AcquireNotify, AcquireWrite) instead of single D-Bus calls.

    throughput.py peripheral ADAPTER       notifies as fast as it can while a central is subscribed, until it is ended
    throughput.py central ADAPTER SECONDS  connects to "Measured", discovers its table, subscribes, and writes
"""
from __future__ import annotations

import asyncio
import os
import socket
import sys
import time

from dbus_next import BusType, Variant
from dbus_next.aio import MessageBus
from dbus_next.service import PropertyAccess, ServiceInterface, dbus_property, method

from bluez import ROOT, Advertisement, BlueZ, Characteristic, Service, say

NAME = "Measured"
WRITES = 2_000
SERVICE, NOTIFIED, WRITTEN, TALLY = (f"0000fff{number}-0000-1000-8000-00805f9b34fb" for number in range(4))


class OctetCount:
    """A count of octets from the first value on; the first value itself does not count."""

    def __init__(self) -> None:
        self.octets, self.first, self.last = 0, 0.0, 0.0

    def take(self, count: int) -> None:
        self.last = time.monotonic()
        if self.first:
            self.octets += count
        else:
            self.first = self.last

    def per_second(self) -> int:
        return int(self.octets / (self.last - self.first)) if self.octets else 0


class Measured(Service):
    @dbus_property(access=PropertyAccess.READ)
    def UUID(self) -> "s":  # noqa: F821, N802
        return SERVICE


class Notifying(Characteristic):
    """The daemon holds one end of a socket, and sends on what is written to the other."""

    notifies = False

    @dbus_property(access=PropertyAccess.READ)
    def NotifyAcquired(self) -> "b":  # noqa: F821, N802
        return self.notifies

    @method()
    def AcquireNotify(self, options: "a{sv}") -> "hq":  # noqa: F722, F821, N802
        length = options["mtu"].value - 3
        own, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK)
        self.notifies = True
        asyncio.ensure_future(self.pump(own, b"\x55" * length))
        # The reply is sent later; the daemon's end is closed with this program.
        return [other.detach(), options["mtu"].value]

    async def pump(self, own: socket.socket, value: bytes) -> None:
        loop = asyncio.get_running_loop()
        try:
            while True:
                await loop.sock_sendall(own, value)
        except OSError:
            # The central has unsubscribed.
            self.notifies = False
            own.close()


class Advertised(Advertisement):
    @dbus_property(access=PropertyAccess.READ)
    def ServiceUUIDs(self) -> "as":  # noqa: F722, F821, N802
        return [SERVICE]

    @dbus_property(access=PropertyAccess.READ)
    def LocalName(self) -> "s":  # noqa: F821, N802
        return NAME


async def peripheral(bluez: BlueZ) -> None:
    bluez.bus.export(f"{ROOT}/service", Measured())
    bluez.bus.export(f"{ROOT}/service/notified", Notifying(NOTIFIED, ["notify"], b""))
    bluez.bus.export(f"{ROOT}/advertisement", Advertised())
    gatt = await bluez.interface(bluez.adapter, "org.bluez.GattManager1")
    await gatt.call_register_application(ROOT, {})
    advertising = await bluez.interface(bluez.adapter, "org.bluez.LEAdvertisingManager1")
    await advertising.call_register_advertisement(f"{ROOT}/advertisement", {})
    say("advertising")
    await asyncio.Event().wait()


async def listen(characteristic, seconds: float) -> None:
    descriptor, mtu = await characteristic.call_acquire_notify({})
    count = OctetCount()
    end = time.monotonic() + seconds
    with socket.socket(fileno=descriptor) as values:
        values.setblocking(False)
        loop = asyncio.get_running_loop()
        while (left := end - time.monotonic()) > 0:
            try:
                count.take(len(await asyncio.wait_for(loop.sock_recv(values, mtu), left)))
            except TimeoutError:
                break
    say(f"notified {count.per_second()}")


async def write(characteristic, tally) -> None:
    descriptor, mtu = await characteristic.call_acquire_write({})
    value = b"\x55" * (mtu - 3)
    os.set_blocking(descriptor, True)
    # A fixed number rather than a time: the daemon queues writes without limit.
    for _ in range(WRITES):
        os.write(descriptor, value)
    os.close(descriptor)
    octets, nanoseconds = (int.from_bytes(half, "little") for half in halves(await tally.call_read_value({})))
    say(f"written {int(octets * 1e9 / nanoseconds) if nanoseconds else 0}")


def halves(value: bytes) -> tuple[bytes, bytes]:
    return bytes(value[:8]), bytes(value[8:])


async def central(bluez: BlueZ, seconds: float) -> None:
    path = await bluez.discover(NAME)
    device = await bluez.interface(path, "org.bluez.Device1")
    properties = await bluez.interface(path, "org.freedesktop.DBus.Properties")
    resolved = asyncio.Event()

    def changed(_: str, values: dict[str, Variant], __: list[str]) -> None:
        if "ServicesResolved" in values and values["ServicesResolved"].value:
            resolved.set()

    properties.on_properties_changed(changed)
    begin = time.monotonic()
    await device.call_connect()
    await resolved.wait()
    say(f"known {time.monotonic() - begin:.6f}")
    notified, written, tally = [await bluez.characteristic(path, uuid) for uuid in (NOTIFIED, WRITTEN, TALLY)]
    await listen(notified, seconds)
    await write(written, tally)
    await device.call_disconnect()


async def main(role: str, adapter: str, seconds: str = "5") -> None:
    bluez = BlueZ(await MessageBus(bus_type=BusType.SYSTEM, negotiate_unix_fd=True).connect(), adapter)
    await bluez.begin()
    await (peripheral(bluez) if role == "peripheral" else central(bluez, float(seconds)))


asyncio.run(main(*sys.argv[1:]))
