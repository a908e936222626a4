"""Encryption of Harald's virtual controllers with foreign hosts: they pair, encrypt, and change the key."""
from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from bumble import att
from bumble.device import Connection, Peer
from bumble.pairing import PairingConfig

from conftest import Start
from peers import captures
from peers.central import Central, central
from peers.database import BATTERY_LEVEL, SECRET, VALUES
from peers.peripheral import NAME, Peripheral, peripheral
from test_controllers import our_controllers



def pair_with(secure_connections: bool, *sides: Peripheral | Central) -> None:
    def configuration(_: Connection) -> PairingConfig:
        # The address on the air is the one in the bond.
        identity = PairingConfig.AddressType.RANDOM
        return PairingConfig(sc=secure_connections, mitm=False, bonding=True, identity_address_type=identity)

    for side in sides:
        side.device.pairing_config_factory = configuration


async def meet(client: Central) -> Peer:
    peer = await client.connect(NAME)
    await client.discover()
    return peer


async def is_refused(client: Central) -> bool:
    try:
        await client.read(SECRET)
    except att.ATT_Error as error:
        return error.error_code in (att.ATT_INSUFFICIENT_ENCRYPTION_ERROR, att.ATT_INSUFFICIENT_AUTHENTICATION_ERROR)
    return False


def encryption_changes(log: Path) -> list[tuple[str, str]]:
    """The status and state of each Encryption Change, [v1] or [v2], as decoded by tshark."""
    condition = "bthci_evt.code == 0x08 || bthci_evt.code == 0x59"
    fields = captures.as_options(["bthci_evt.status", "bthci_evt.encryption_enable"])
    output = captures.tshark(log, "-Y", condition, "-T", "fields", *fields)
    return [tuple(line.split("\t")) for line in output.splitlines()]


@pytest.mark.parametrize("secure_connections", [True, False], ids=["secure connections", "legacy"])
async def test_bumble_hosts_pair_and_read_what_needs_encryption(
    harald: Start, tmp_path: Path, secure_connections: bool
) -> None:
    async with (
        our_controllers(harald, tmp_path) as transport,
        peripheral(transport) as sensor,
        central(transport) as client,
    ):
        pair_with(secure_connections, sensor, client)
        peer = await meet(client)
        assert await is_refused(client)
        await peer.connection.pair()
        assert peer.connection.is_encrypted
        secret = await client.read(SECRET)
        assert secret == b"secret"
        assert await client.read(BATTERY_LEVEL) == VALUES[BATTERY_LEVEL]
        await client.disconnect()

        # The key works for the next connection. With a legacy bond, Bumble's peripheral responds with the key that the
        # central distributed instead of its own, so the two do not match.
        peer = await meet(client)
        assert not peer.connection.is_encrypted and await is_refused(client)
        if secure_connections:
            await peer.connection.encrypt()
            assert peer.connection.is_encrypted
            assert await client.read(SECRET) == secret
        await client.disconnect()

    logs = sorted(tmp_path.glob("**/*.btsnoop"))
    assert len(logs) == 2
    for log in logs:
        assert len(encryption_changes(log)) == (2 if secure_connections else 1), log


async def test_the_key_of_an_encrypted_link_is_changed(harald: Start, tmp_path: Path) -> None:
    async with (
        our_controllers(harald, tmp_path) as transport,
        peripheral(transport) as sensor,
        central(transport) as client,
    ):
        pair_with(True, sensor, client)
        peer = await meet(client)
        await peer.connection.pair()
        refreshed = asyncio.get_running_loop().create_future()
        event = peer.connection.EVENT_CONNECTION_ENCRYPTION_KEY_REFRESH
        peer.connection.on(event, lambda: refreshed.set_result(None))
        # Bumble waits for Encryption Change, which is only sent for links that were not encrypted before.
        waiting = asyncio.ensure_future(peer.connection.encrypt())
        await asyncio.wait_for(refreshed, 10)
        waiting.cancel()
        assert peer.connection.is_encrypted
        assert await client.read(SECRET) == b"secret"
        await client.disconnect()
