"""Periodic advertising on Bumble's host. Bumble has neither the commands nor the events of trains with responses, nor the
periodic advertiser list, which are declared here in its own way."""
from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from dataclasses import field
from typing import Any

from bumble import hci
from bumble.device import (
    AdvertisingEventProperties, AdvertisingParameters, AdvertisingSet, Connection, Device, PeriodicAdvertisingParameters,
    PeriodicAdvertisingSync,
)  # fmt: skip

from peers.hosts import tell

SID = 5
INTERVAL = 50.0  # milliseconds
CHUNK = 251
TIMEOUT = 10.0

Operation = hci.HCI_LE_Set_Extended_Advertising_Data_Command.Operation
SetData = hci.HCI_LE_Set_Periodic_Advertising_Data_Command


# --- commands and events (Core Vol 4 Part E 7.7.65.36, 7.7.65.37, 7.8.61, 7.8.66, 7.8.70, 7.8.125 to 7.8.127)

status_command = hci.HCI_SyncCommand.sync_command(hci.HCI_GenericReturnParameters)
Command = hci.HCI_SyncCommand[hci.HCI_GenericReturnParameters]


def octets(count: int) -> Any:
    return field(metadata=hci.metadata(count))


@status_command
@dataclasses.dataclass
class HCI_LE_Add_Device_To_Periodic_Advertiser_List_Command(Command):
    advertiser_address_type: int = octets(1)
    advertiser_address: bytes = octets(6)
    advertising_sid: int = octets(1)


@status_command
@dataclasses.dataclass
class HCI_LE_Set_Periodic_Advertising_Parameters_V2_Command(Command):
    advertising_handle: int = octets(1)
    interval_min: int = octets(2)
    interval_max: int = octets(2)
    properties: int = octets(2)
    num_subevents: int = octets(1)
    subevent_interval: int = octets(1)
    response_slot_delay: int = octets(1)
    response_slot_spacing: int = octets(1)
    num_response_slots: int = octets(1)


@status_command
@dataclasses.dataclass
class HCI_LE_Set_Periodic_Advertising_Subevent_Data_Command(Command):
    advertising_handle: int = octets(1)
    num_subevents: int = octets(1)
    subevent: int = octets(1)
    response_slot_start: int = octets(1)
    response_slot_count: int = octets(1)
    subevent_data: bytes = field(metadata=hci.metadata("v"))


@status_command
@dataclasses.dataclass
class HCI_LE_Set_Periodic_Advertising_Response_Data_Command(Command):
    sync_handle: int = octets(2)
    request_event: int = octets(2)
    request_subevent: int = octets(1)
    response_subevent: int = octets(1)
    response_slot: int = octets(1)
    response_data: bytes = field(metadata=hci.metadata("v"))


@status_command
@dataclasses.dataclass
class HCI_LE_Set_Periodic_Sync_Subevent_Command(Command):
    sync_handle: int = octets(2)
    properties: int = octets(2)
    subevents: bytes = field(metadata=hci.metadata("v"))


@hci.HCI_Command.command
@dataclasses.dataclass
class HCI_LE_Extended_Create_Connection_V2_Command(hci.HCI_AsyncCommand):
    advertising_handle: int = octets(1)
    subevent: int = octets(1)
    version_1: bytes = field(metadata=hci.metadata("*"))


@hci.HCI_LE_Meta_Event.event
@dataclasses.dataclass
class HCI_LE_Periodic_Advertising_Subevent_Data_Request_Event(hci.HCI_LE_Meta_Event):
    advertising_handle: int = octets(1)
    subevent_start: int = octets(1)
    subevent_data_count: int = octets(1)


@hci.HCI_LE_Meta_Event.event
@dataclasses.dataclass
class HCI_LE_Periodic_Advertising_Response_Report_Event(hci.HCI_LE_Meta_Event):
    advertising_handle: int = octets(1)
    subevent: int = octets(1)
    tx_status: int = octets(1)
    num_responses: int = octets(1)
    responses: bytes = field(metadata=hci.metadata("*"))

    @property
    def complete(self) -> dict[int, bytes]:
        """The complete responses by slot."""
        found, rest = {}, self.responses
        while rest:  # power, RSSI, tone, slot, status, length, data
            slot, status, length = rest[3:6]
            if status == 0:
                found[slot] = rest[6 : 6 + length]
            rest = rest[6 + length :]
        return found


# --- trains


async def create_set(device: Device, parameters: PeriodicAdvertisingParameters | None) -> AdvertisingSet:
    properties = AdvertisingEventProperties(is_connectable=False, is_scannable=False, is_legacy=False)
    return await device.create_advertising_set(
        AdvertisingParameters(
            advertising_event_properties=properties,
            primary_advertising_interval_min=INTERVAL,
            primary_advertising_interval_max=INTERVAL,
            advertising_sid=SID,
        ),
        random_address=device.random_address,
        periodic_advertising_parameters=parameters,
        auto_start=False,
    )


async def start_train(device: Device, data: bytes) -> AdvertisingSet:
    """Starts a train. Bumble's own function is limited to the data of one command."""
    train = await create_set(device, PeriodicAdvertisingParameters(INTERVAL, INTERVAL))
    await set_data(train, data)
    await train.start_periodic()
    await train.start()
    tell(device.name, "train", octets=len(data))
    return train


async def set_data(train: AdvertisingSet, data: bytes) -> None:
    parts = [data[start : start + CHUNK] for start in range(0, len(data), CHUNK)]
    for index, part in enumerate(parts):
        if len(parts) == 1:
            operation = Operation.COMPLETE_DATA
        elif index == 0:
            operation = Operation.FIRST_FRAGMENT
        else:
            operation = Operation.LAST_FRAGMENT if index == len(parts) - 1 else Operation.INTERMEDIATE_FRAGMENT
        await train.device.send_sync_command(SetData(train.advertising_handle, operation, part))


async def follow(
    device: Device, advertiser: hci.Address, timeout: float = 1.0, by_list: bool = False
) -> PeriodicAdvertisingSync:
    """Scans until the device is synchronized to the train of this advertiser."""
    if by_list:
        sync = await create_sync_by_list(device, advertiser, timeout)
    else:
        sync = await device.create_periodic_advertising_sync(advertiser, SID, sync_timeout=timeout)
    established = asyncio.ensure_future(happens(sync, sync.EVENT_ESTABLISHMENT))
    await device.start_scanning(legacy=False)
    await established
    await device.stop_scanning()
    return sync


async def create_sync_by_list(device: Device, advertiser: hci.Address, timeout: float) -> PeriodicAdvertisingSync:
    """Lets the controller choose from its periodic advertiser list, which Bumble does not use."""
    sync = PeriodicAdvertisingSync(device, advertiser, SID, 0, timeout, False)
    sync.state = sync.State.PENDING
    device.periodic_advertising_syncs.append(sync)
    kind = int(advertiser.address_type)
    await device.send_sync_command(
        HCI_LE_Add_Device_To_Periodic_Advertiser_List_Command(kind, bytes(advertiser), SID)
    )
    create = hci.HCI_LE_Periodic_Advertising_Create_Sync_Command
    anyone = hci.Address.ANY_RANDOM
    await device.send_async_command(
        create(create.Options.USE_PERIODIC_ADVERTISER_LIST, 0, 0, anyone, 0, int(timeout * 100), 0)
    )
    return sync


async def happens(emitter: Any, event: str, condition: Callable[..., bool] = lambda *_: True) -> Any:
    """Waits for an event whose arguments meet the condition, and returns the first argument."""
    done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def receive(*arguments: Any) -> None:
        if not done.done() and condition(*arguments):
            done.set_result(arguments[0] if arguments else None)

    emitter.on(event, receive)
    try:
        return await asyncio.wait_for(done, TIMEOUT)
    finally:
        emitter.remove_listener(event, receive)


async def hears(sync: PeriodicAdvertisingSync, data: bytes) -> None:
    await happens(sync, sync.EVENT_PERIODIC_ADVERTISEMENT, lambda heard: heard.data_bytes == data)


# --- trains with responses

SUBEVENTS, SLOTS = 2, 4


class Hub:
    """The advertiser of a train with responses. Each subevent asks for a response in one of its slots."""

    def __init__(self, device: Device, handle: int) -> None:
        self.device, self.handle = device, handle
        self.responses: list[tuple[int, int, bytes]] = []  # subevent, slot, data
        self.answered = asyncio.Event()
        device.host.on_hci_le_periodic_advertising_subevent_data_request_event = self.asked
        device.host.on_hci_le_periodic_advertising_response_report_event = self.received

    @staticmethod
    def request(subevent: int) -> bytes:
        return b"request %d" % subevent

    def asked(self, event: HCI_LE_Periodic_Advertising_Subevent_Data_Request_Event) -> None:
        for index in range(event.subevent_data_count):
            subevent = (event.subevent_start + index) % SUBEVENTS
            command = HCI_LE_Set_Periodic_Advertising_Subevent_Data_Command(
                self.handle, 1, subevent, 0, SLOTS, self.request(subevent)
            )
            task = asyncio.ensure_future(self.device.send_sync_command(command))
            # Data that comes too late for its subevent is refused.
            task.add_done_callback(lambda done: done.exception())

    def received(self, event: HCI_LE_Periodic_Advertising_Response_Report_Event) -> None:
        self.responses += [(event.subevent, slot, data) for slot, data in event.complete.items()]
        self.answered.set()

    async def response(self, expected: tuple[int, int, bytes]) -> None:
        async with asyncio.timeout(TIMEOUT):
            while expected not in self.responses:
                self.answered.clear()
                await self.answered.wait()

    async def connect(self, subevent: int, peer: hci.Address) -> Connection:
        version_1 = hci.HCI_LE_Extended_Create_Connection_Command(
            0, hci.OwnAddressType.RANDOM, peer.address_type, peer, 1, [0], [0], [24], [24], [0], [500], [0], [0]
        ).parameters
        connected = asyncio.ensure_future(happens(self.device, "connection"))
        # Bumble expects only connections that it has requested itself, from this kind of address.
        self.device.connect_own_address_type = hci.OwnAddressType.RANDOM
        await self.device.send_async_command(
            HCI_LE_Extended_Create_Connection_V2_Command(self.handle, subevent, version_1)
        )
        return await connected


async def enable_responses(device: Device) -> None:
    """Adds the events of trains with responses to Bumble's event mask."""
    host = device.host
    names = ["REPORT_V2", "SYNC_TRANSFER_RECEIVED_V2", "SUBEVENT_DATA_REQUEST", "RESPONSE_REPORT"]
    events = [getattr(hci, f"HCI_LE_PERIODIC_ADVERTISING_{name}_EVENT") for name in names]
    events += [code for name, code in vars(hci).items() if name in USED]
    await host.send_sync_command(hci.HCI_LE_Set_Event_Mask_Command(hci.HCI_LE_Set_Event_Mask_Command.mask(events)))


USED = {
    f"HCI_LE_{name}_EVENT"
    for name in [
        "ENHANCED_CONNECTION_COMPLETE", "EXTENDED_ADVERTISING_REPORT", "PERIODIC_ADVERTISING_SYNC_ESTABLISHED_V2",
        "PERIODIC_ADVERTISING_SYNC_LOST", "READ_REMOTE_FEATURES_COMPLETE", "CONNECTION_UPDATE_COMPLETE",
    ]
}  # fmt: skip


async def start_hub(device: Device) -> Hub:
    await enable_responses(device)
    train = await create_set(device, None)
    hub = Hub(device, train.advertising_handle)
    # A train of 640 ms, subevents every 250 ms, and slots of 5 ms. A busy machine gets 200 ms for the response.
    await device.send_sync_command(
        HCI_LE_Set_Periodic_Advertising_Parameters_V2_Command(
            train.advertising_handle, 512, 512, 0, SUBEVENTS, 200, 160, 40, SLOTS
        )
    )
    await train.start_periodic()
    await train.start()
    return hub


class Label:
    """A device that listens to one subevent of a train, and responds in a slot of it."""

    def __init__(self, sync: PeriodicAdvertisingSync, subevent: int, slot: int, data: bytes) -> None:
        self.sync, self.subevent, self.slot, self.data = sync, subevent, slot, data
        self.requests: list[bytes] = []
        sync.device.host.on_hci_le_periodic_advertising_report_v2_event = self.report

    async def listen(self) -> None:
        await self.sync.device.send_sync_command(
            HCI_LE_Set_Periodic_Sync_Subevent_Command(self.sync.sync_handle, 0, bytes([self.subevent]))
        )

    def report(self, event: hci.HCI_LE_Periodic_Advertising_Report_V2_Event) -> None:
        if event.data_status or event.subevent != self.subevent:
            return
        self.requests.append(event.data)
        command = HCI_LE_Set_Periodic_Advertising_Response_Data_Command(
            event.sync_handle, event.periodic_event_counter, event.subevent, event.subevent, self.slot, self.data
        )
        task = asyncio.ensure_future(self.sync.device.send_sync_command(command))
        # A response that comes too late for its slot is refused.
        task.add_done_callback(lambda done: done.exception())
