"""`harald serve thing.json`: accessories without code, explored by a foreign central."""
from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from bumble import att

from conftest import Start
from peers.central import central
from peers.controllers import Air, controllers
from peers.peripheral import NAME, peripheral

LAMP = "6C616D70-000{}-4861-7261-6C6420303031"
SWITCH, LIGHT = LAMP.format(2), LAMP.format(3)
THING = {
    "format": 1,
    "name": "Lamp",
    "advertising": {"services": [LAMP.format(1)], "interval": 0.1},
    "services": [
        {
            "uuid": LAMP.format(1),
            "characteristics": [
                {
                    "uuid": SWITCH,
                    "properties": ["write"],
                    "onWrite": [
                        {"if": {"equals": "01"}, "then": [{"set": LIGHT, "value": "01"}]},
                        {"fault": {"attError": 128}},
                    ],
                },
                {"uuid": LIGHT, "properties": ["read", "notify"], "value": "00", "notifyEvery": 0.2},
            ],
        },
        {
            "uuid": "Battery",
            "characteristics": [{"uuid": "Battery Level", "properties": ["read"], "value": {"uint8": 87}}],
        },
    ],
}


def uuid(text: str) -> object:
    from bumble.core import UUID

    return UUID(text)


async def test_an_accessory_file_is_explored_read_written_and_followed(harald: Start, tmp_path: Path) -> None:
    file = tmp_path / "lamp.json"
    file.write_text(json.dumps(THING))
    async with controllers() as air, harald("serve", "--controller", air.address, str(file)) as process:
        await process.line("(?i)advertising")
        async with central(air.transport) as client:
            await client.connect("Lamp")
            table = await client.table()
            assert table.characteristic(uuid(LIGHT)).properties == ["read", "notify"]
            assert table.characteristic(uuid(LIGHT)).value == b"\x00"
            assert table.characteristic(uuid("2A19")).value == bytes([87])
            await client.write(uuid(SWITCH), b"\x01")
            assert await client.read(uuid(LIGHT)) == b"\x01"
            assert await client.follow(uuid(LIGHT), 3) == [b"\x01"] * 3
            with pytest.raises(att.ATT_Error) as error:
                await client.write(uuid(SWITCH), b"\x02")
            assert error.value.error_code == 128
            await client.disconnect()
        assert await process.stop() == 0


async def test_a_ready_made_accessory_has_the_name_of_the_command_line(harald: Start) -> None:
    async with controllers() as air:
        async with harald("serve", "--controller", air.address, "--name", "Fever", "thermometer") as process:
            await process.line("(?i)advertising")
            async with central(air.transport) as client:
                await client.connect("Fever")
                table = await client.table()
                assert table.characteristic(uuid("2A1D")).value == b"\x06"
                await client.disconnect()
            assert await process.stop() == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "this is not JSON"),
        ('{"format": 1, "name": "X", "services": [{"uuid": "Hart Rate"}]}', "services[0].uuid: \"Hart Rate\" is no UUID"),
        ("[" * 100_000, "values are nested too deeply"),
    ],
    ids=["cut", "unknown name", "deep"],
)
async def test_an_invalid_file_is_refused_with_its_place(harald: Start, tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "thing.json"
    file.write_text(text)
    async with harald("serve", "--controller", "tcp:127.0.0.1:1", str(file)) as process:
        assert await process.status() == 1
    assert message in process.errors


async def test_an_advertised_service_that_is_missing_is_a_warning(harald: Start, tmp_path: Path) -> None:
    file = tmp_path / "thing.json"
    file.write_text('{"format": 1, "name": "X", "advertising": {"services": ["180D"]}}')
    async with harald("serve", "--controller", "tcp:127.0.0.1:1", str(file)) as process:
        assert await process.status() == 3
    assert 'warning: "X" advertises services that it does not have: Heart Rate (180D)' in process.errors


async def test_files_in_the_wrong_order_are_recognized(harald: Start, tmp_path: Path) -> None:
    thing, steps = tmp_path / "lamp.json", tmp_path / "steps.json"
    thing.write_text('{"format": 1, "name": "X"}')
    steps.write_text(json.dumps(STEPS))
    async with harald("test", str(steps), str(thing)) as process:
        assert await process.status() == 1
    assert "the file of an accessory; the file of steps comes last" in process.errors


async def test_the_ready_made_accessories_are_listed_and_printed(harald: Start) -> None:
    async with harald("serve", "--list") as process:
        assert await process.status() == 0
    names = [line.split()[0] for line in process.out]
    assert {"heart-rate", "lock", "faulty"} <= set(names)
    for name in names:
        async with harald("serve", "--print", name) as process:
            assert await process.status() == 0
        assert json.loads(process.output)["format"] == 1


async def record(harald: Start, air: Air, name: str, seconds: int) -> dict:
    async with harald("record", "--controller", air.address, "--seconds", str(seconds), name) as process:
        assert await process.status() == 0
    return json.loads(process.output)


def table(thing: dict) -> list:
    """The attribute table of a file, without values over time."""
    return [
        (service["uuid"], [(each["uuid"], each["properties"], each.get("value")) for each in service["characteristics"]])
        for service in thing["services"]
    ]


async def test_a_recording_that_is_served_has_the_same_table(harald: Start, tmp_path: Path) -> None:
    original, copy = tmp_path / "lamp.json", tmp_path / "copy.json"
    original.write_text(json.dumps(THING))
    async with controllers() as air, harald("serve", "--controller", air.address, str(original)) as process:
        await process.line("(?i)advertising")
        recorded = await record(harald, air, "Lamp", 2)
        assert await process.stop() == 0
    assert [each["uuid"] for each in recorded["services"]] == [LAMP.format(1), "180F"]
    light = recorded["services"][0]["characteristics"][1]
    assert light["value"] == "00" and light["repeat"] and len(light["changes"]) >= 3
    assert all(0.05 <= each["after"] <= 1 for each in light["changes"][1:])
    copy.write_text(json.dumps(recorded))
    async with controllers() as air, harald("serve", "--controller", air.address, str(copy)) as process:
        await process.line("(?i)advertising")
        assert table(await record(harald, air, "Lamp", 0)) == table(recorded)
        assert await process.stop() == 0


async def test_a_recording_has_no_value_that_needs_pairing(harald: Start) -> None:
    async with controllers() as air, harald("serve", "--controller", air.address, "lock") as process:
        await process.line("(?i)advertising")
        recorded = await record(harald, air, "Lock", 0)
        assert await process.stop() == 0
    challenge, _, state = recorded["services"][0]["characteristics"]
    assert "value" not in challenge and challenge["permission"]["read"] == "encrypted"
    assert state["value"] == "00"


async def test_an_accessory_has_the_faults_of_the_command_line(harald: Start) -> None:
    faults = ["--fault", "mtu-refused", "--fault", "out-of-range@4-6"]
    async with controllers() as air, harald("serve", "--controller", air.address, *faults, "heart-rate") as process:
        await process.line("(?i)advertising")
        async with central(air.transport) as client:
            peer = await client.connect("Heart Rate", mtu=23)
            with pytest.raises(att.ATT_Error) as error:
                await peer.request_mtu(247)
            assert error.value.error_code == att.ErrorCode.REQUEST_NOT_SUPPORTED
            await client.discover()
            assert await client.read(uuid("2A38")) == b"\x01"
            await process.line("out-of-range begins")
            await process.line("out-of-range ends")
            await process.line("(?i)advertising")
        assert await process.stop() == 0


async def test_a_fault_that_needs_a_world_is_refused(harald: Start) -> None:
    for fault, status, message in [("lossy", 1, "needs a simulated world"), ("lossi", 64, "there is no fault")]:
        async with harald("serve", "--controller", "tcp:127.0.0.1:1", "--fault", fault, "heart-rate") as process:
            assert await process.status() == status
        assert message in process.errors


STEPS = {
    "format": 1,
    "name": "Lamp",
    "device": "Lamp",
    "steps": [
        {"connect": True},
        {"services": [LAMP.format(1), "Battery"]},
        {"write": SWITCH, "value": "01"},
        {"read": LIGHT, "expect": {"equals": "01"}},
        {"subscribe": LIGHT},
        {"notification": LIGHT, "expect": {"equals": "01"}},
        {"unsubscribe": LIGHT},
        {"write": SWITCH, "value": "02", "expect": {"attError": 128}},
        {"read": "Battery Level", "expect": {"equals": {"uint8": 86}}},
        {"disconnect": True},
    ],
}


async def test_steps_test_a_device_in_range_and_report_as_junit_does(harald: Start, tmp_path: Path) -> None:
    thing, steps, results = (tmp_path / name for name in ("lamp.json", "steps.json", "results.xml"))
    thing.write_text(json.dumps(THING))
    steps.write_text(json.dumps(STEPS))
    async with controllers() as air, harald("serve", "--controller", air.address, str(thing)) as served:
        await served.line("(?i)advertising")
        options = ["--controller", air.address, "--junit", str(results), "--json"]
        async with harald("test", *options, str(steps)) as process:
            assert await process.status() == 1
        assert await served.stop() == 0
    assert "step 9 of 10 failed: read Battery Level: expected the value 56; the device sent 57" in process.errors
    shown = [json.loads(line) for line in process.out]
    assert [each["status"] for each in shown if each["event"] == "step"] == ["passed"] * 8 + ["failed", "skipped"]
    suite = ElementTree.parse(results).getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("10", "1", "1")
    assert len(suite.findall("testcase")) == 10


async def test_steps_test_an_accessory_file_without_a_controller(harald: Start, tmp_path: Path) -> None:
    thing, steps = tmp_path / "lamp.json", tmp_path / "steps.json"
    thing.write_text(json.dumps(THING))
    right = [step for step in STEPS["steps"] if step.get("read") != "Battery Level"]
    steps.write_text(json.dumps({"format": 1, "steps": [*right[:-1], {"wait": 900}, right[-1]]}))
    async with harald("test", str(thing), str(steps)) as process:
        assert await process.status() == 0
    assert process.out[-1] == "10 passed, 0 failed, 0 skipped"


async def seen_by_harald(harald: Start, air: Air, name: str) -> list:
    options = ["--json", "--answer", "no", "--notifications", "0"]
    async with harald("explore", "--controller", air.address, *options, name) as process:
        assert await process.status() == 0
    found = next(each for each in map(json.loads, process.out) if each["event"] == "table")
    return [
        (
            service["uuid"],
            [(each["uuid"], each["handle"], each.get("value", "").lower()) for each in service["characteristics"]],
        )
        for service in found["services"]
    ]


async def seen_by_bumble(air: Air, name: str) -> list:
    async with central(air.transport) as client:
        await client.connect(name)
        found = await client.table()
        await client.disconnect()
    return [
        (service.uuid, [(each.uuid, each.handle, (each.value or b"").hex()) for each in service.characteristics])
        for service in found
        # The services of the system itself.
        if service.uuid not in ("1800", "1801")
    ]


@pytest.mark.parametrize(
    ("accessory", "name"),
    [
        ("heart-rate", "Heart Rate"),
        ("thermometer", "Thermometer"),
        ("battery", "Battery"),
        ("glucose", "Glucose"),
        ("firmware-target", "Target"),
        ("uart", "UART"),
        ("weight-scale", "Scale"),
        ("lock", "Lock"),
        ("keyboard", "Keyboard"),
    ],
)
async def test_bumble_and_harald_see_a_ready_made_accessory_alike(harald: Start, accessory: str, name: str) -> None:
    async with controllers() as air, harald("serve", "--controller", air.address, accessory) as process:
        await process.line("(?i)advertising")
        bumble = await seen_by_bumble(air, name)
        own = await seen_by_harald(harald, air, name)
        assert [service for service in own if service[0] not in ("1800", "1801")] == bumble
        assert bumble
        assert await process.stop() == 0


def without_handles(table: list) -> list:
    """A table as lists of UUIDs and values: handles depend on the services of the system itself."""
    return [(uuid, [(each, value) for each, _, value in values]) for uuid, values in table]


@pytest.mark.parametrize(
    ("options", "seconds"),
    [({}, 3), ({"mtu": 23}, 0), ({"name_in_scan_response": True}, 0)],
    ids=["sensor", "smallest-mtu", "name-in-scan-response"],
)
async def test_a_recording_of_bumbles_peripheral_is_seen_as_the_original_is(
    harald: Start, tmp_path: Path, options: dict, seconds: int
) -> None:
    file = tmp_path / "copy.json"
    async with controllers() as air, peripheral(air.transport, **options):
        original = await seen_by_bumble(air, NAME)
        recorded = await record(harald, air, NAME, seconds)
    file.write_text(json.dumps(recorded))
    async with controllers() as air, harald("serve", "--controller", air.address, "--name", "Copy", str(file)) as process:
        await process.line("(?i)advertising")
        copy = await seen_by_bumble(air, "Copy")
        assert await process.stop() == 0
    assert without_handles(copy) == without_handles(original)
    assert len(copy) == 4
