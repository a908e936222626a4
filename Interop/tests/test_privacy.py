"""Link-layer privacy: Bumble's hosts offload it to controllers, Harald's and rootcanal's."""
from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from bumble import hci
from bumble.core import AdvertisingData
from bumble.crypto import ah
from bumble.device import AdvertisingEventProperties, AdvertisingParameters, Connection, Device, Peer

from checks import foreign_air
from conftest import Start
from peers.hosts import identity_key, powered_device
from peers.ports import HOST

Capture = Callable[[str], Path]
NAME = "Hidden"
HIDDEN, KNOWING, STRANGER = "F0:9E:16:4A:04:01", "F0:9E:16:4A:04:02", "F0:9E:16:4A:04:03"
RESOLVABLE = hci.OwnAddressType.RESOLVABLE_OR_RANDOM
RANDOM = hci.OwnAddressType.RANDOM
DATA = bytes(AdvertisingData([(AdvertisingData.COMPLETE_LOCAL_NAME, NAME.encode())]))

OURS = pytest.param("ours", id="ours")
ROOTCANAL = pytest.param("rootcanal full", marks=pytest.mark.rootcanal, id="rootcanal")


@asynccontextmanager
async def air_of(harald: Start, name: str) -> AsyncIterator[str]:
    """The Bumble transport name of the controllers."""
    if name == "ours":
        async with harald("controllers", "--listen", "0") as process:
            port = (await process.line(r"listening on .*?(\d+)\D*$"))[1]
            yield f"tcp-client:{HOST}:{port}"
    else:
        async with foreign_air(name) as air:
            yield air.transport


class Hosts(AsyncExitStack):
    """Bumble's hosts on one air."""

    def __init__(self, transport: str, capture: Capture) -> None:
        super().__init__()
        self.transport, self.capture = transport, capture

    async def host(self, address: str, *knows: str, **settings: Any) -> Device:
        capture = self.capture(f"host-{address[-2:]}")
        device = powered_device(self.transport, NAME, address, capture, knows=knows, settings=settings)
        return await self.enter_async_context(device)

    async def offloading(self, address: str, *knows: str) -> Device:
        """A host whose controller generates and resolves its private addresses."""
        return await self.host(address, *knows, address_resolution_offload=True, address_generation_offload=True)


async def advertise(
    device: Device,
    own: hci.OwnAddressType,
    peer: hci.Address = hci.Address.ANY,
    *,
    legacy: bool = True,
    directed: bool = False,
) -> None:
    properties = AdvertisingEventProperties(
        is_connectable=True, is_scannable=legacy and not directed, is_directed=directed, is_legacy=legacy
    )
    parameters = AdvertisingParameters(
        advertising_event_properties=properties,
        primary_advertising_interval_min=50,
        primary_advertising_interval_max=50,
        own_address_type=own,
        peer_address=peer,
    )
    await device.create_advertising_set(
        parameters,
        random_address=device.random_address,
        advertising_data=b"" if directed else DATA,
        auto_start=True,
        auto_restart=False,
    )


async def heard(device: Device, seconds: float = 1.0) -> set[hci.Address]:
    """The advertisers that the controller reports. On rootcanal's air there are beacons too."""
    addresses: list[hci.Address] = []
    device.host.on("advertising_report", lambda report: addresses.append(report.address))
    await device.start_scanning(active=True, filter_duplicates=False)
    await asyncio.sleep(seconds)
    await device.stop_scanning()
    return {address for address in addresses if not address.to_string(False).startswith("BE:AC:")}


def kinds(addresses: set[hci.Address]) -> set[tuple[str, int]]:
    return {(address.to_string(False), int(address.address_type)) for address in addresses}


def is_made_by(address: hci.Address, maker: str) -> bool:
    octets = bytes(address)
    return address.is_resolvable and ah(identity_key(maker), octets[3:]) == octets[:3]


IDENTITY = {(HIDDEN, int(hci.AddressType.RANDOM_IDENTITY))}


@pytest.mark.parametrize("air_name", [OURS, ROOTCANAL])
async def test_who_has_the_key_sees_the_identity(harald: Start, capture: Capture, air_name: str) -> None:
    async with air_of(harald, air_name) as transport, Hosts(transport, capture) as hosts:
        hidden = await hosts.offloading(HIDDEN)
        knowing = await hosts.offloading(KNOWING, HIDDEN)
        stranger = await hosts.offloading(STRANGER)
        await advertise(hidden, RESOLVABLE)
        # rootcanal reports the identity as if it had been on the air.
        assert kinds(await heard(knowing)) == (IDENTITY if air_name == "ours" else {(HIDDEN, 1)})
        (address,) = await heard(stranger)
        assert is_made_by(address, HIDDEN)


async def test_an_extended_advertiser_hides_too(harald: Start, capture: Capture) -> None:
    async with air_of(harald, "ours") as transport, Hosts(transport, capture) as hosts:
        hidden = await hosts.offloading(HIDDEN)
        knowing = await hosts.offloading(KNOWING, HIDDEN)
        stranger = await hosts.host(STRANGER)
        await advertise(hidden, RESOLVABLE, legacy=False)
        assert kinds(await heard(knowing)) == IDENTITY
        (address,) = await heard(stranger)
        assert is_made_by(address, HIDDEN)


async def test_a_private_address_of_the_hosts_own_making_is_resolved(harald: Start, capture: Capture) -> None:
    async with air_of(harald, "ours") as transport, Hosts(transport, capture) as hosts:
        hidden = await hosts.host(HIDDEN, le_privacy_enabled=True)
        knowing = await hosts.offloading(KNOWING, HIDDEN)
        assert is_made_by(hidden.random_address, HIDDEN)
        await advertise(hidden, RANDOM)
        assert kinds(await heard(knowing)) == IDENTITY


async def test_the_address_changes(harald: Start, capture: Capture) -> None:
    async with air_of(harald, "ours") as transport, Hosts(transport, capture) as hosts:
        hidden = await hosts.offloading(HIDDEN)
        knowing = await hosts.offloading(KNOWING, HIDDEN)
        stranger = await hosts.host(STRANGER)
        await hidden.send_sync_command(hci.HCI_LE_Set_Resolvable_Private_Address_Timeout_Command(rpa_timeout=1))
        await advertise(hidden, RESOLVABLE)
        addresses, identities = await asyncio.gather(heard(stranger, 2.5), heard(knowing, 2.5))
        assert len(addresses) in (3, 4) and all(is_made_by(each, HIDDEN) for each in addresses)
        assert kinds(identities) == IDENTITY


# rootcanal responds to peers that use an identity that should be hidden: it has no privacy modes yet.
@pytest.mark.parametrize("mode", ["network", "device"])
async def test_an_identity_that_should_be_hidden(harald: Start, capture: Capture, mode: str) -> None:
    async with air_of(harald, "ours") as transport, Hosts(transport, capture) as hosts:
        shown = await hosts.host(HIDDEN)
        knowing = await hosts.offloading(KNOWING, HIDDEN)
        if mode == "device":
            await knowing.send_sync_command(
                hci.HCI_LE_Set_Privacy_Mode_Command(
                    peer_identity_address_type=1, peer_identity_address=hci.Address(HIDDEN), privacy_mode=1
                )
            )
        await advertise(shown, RANDOM)
        assert kinds(await heard(knowing)) == ({(HIDDEN, 1)} if mode == "device" else set())


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("air_name", [OURS, ROOTCANAL])
async def test_connects_by_identity(harald: Start, capture: Capture, air_name: str, directed: bool) -> None:
    async with air_of(harald, air_name) as transport, Hosts(transport, capture) as hosts:
        hidden = await hosts.offloading(HIDDEN, KNOWING)
        knowing = await hosts.offloading(KNOWING, HIDDEN)
        accepted: asyncio.Future[Connection] = asyncio.get_running_loop().create_future()
        hidden.on("connection", accepted.set_result)
        await advertise(hidden, RESOLVABLE, hci.Address(KNOWING), directed=directed)
        ours = await knowing.connect_le(hci.Address(HIDDEN), own_address_type=RESOLVABLE, timeout=10)
        theirs = await asyncio.wait_for(accepted, 10)
        for connection, own, peer in ((ours, KNOWING, HIDDEN), (theirs, HIDDEN, KNOWING)):
            assert connection.peer_address.to_string(False) == peer
            assert is_made_by(connection.self_resolvable_address, own)
            if air_name == "ours":
                assert connection.peer_address.is_resolved
                assert is_made_by(connection.peer_resolvable_address, peer)
        if air_name == "ours":
            assert ours.self_resolvable_address == theirs.peer_resolvable_address
        # The link also carries data.
        await Peer(ours).discover_services()
        await ours.disconnect()


# --- status codes ----------------------------------------------------------------------------------------------------


def command(number: int, parameters: bytes = b"") -> hci.HCI_Command:
    """Builds a command by number; Bumble does not support all of them."""
    return hci.HCI_Command(parameters, op_code=hci.hci_command_op_code(0x08, number))


def peer(number: int) -> bytes:
    """A public identity."""
    return bytes([0, number]) + bytes(5)


def key(number: int) -> bytes:
    return bytes([number]) * 16


def add(identity: int, peer_key: int) -> hci.HCI_Command:
    return command(0x27, peer(identity) + key(peer_key) + key(0))


def ask(number: int, identity: int, *parameters: int) -> hci.HCI_Command:
    return command(number, peer(identity) + bytes(parameters))


REMOVE, CLEAR, READ_PEER, READ_LOCAL, RESOLVE, TIMEOUT, MODE = 0x28, 0x29, 0x2B, 0x2C, 0x2D, 0x2E, 0x4E
SCAN_PARAMETERS = command(0x41, bytes([1, 0, 1, 0, 16, 0, 16, 0]))
SCAN, STOP = command(0x42, bytes([1, 0, 0, 0, 0, 0])), command(0x42, bytes(6))
ROWS = [
    ("add", add(1, 1)),
    ("add again", add(1, 1)),
    ("same key", add(2, 1)),
    ("same identity", add(1, 2)),
    ("no key", add(2, 0)),
    ("no key either", add(3, 0)),
    ("mode", ask(MODE, 1, 1)),
    ("mode of a stranger", ask(MODE, 9, 1)),
    ("remove", ask(REMOVE, 3)),
    ("remove again", ask(REMOVE, 3)),
    ("never seen", ask(READ_PEER, 1)),
    ("never used", ask(READ_LOCAL, 1)),
    ("timeout of 0", command(TIMEOUT, bytes([0, 0]))),
    ("timeout of 1 s", command(TIMEOUT, bytes([1, 0]))),
    ("timeout of 1 h", command(TIMEOUT, bytes([0x10, 0x0E]))),
    ("timeout above 1 h", command(TIMEOUT, bytes([0x11, 0x0E]))),
    ("resolve", command(RESOLVE, b"\x01")),
    ("resolve again", command(RESOLVE, b"\x01")),
    ("scan as", SCAN_PARAMETERS),
    ("scan", SCAN),
    ("add while scanning", add(3, 3)),
    ("remove while scanning", ask(REMOVE, 1)),
    ("clear while scanning", command(CLEAR)),
    ("mode while scanning", ask(MODE, 1, 0)),
    ("resolve while scanning", command(RESOLVE, b"\x01")),
    ("timeout while scanning", command(TIMEOUT, bytes([60, 0]))),
    ("stop", STOP),
    ("do not resolve", command(RESOLVE, b"\x00")),
    ("scan unresolved", SCAN),
    ("add while scanning unresolved", add(3, 3)),
    ("mode while scanning unresolved", ask(MODE, 1, 0)),
    ("remove while scanning unresolved", ask(REMOVE, 1)),
    ("clear while scanning unresolved", command(CLEAR)),
    ("do not resolve while scanning", command(RESOLVE, b"\x00")),
    ("stop again", STOP),
]


async def statuses(transport: str) -> list[tuple[str, int]]:
    """The statuses of a controller's responses to a series of commands."""
    found = []
    async with powered_device(transport, NAME, STRANGER, None) as device:
        for name, each in ROWS:
            answer = (await device.host.send_sync_command_raw(each)).return_parameters
            found.append((name, int(answer.data[0] if hasattr(answer, "data") else answer.status)))
    return found


@pytest.mark.rootcanal
async def test_the_same_commands_have_the_same_answers(harald: Start) -> None:
    async with air_of(harald, "ours") as ours, air_of(harald, "rootcanal full") as theirs:
        assert await statuses(ours) == await statuses(theirs)
