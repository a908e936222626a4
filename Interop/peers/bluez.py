"""BlueZ as a peer, through its D-Bus interface (doc/*.txt of BlueZ). Runs as a program, in the machine, next to
bluetoothd.

    bluez.py peripheral ADAPTER               publishes a value for paired centrals only, until it is ended
    bluez.py central ADAPTER NAME UUID [pair] finds a device, pairs with it or uses the bond, and reads a value
"""
from __future__ import annotations

import asyncio
import sys
import time

from dbus_next import BusType, DBusError, Variant
from dbus_next.aio import MessageBus
from dbus_next.service import PropertyAccess, ServiceInterface, dbus_property, method

SERVICE = "0000ffe0-0000-1000-8000-00805f9b34fb"
SECRET = "0000ffe1-0000-1000-8000-00805f9b34fb"
PULSE = "0000ffe2-0000-1000-8000-00805f9b34fb"
NAME = "Foreign BlueZ"
ROOT = "/harald"


def say(text: str) -> None:
    print(text, flush=True)


class Agent(ServiceInterface):
    """A user who accepts everything, with neither display nor keyboard."""

    def __init__(self) -> None:
        super().__init__("org.bluez.Agent1")

    @method()
    def Release(self):  # noqa: N802
        pass

    @method()
    def RequestAuthorization(self, device: "o"):  # noqa: F821, N802
        say("agreed")

    @method()
    def AuthorizeService(self, device: "o", uuid: "s"):  # noqa: F821, N802
        pass

    @method()
    def Cancel(self):  # noqa: N802
        pass


class Service(ServiceInterface):
    def __init__(self) -> None:
        super().__init__("org.bluez.GattService1")

    @dbus_property(access=PropertyAccess.READ)
    def UUID(self) -> "s":  # noqa: F821, N802
        return SERVICE

    @dbus_property(access=PropertyAccess.READ)
    def Primary(self) -> "b":  # noqa: F821, N802
        return True


class Characteristic(ServiceInterface):
    def __init__(self, uuid: str, flags: list[str], value: bytes) -> None:
        super().__init__("org.bluez.GattCharacteristic1")
        self.uuid, self.flags, self.value = uuid, flags, value
        self.ticking: asyncio.Task[None] | None = None

    @dbus_property(access=PropertyAccess.READ)
    def UUID(self) -> "s":  # noqa: F821, N802
        return self.uuid

    @dbus_property(access=PropertyAccess.READ)
    def Service(self) -> "o":  # noqa: F821, N802
        return f"{ROOT}/service"

    @dbus_property(access=PropertyAccess.READ)
    def Flags(self) -> "as":  # noqa: F722, F821, N802
        return self.flags

    @dbus_property(access=PropertyAccess.READ)
    def Value(self) -> "ay":  # noqa: F821, N802
        return self.value

    @method()
    def ReadValue(self, options: "a{sv}") -> "ay":  # noqa: F722, F821, N802
        say(f"read {self.uuid[4:8]}")
        return self.value

    @method()
    def StartNotify(self):  # noqa: N802
        self.ticking = asyncio.ensure_future(self.tick())

    @method()
    def StopNotify(self):  # noqa: N802
        if self.ticking:
            self.ticking.cancel()

    async def tick(self) -> None:
        while True:
            self.value = bytes([(self.value[0] + 1) % 256])
            self.emit_properties_changed({"Value": self.value})
            await asyncio.sleep(0.2)


class Advertisement(ServiceInterface):
    def __init__(self) -> None:
        super().__init__("org.bluez.LEAdvertisement1")

    @dbus_property(access=PropertyAccess.READ)
    def Type(self) -> "s":  # noqa: F821, N802
        return "peripheral"

    @dbus_property(access=PropertyAccess.READ)
    def ServiceUUIDs(self) -> "as":  # noqa: F722, F821, N802
        return [SERVICE]

    @dbus_property(access=PropertyAccess.READ)
    def LocalName(self) -> "s":  # noqa: F821, N802
        return NAME

    @dbus_property(access=PropertyAccess.READ)
    def TxPower(self) -> "n":  # noqa: F821, N802
        return 0

    @method()
    def Release(self):  # noqa: N802
        pass


class BlueZ:
    """The objects of the daemon."""

    def __init__(self, bus: MessageBus, adapter: str) -> None:
        self.bus, self.adapter = bus, f"/org/bluez/{adapter}"

    async def interface(self, path: str, name: str):
        node = await self.bus.introspect("org.bluez", path)
        return self.bus.get_proxy_object("org.bluez", path, node).get_interface(name)

    async def get(self, path: str, interface: str, name: str):
        properties = await self.interface(path, "org.freedesktop.DBus.Properties")
        return (await properties.call_get(interface, name)).value

    async def begin(self) -> None:
        properties = await self.interface(self.adapter, "org.freedesktop.DBus.Properties")
        await properties.call_set("org.bluez.Adapter1", "Powered", Variant("b", True))
        self.bus.export(f"{ROOT}/agent", Agent())
        manager = await self.interface("/org/bluez", "org.bluez.AgentManager1")
        await manager.call_register_agent(f"{ROOT}/agent", "NoInputNoOutput")
        await manager.call_request_default_agent(f"{ROOT}/agent")

    async def objects(self) -> dict[str, dict[str, dict[str, Variant]]]:
        manager = await self.interface("/", "org.freedesktop.DBus.ObjectManager")
        return await manager.call_get_managed_objects()

    async def until(self, what: str, found, seconds: float = 60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for path, interfaces in (await self.objects()).items():
                if found(path, interfaces):
                    return path
            await asyncio.sleep(0.2)
        raise SystemExit(f"there is no {what}")

    async def discover(self, name: str) -> str:
        """The path of the device with that name, as soon as it is discovered."""
        adapter = await self.interface(self.adapter, "org.bluez.Adapter1")
        await adapter.call_set_discovery_filter({"Transport": Variant("s", "le")})
        await adapter.call_start_discovery()

        def is_there(_: str, interfaces: dict[str, dict[str, Variant]]) -> bool:
            device = interfaces.get("org.bluez.Device1", {})
            # A cached device has no signal strength.
            return "RSSI" in device and device.get("Alias", Variant("s", "")).value == name

        path = await self.until(f"device {name}", is_there)
        await adapter.call_stop_discovery()
        return path

    async def characteristic(self, device: str, uuid: str):
        """A characteristic of a device whose services are resolved."""

        def is_wanted(place: str, interfaces: dict[str, dict[str, Variant]]) -> bool:
            found = interfaces.get("org.bluez.GattCharacteristic1", {})
            return place.startswith(device) and found.get("UUID", Variant("s", "")).value == uuid

        return await self.interface(await self.until(f"characteristic {uuid}", is_wanted), "org.bluez.GattCharacteristic1")


async def peripheral(bluez: BlueZ) -> None:
    bluez.bus.export(f"{ROOT}/service", Service())
    bluez.bus.export(f"{ROOT}/service/secret", Characteristic(SECRET, ["encrypt-read"], b"for friends"))
    bluez.bus.export(f"{ROOT}/service/pulse", Characteristic(PULSE, ["read", "notify"], b"\x00"))
    bluez.bus.export(f"{ROOT}/advertisement", Advertisement())
    gatt = await bluez.interface(bluez.adapter, "org.bluez.GattManager1")
    await gatt.call_register_application(ROOT, {})
    advertising = await bluez.interface(bluez.adapter, "org.bluez.LEAdvertisingManager1")
    await advertising.call_register_advertisement(f"{ROOT}/advertisement", {})
    say("advertising")
    await asyncio.Event().wait()


async def central(bluez: BlueZ, name: str, uuid: str, pairs: bool) -> None:
    path = await bluez.discover(name)
    device = await bluez.interface(path, "org.bluez.Device1")
    begin = time.monotonic()
    await device.call_connect()
    while not await bluez.get(path, "org.bluez.Device1", "ServicesResolved"):
        await asyncio.sleep(0.01)
    say(f"connected, and services known, after {time.monotonic() - begin:.3f} s")
    if pairs:
        await device.call_pair()
    say(f"paired {await bluez.get(path, 'org.bluez.Device1', 'Paired')}")

    characteristic = await bluez.characteristic(path, uuid)
    try:
        say(f"value {(await characteristic.call_read_value({})).hex()}")
    except DBusError as error:
        say(f"refused {error.text}")
    await device.call_disconnect()
    say("done")


async def main(role: str, adapter: str, *words: str) -> None:
    bluez = BlueZ(await MessageBus(bus_type=BusType.SYSTEM).connect(), adapter)
    await bluez.begin()
    if role == "peripheral":
        await peripheral(bluez)
    else:
        name, uuid, *rest = words
        await central(bluez, name, uuid, rest == ["pair"])


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
