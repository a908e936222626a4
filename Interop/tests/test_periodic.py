"""Periodic advertising and connection subrating by foreign hosts, on Harald's controllers."""
from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from bumble import hci
from bumble.device import Connection, Device

from conftest import Start
from peers.extended import with_manufacturer_data
from peers.hosts import powered_device
from peers.periodic import Hub, Label, enable_responses, follow, happens, hears, set_data, start_hub, start_train
from peers.ports import HOST

Capture = Callable[[str], Path]
# The second one takes several commands, reports and PDUs.
SHORT, LONG = b"\x03\xff\xff\xff", with_manufacturer_data("Train", *[bytes([0xFF, 0xFF, *range(200)])] * 3)
CHANGED = b"\x04\xff\xff\xff\x01"
SUBRATING = 38  # the feature bit Connection Subrating (Host Support)


@asynccontextmanager
async def devices(harald: Start, capture: Capture, *names: str) -> AsyncIterator[list[Device]]:
    async with AsyncExitStack() as stack:
        process = await stack.enter_async_context(harald("controllers", "--listen", "0"))
        port = (await process.line(r"listening on .*?(\d+)\D*$"))[1]
        made = []
        for number, name in enumerate(names):
            address = f"F0:9E:16:4A:02:{number:02X}"
            opened = powered_device(f"tcp-client:{HOST}:{port}", name, address, capture(name))
            made.append(await stack.enter_async_context(opened))
        yield made


async def linked(central: Device, peripheral: Device) -> tuple[Connection, Connection]:
    theirs = asyncio.ensure_future(happens(peripheral, "connection"))
    await peripheral.start_advertising()
    ours = await central.connect(peripheral.random_address, timeout=10)
    for connection in (ours, await theirs):
        await connection.get_remote_le_features()
    return ours, await theirs


@pytest.mark.parametrize("data", [SHORT, LONG], ids=["short", "chained"])
async def test_a_train_is_followed_until_it_stops(harald: Start, capture: Capture, data: bytes) -> None:
    async with devices(harald, capture, "broadcaster", "observer") as (broadcaster, observer):
        train = await start_train(broadcaster, data)
        sync = await follow(observer, broadcaster.random_address)
        assert sync.periodic_advertising_interval == 50
        await hears(sync, data)
        await set_data(train, CHANGED)
        await hears(sync, CHANGED)
        lost = asyncio.ensure_future(happens(sync, sync.EVENT_LOSS))
        await train.stop_periodic()
        await lost


async def test_a_train_is_found_by_the_advertiser_list(harald: Start, capture: Capture) -> None:
    async with devices(harald, capture, "broadcaster", "observer") as (broadcaster, observer):
        await start_train(broadcaster, SHORT)
        await hears(await follow(observer, broadcaster.random_address, by_list=True), SHORT)


async def test_a_pending_synchronization_is_cancelled(harald: Start, capture: Capture) -> None:
    async with devices(harald, capture, "broadcaster", "observer") as (broadcaster, observer):
        sync = await observer.create_periodic_advertising_sync(broadcaster.random_address, 1)
        cancelled = asyncio.ensure_future(happens(observer.host, "periodic_advertising_sync_establishment"))
        await sync.terminate()
        assert await cancelled == hci.HCI_OPERATION_CANCELLED_BY_HOST_ERROR
        # Another one can begin at once.
        await start_train(broadcaster, SHORT)
        await hears(await follow(observer, broadcaster.random_address), SHORT)


async def test_reports_are_turned_off_and_on(harald: Start, capture: Capture) -> None:
    async with devices(harald, capture, "broadcaster", "observer") as (broadcaster, observer):
        await start_train(broadcaster, SHORT)
        sync = await follow(observer, broadcaster.random_address)
        await hears(sync, SHORT)
        enable = hci.HCI_LE_Set_Periodic_Advertising_Receive_Enable_Command
        await observer.send_sync_command(enable(sync.sync_handle, 0))
        heard: list[object] = []
        sync.on(sync.EVENT_PERIODIC_ADVERTISEMENT, heard.append)
        await asyncio.sleep(0.5)
        assert not heard
        await observer.send_sync_command(enable(sync.sync_handle, 1))
        await hears(sync, SHORT)
        await sync.terminate()


@pytest.mark.parametrize("by_advertiser", [True, False], ids=["by the advertiser", "by a listener"])
async def test_a_train_is_transferred_over_a_link(harald: Start, capture: Capture, by_advertiser: bool) -> None:
    async with devices(harald, capture, "broadcaster", "phone", "watch") as (broadcaster, phone, watch):
        train = await start_train(broadcaster, SHORT)
        teller = broadcaster if by_advertiser else phone
        telling, told = await linked(teller, watch)
        parameters = hci.HCI_LE_Set_Periodic_Advertising_Sync_Transfer_Parameters_Command
        await watch.send_sync_command(parameters(told.handle, 2, 0, 100, 0))
        received = asyncio.ensure_future(happens(watch, watch.EVENT_PERIODIC_ADVERTISING_SYNC_TRANSFER))
        if by_advertiser:
            await train.transfer_periodic_info(telling, 0x1234)
        else:
            await (await follow(phone, broadcaster.random_address)).transfer(telling, 0x1234)
        sync = await received
        assert sync.advertiser_address == broadcaster.random_address
        await hears(sync, SHORT)


@pytest.mark.parametrize("by_central", [True, False], ids=["by the central", "by the peripheral"])
async def test_a_link_is_subrated(harald: Start, capture: Capture, by_central: bool) -> None:
    async with devices(harald, capture, "central", "peripheral") as (central, peripheral):
        for device in (central, peripheral):
            await device.send_sync_command(hci.HCI_LE_Set_Host_Feature_Command(SUBRATING, 1))
            await device.send_sync_command(hci.HCI_LE_Set_Default_Subrate_Command(1, 20, 0, 0, 500))
        ends = await linked(central, peripheral)
        changes = [asyncio.ensure_future(happens(end.device.host, "le_subrate_change")) for end in ends]
        asking = ends[0] if by_central else ends[1]
        await asking.device.send_async_command(hci.HCI_LE_Subrate_Request_Command(asking.handle, 4, 4, 0, 0, 500))
        assert await asyncio.gather(*changes) == [end.handle for end in ends]
        assert [end.parameters.subrate_factor for end in ends] == [4, 4]


async def test_labels_respond_and_are_connected(harald: Start, capture: Capture) -> None:
    async with devices(harald, capture, "hub", "first", "second") as (broadcaster, *listeners):
        hub = await start_hub(broadcaster)
        labels = []
        for number, device in enumerate(listeners):
            await enable_responses(device)
            sync = await follow(device, broadcaster.random_address, timeout=5)
            labels.append(Label(sync, subevent=number, slot=number + 1, data=b"label %d" % number))
            await labels[-1].listen()
        for label in labels:
            await hub.response((label.subevent, label.slot, label.data))
            assert set(label.requests) == {Hub.request(label.subevent)}
        # A label does not advertise: it is connected from the subevent that it listens to. Bumble's device would wait for
        # the end of an advertising set.
        host = listeners[1].host
        theirs = asyncio.ensure_future(happens(host, "le_connection", lambda _, peer, *__: peer == broadcaster.random_address))
        ours = await hub.connect(1, listeners[1].random_address)
        assert ours.peer_address == listeners[1].random_address
        await theirs
