"""Enhanced ATT bearers: Harald's sensor with a foreign client that uses several of them, and the reverse."""
from __future__ import annotations

import asyncio
import re
import signal
from pathlib import Path

import pytest
from bumble import att
from bumble.core import ProtocolError
from bumble.gatt import GATT_CLIENT_SUPPORTED_FEATURES_CHARACTERISTIC, GATT_SERVER_SUPPORTED_FEATURES_CHARACTERISTIC
from bumble.gatt_client import Client
from bumble.l2cap import LeCreditBasedChannelSpec

from conftest import Start
from peers.central import Central, central
from peers.database import BODY_SENSOR_LOCATION, HEART_RATE_MEASUREMENT
from peers.pairing import Pairing
from peers.peripheral import peripheral
from test_pairing import AIRS, EMAIL, EMAIL_VALUE, SERVED, air, exploring

BEARERS = 3
SPEC = LeCreditBasedChannelSpec(psm=att.EATT_PSM, mtu=517, mps=247, max_credits=16)


async def bearers(client: Central, count: int = BEARERS) -> list[Client]:
    return await client.answer(Client.connect_eatt(client.peer.connection, SPEC, count))


async def read(bearer: Client, handle: int) -> bytes:
    return bytes(await asyncio.wait_for(bearer.read_value(handle), 10))


@pytest.mark.parametrize("air_name", AIRS)
async def test_a_foreign_client_uses_several_bearers(harald: Start, tmp_path: Path, air_name: str) -> None:
    """Both ends announce support; without encryption there are none; then all are used at once, and values arrive
    meanwhile."""
    async with air(air_name, harald) as (controller, transport):
        command = ("serve", "--controller", controller, "--answer", "yes", "--io-capability", "none")
        async with harald(*command, "--store", str(tmp_path / "bonds")) as process:
            await process.line("(?i)advertising")
            async with central(transport, pairing=Pairing()) as client:
                peer = await client.connect(SERVED)
                await client.discover()
                assert (await client.read(GATT_SERVER_SUPPORTED_FEATURES_CHARACTERISTIC))[0] & 1
                await client.write(GATT_CLIENT_SUPPORTED_FEATURES_CHARACTERISTIC, b"\x02")
                with pytest.raises(ProtocolError):
                    await bearers(client)
                await peer.connection.pair()
                opened = await bearers(client)
                assert len(opened) == BEARERS
                beats = await client.subscribe(HEART_RATE_MEASUREMENT)
                email, location = (client.characteristic(each).handle for each in (EMAIL, BODY_SENSOR_LOCATION))
                for _ in range(10):
                    asked = [read(bearer, email) for bearer in opened] + [client.read(BODY_SENSOR_LOCATION)]
                    *emails, place = await asyncio.gather(*asked)
                    assert emails == [EMAIL_VALUE] * BEARERS and len(place) == 1
                    assert [await read(bearer, location) for bearer in opened] == [place] * BEARERS
                assert await asyncio.wait_for(beats.get(), 10)
                # Discovery on one of them finds the same as on the first.
                services = await opened[0].discover_services()
                assert [each.uuid for each in services] == [each.uuid for each in peer.services]
                await opened[1].bearer.disconnect()
                assert await read(opened[2], email) == EMAIL_VALUE
                await client.disconnect()
            assert await process.stop(signal.SIGTERM) == 0


@pytest.mark.parametrize("air_name", AIRS)
@pytest.mark.parametrize("enabled", [True, False])
async def test_our_client_uses_several_bearers(harald: Start, tmp_path: Path, air_name: str, enabled: bool) -> None:
    """Only with a foreign server that announces them; all values equal those read on one bearer."""
    asked: dict[int, int] = {}

    def note(bearer: att.Bearer, pdu: att.ATT_PDU) -> None:
        if att.is_enhanced_bearer(bearer):
            asked[bearer.source_cid] = asked.get(bearer.source_cid, 0) + 1

    async with air(air_name, harald) as (controller, transport):
        command = exploring(controller, tmp_path / "bonds", "--answer", "yes", "--io-capability", "none", "--enhanced")
        settings = {"eatt_enabled": enabled}
        async with peripheral(transport, pairing=Pairing(), settings=settings, on_request=note) as sensor:
            async with harald(*command) as process:
                assert await process.status() == 0
    if not enabled:
        assert "the peer does not support enhanced bearers" in process.output
        assert not asked
        return
    again = re.search(r"read again over (\d+) bearers at once: (\d+) of (\d+) values are the same", process.output)
    assert again and int(again[1]) == BEARERS + 1
    assert int(again[2]) == int(again[3]) > BEARERS
    assert len(asked) == BEARERS and min(asked.values()) > 0
    assert sensor.seen("connection")
