"""How a Bumble host pairs: the capabilities of its user, out-of-band data, and the storage of its keys."""
from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bumble.device import Connection, Device
from bumble.hci import Role
from bumble.keys import JsonKeyStore, PairingKeys
from bumble.pairing import PairingConfig, PairingDelegate
from bumble.smp import OobContext, OobLegacyContext, OobSharedData

NOTHING = PairingDelegate.IoCapability.NO_OUTPUT_NO_INPUT
KEYBOARD = PairingDelegate.IoCapability.KEYBOARD_INPUT_ONLY
DISPLAY = PairingDelegate.IoCapability.DISPLAY_OUTPUT_ONLY
DISPLAY_YES_NO = PairingDelegate.IoCapability.DISPLAY_OUTPUT_AND_YES_NO_INPUT


class Person(PairingDelegate):
    """The user of the Bumble host. Records all prompts; the test supplies the input."""

    def __init__(self, capability: PairingDelegate.IoCapability, agrees: bool) -> None:
        super().__init__(capability)
        self.agrees = agrees
        self.shown: asyncio.Queue[int] = asyncio.Queue()  # codes, and numbers to compare
        self.code: asyncio.Queue[int] = asyncio.Queue()  # to be entered

    async def confirm(self, auto: bool = False) -> bool:
        return self.agrees

    async def compare_numbers(self, number: int, digits: int) -> bool:
        self.shown.put_nowait(number)
        return self.agrees

    async def get_number(self) -> int | None:
        return await self.code.get()

    async def display_number(self, number: int, digits: int) -> None:
        self.shown.put_nowait(number)


class Keys(JsonKeyStore):
    """Keys in a file. After legacy pairing as responder, Bumble mistakes its own key for the peer's, and would not
    find the right one when asked for it."""

    is_responder = False

    async def update(self, name: str, keys: PairingKeys) -> None:
        if self.is_responder:
            keys.ltk_central, keys.ltk_peripheral = keys.ltk_peripheral, keys.ltk_central
        await super().update(name, keys)


@dataclass
class Pairing:
    capability: PairingDelegate.IoCapability = NOTHING
    legacy: bool = False
    agrees: bool = True
    keys: Path | None = None  # the file that outlasts the host
    # Out-of-band data: received from the other side, and generated here.
    context: OobContext | None = None
    peer_data: OobSharedData | None = None
    temporary_key: bytes | None = None
    person: Person = field(init=False)
    paired: asyncio.Queue[PairingKeys] = field(init=False)
    failed: asyncio.Queue[int] = field(init=False)

    def __post_init__(self) -> None:
        self.person = Person(self.capability, self.agrees)
        self.paired, self.failed = asyncio.Queue(), asyncio.Queue()

    def prepare(self, device: Device) -> None:
        if self.keys:
            device.keystore = Keys("test", str(self.keys))
        device.pairing_config_factory = self.configuration
        device.on("connection", self._watch)

    def configuration(self, _: Any) -> PairingConfig:
        out_of_band = None
        if self.context or self.temporary_key:
            key = OobLegacyContext(self.temporary_key) if self.temporary_key else None
            out_of_band = PairingConfig.OobConfig(self.context, self.peer_data, key)
        return PairingConfig(
            sc=not self.legacy,
            mitm=True,
            bonding=True,
            delegate=self.person,
            # The address used on the air; otherwise it would be the controller's own.
            identity_address_type=PairingConfig.AddressType.RANDOM,
            oob=out_of_band,
        )

    def _watch(self, connection: Connection) -> None:
        if isinstance(connection.device.keystore, Keys):
            connection.device.keystore.is_responder = connection.role == Role.PERIPHERAL
        connection.on(connection.EVENT_PAIRING, self.paired.put_nowait)
        connection.on(connection.EVENT_PAIRING_FAILURE, lambda reason: self.failed.put_nowait(int(reason)))


def shared_digits(data: OobSharedData) -> str:
    """In the format of `harald explore --oob`: most significant octet first."""
    return data.c[::-1].hex() + data.r[::-1].hex()


def shared_data(digits: str) -> OobSharedData:
    """Parses the output of `harald explore --share-oob`."""
    octets = bytes.fromhex(digits)
    return OobSharedData(c=octets[:16][::-1], r=octets[16:][::-1])
