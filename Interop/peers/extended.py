"""Extended advertising on Bumble's host. Bumble's own functions are limited to the data of one command and of one
report: longer data is sent in fragments here, and reassembled from its reports."""
from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from bumble import hci
from bumble.core import AdvertisingData
from bumble.device import AdvertisingEventProperties, AdvertisingParameters, Device

from peers.hosts import tell

SetData = hci.HCI_LE_Set_Extended_Advertising_Data_Command
SetScanResponse = hci.HCI_LE_Set_Extended_Scan_Response_Data_Command
EventType = hci.HCI_LE_Extended_Advertising_Report_Event.EventType
FRAGMENT = 251
COMPLETE, MORE, TRUNCATED = 0, 1, 2  # bits 5 and 6 of an event type


def with_manufacturer_data(name: str, *chunks: bytes) -> bytes:
    """The advertising data that `harald advertise` builds from the same arguments."""
    structures = [(AdvertisingData.COMPLETE_LOCAL_NAME, name.encode())]
    structures += [(AdvertisingData.MANUFACTURER_SPECIFIC_DATA, chunk) for chunk in chunks]
    return bytes(AdvertisingData(structures))


async def advertise_extended(
    device: Device, data: bytes, *, connectable: bool = False, scannable: bool = False, phy: hci.Phy = hci.Phy.LE_1M
) -> None:
    """Starts advertising; if scannable, the data is the scan response."""
    properties = AdvertisingEventProperties(is_connectable=connectable, is_scannable=scannable, is_legacy=False)
    parameters = AdvertisingParameters(
        advertising_event_properties=properties,
        primary_advertising_interval_min=50,
        primary_advertising_interval_max=50,
        secondary_advertising_phy=phy,
        advertising_sid=3,
    )
    advertising_set = await device.create_advertising_set(
        parameters, random_address=device.random_address, auto_start=False, auto_restart=True
    )
    parts = [data[start : start + FRAGMENT] for start in range(0, len(data), FRAGMENT)]
    for index, part in enumerate(parts):
        await device.send_sync_command(fragment(advertising_set.advertising_handle, index, parts, part, scannable))
    await advertising_set.start()
    tell(device.name, "advertising", octets=len(data), fragments=len(parts))


def fragment(handle: int, index: int, parts: list[bytes], part: bytes, is_response: bool) -> hci.HCI_Command:
    operation = SetData.Operation
    if len(parts) == 1:
        which = operation.COMPLETE_DATA
    elif index == 0:
        which = operation.FIRST_FRAGMENT
    else:
        which = operation.LAST_FRAGMENT if index == len(parts) - 1 else operation.INTERMEDIATE_FRAGMENT
    fields = {"advertising_handle": handle, "operation": which, "fragment_preference": 0}
    if is_response:
        return SetScanResponse(**fields, scan_response_data=part)
    return SetData(**fields, advertising_data=part)


@dataclass(frozen=True)
class Heard:
    """A complete advertisement, reassembled from its reports."""

    address: str
    event_type: int
    primary_phy: int
    secondary_phy: int
    sid: int
    data: bytes

    @property
    def is_legacy(self) -> bool:
        return bool(self.event_type & EventType.LEGACY_ADVERTISING_PDU_USED)

    @property
    def is_connectable(self) -> bool:
        return bool(self.event_type & EventType.CONNECTABLE_ADVERTISING)

    @property
    def is_scan_response(self) -> bool:
        return bool(self.event_type & EventType.SCAN_RESPONSE)

    @property
    def is_truncated(self) -> bool:
        return self.event_type >> 5 & 3 == TRUNCATED


class Scan:
    def __init__(self) -> None:
        self.heard: list[Heard] = []
        self._parts: dict[tuple, bytes] = {}
        self._changed = asyncio.Event()

    def take(self, report: hci.HCI_LE_Extended_Advertising_Report_Event.Report) -> None:
        status = report.event_type >> 5 & 3
        key = (str(report.address), report.advertising_sid, report.event_type & 0x1F)
        data = self._parts.pop(key, b"") + report.data
        if status == MORE:
            self._parts[key] = data
            return
        self.heard.append(
            Heard(
                str(report.address), report.event_type, int(report.primary_phy), int(report.secondary_phy),
                report.advertising_sid, data,
            )
        )  # fmt: skip
        self._changed.set()

    async def data(self, data: bytes, timeout: float = 10) -> Heard:
        """Waits until exactly this data has been received."""
        async with asyncio.timeout(timeout):
            while not (found := [each for each in self.heard if each.data == data]):
                self._changed.clear()
                await self._changed.wait()
        return found[0]


@asynccontextmanager
async def extended_scan(device: Device, active: bool = True) -> AsyncIterator[Scan]:
    scan = Scan()
    device.host.on("advertising_report", scan.take)
    await device.start_scanning(legacy=False, active=active, filter_duplicates=False)
    try:
        yield scan
    finally:
        await device.stop_scanning()
        device.host.remove_listener("advertising_report", scan.take)
