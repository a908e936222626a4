"""The verbs of the tool that use devices, through `harald service` and with a controller of their own."""
from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path

import pytest

from conftest import Start
from peers.controllers import controllers
from peers.database import (
    BATTERY_LEVEL, BODY_SENSOR_LOCATION, HEART_RATE, HEART_RATE_MEASUREMENT, NOTE, SECRET, VALUES, WORKSHOP,
    text,
)  # fmt: skip
from peers.pairing import NOTHING, Pairing
from peers.peripheral import ADDRESS, NAME, peripheral
from peers.processes import Process
from test_service import service
from test_service_tools import read_end_closed

CONTROLLER, NOT_FOUND, NOT_SECURED, USAGE, INTERRUPTED = 4, 5, 7, 64, 130


def documents(process: Process) -> list[dict]:
    """The documents that a command prints with --json. Each has the version of the schema."""
    found = [json.loads(line) for line in process.out]
    assert {each["schema"] for each in found} <= {1}
    return found


def of(event: str, process: Process) -> list[dict]:
    return [each for each in documents(process) if each["event"] == event]


@pytest.fixture
def place(tmp_path: Path) -> str:
    return str(tmp_path / "service")


async def test_scans_through_the_service(harald: Start, tmp_path: Path, place: str) -> None:
    """The service has the controller; the scan is that of an app, with services in words."""
    async with controllers() as air, peripheral(air.transport), service(harald, air.address, tmp_path):
        async with harald("scan", "--service", place, "--until", NAME.lower()) as scan:
            assert await scan.status() == 0
        line = next(line for line in scan.out if f'"{NAME}"' in line)
        assert "180D Heart Rate" in line and "connectable" in line and ADDRESS not in line
        command = ("scan", "--service", place, "--until", NAME, "--json", "--service-uuid", text(HEART_RATE))
        async with harald(*command) as scan:
            assert await scan.status() == 0
        heard = of("advertisement", scan)[-1]
        assert heard["name"] == NAME and {"uuid": "180D", "name": "Heart Rate"} in heard["services"]
        assert len(heard["identifier"]) == 36 and "address" not in heard


async def test_finds_the_service_in_the_environment(
    harald: Start, tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As programs do; a controller on the command line takes precedence, and an invalid one is refused."""
    async with controllers() as air, peripheral(air.transport), service(harald, air.address, tmp_path):
        monkeypatch.setenv("HARALD_SERVICE", place)
        async with harald("scan", "--until", NAME) as scan:
            assert await scan.status() == 0
        assert ADDRESS not in scan.output
        async with harald("scan", "--controller", air.address, "--until", NAME) as scan:
            assert await scan.status() == 0
        assert ADDRESS in scan.output
        monkeypatch.delenv("HARALD_SERVICE")
        monkeypatch.setenv("HARALD_CONTROLLER", air.address)
        async with harald("scan", "--until", NAME) as scan:
            assert await scan.status() == 0
        assert ADDRESS in scan.output
        monkeypatch.setenv("HARALD_CONTROLLER", "banana")
        async with harald("scan", "--until", NAME) as scan:
            assert await scan.status() == USAGE
        assert "HARALD_CONTROLLER is invalid" in scan.errors


async def test_a_scan_lists_what_it_heard(harald: Start, tmp_path: Path, place: str) -> None:
    async with controllers() as air, peripheral(air.transport), service(harald, air.address, tmp_path):
        for where in (("--service", place), ("--controller", air.address)):
            async with harald("scan", *where, "--until", "Nobody", "--timeout", "2", "--json") as scan:
                assert await scan.status() == NOT_FOUND
            assert f'1 other device was heard: "{NAME}"' in scan.errors and "--timeout" in scan.errors
            failure = of("error", scan)[0]
            assert failure["code"] == "deviceNotFound" and failure["message"] in scan.errors
            assert failure["exitStatus"] == NOT_FOUND


async def test_what_needs_a_controller_says_so(harald: Start, tmp_path: Path, place: str) -> None:
    async with controllers() as air, service(harald, air.address, tmp_path):
        for command in (("scan", "--passive"), ("scan", "--capture", "x"), ("explore", NAME, "--answer", "yes")):
            async with harald(*command, "--service", place) as process:
                assert await process.status() == USAGE
            assert "--controller" in process.errors
        async with harald("scan", "--service", place, "--controller", air.address) as process:
            assert await process.status() == USAGE
    async with harald("scan", "--service", place) as process:
        assert await process.status() == 1
    assert place in process.errors and "`harald service`" in process.errors


async def test_explores_through_the_service(harald: Start, tmp_path: Path, place: str) -> None:
    async with controllers() as air, peripheral(air.transport) as sensor, service(harald, air.address, tmp_path):
        async with harald("explore", "--service", place, NAME[:3].lower(), "--raw") as process:
            assert await process.status() == 0
        await sensor.event("disconnection")
        assert f"service {text(WORKSHOP)}" in process.output
        for uuid in (BODY_SENSOR_LOCATION, BATTERY_LEVEL, NOTE):
            assert any(text(uuid) in line and VALUES[uuid].hex() in line for line in process.out), text(uuid)
        assert len([line for line in process.out if line.startswith("value of 2A37")]) == 3

        command = ("explore", "--service", place, "service:180d", "--json", "--write", f"{text(NOTE)}=00")
        async with harald(*command) as process:
            assert await process.status() == 0
        table = of("table", process)[0]
        assert table["device"]["name"] == NAME
        found = {each["uuid"]: each for part in table["services"] for each in part["characteristics"]}
        assert found[text(BODY_SENSOR_LOCATION)]["value"] == VALUES[BODY_SENSOR_LOCATION].hex()
        assert found[text(BODY_SENSOR_LOCATION)]["properties"] == ["read"]
        assert of("written", process)[0]["octets"] == 1
        values = [each["value"] for each in of("value", process) if each["characteristic"]["uuid"] == "2A37"]
        assert len(values) == 3
        assert [each["state"] for each in of("link", process)] == ["found", "connected", "disconnected"]


@pytest.mark.parametrize("own", [False, True], ids=["service", "controller"])
async def test_a_name_that_fits_several(harald: Start, tmp_path: Path, place: str, own: bool) -> None:
    """The beginning of two names is an error that lists both; a whole name is not, and neither is an identifier."""
    async with (
        controllers() as air,
        peripheral(air.transport, "Pulse one"),
        peripheral(air.transport, "Pulse two", address="F0:9E:16:4A:00:05"),
        service(harald, air.address, tmp_path),
    ):
        where = ("--controller", air.address) if own else ("--service", place)
        async with harald("explore", *where, "pulse", "--json") as process:
            assert await process.status() == NOT_FOUND
        failure = of("error", process)[0]
        assert failure["code"] == "deviceAmbiguous"
        assert {each["name"] for each in failure["candidates"]} == {"Pulse one", "Pulse two"}
        assert '"Pulse one"' in process.errors and '"Pulse two"' in process.errors
        second = next(each for each in failure["candidates"] if each["name"] == "Pulse two")
        for chosen in ("pulse TWO", second["address" if own else "identifier"]):
            async with harald("explore", *where, chosen, "--notifications", "0") as process:
                assert await process.status() == 0
            assert "Pulse two" in process.output


async def test_a_device_learns_at_once_that_a_command_has_ended(harald: Start, place: str) -> None:
    """The link is disconnected before the controller is reset, so that no supervision timeout passes."""
    async with controllers() as air, peripheral(air.transport) as sensor:
        async with harald("read", "--controller", air.address, NAME, text(BODY_SENSOR_LOCATION)) as process:
            assert await process.status() == 0
        # Remote User Terminated Connection (Core Vol 1 Part F 2.19).
        await sensor.event("disconnection", reason=0x13)


@pytest.mark.parametrize("own", [False, True], ids=["service", "controller"])
async def test_an_interrupted_exploration_leaves_the_device(
    harald: Start, tmp_path: Path, place: str, own: bool
) -> None:
    """Ctrl-C ends the link, rather than leaving it to its timeout, and the exit status is a shell's."""
    async with controllers() as air, peripheral(air.transport) as sensor, service(harald, air.address, tmp_path):
        where = ("--controller", air.address) if own else ("--service", place)
        async with harald("explore", *where, NAME, "--notifications", "100000") as process:
            await process.line("value of 2A37")
            assert await process.stop(signal.SIGINT) == INTERRUPTED
            await sensor.event("disconnection")
            assert process.errors == ""
        for sent in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            async with harald("scan", *where, "--timeout", "60") as process:
                await process.line("scanning")
                assert await process.stop(sent) == 128 + sent


@pytest.mark.parametrize("own", [False, True], ids=["service", "controller"])
async def test_a_value_that_does_not_notify(harald: Start, tmp_path: Path, place: str, own: bool) -> None:
    async with controllers() as air, peripheral(air.transport), service(harald, air.address, tmp_path):
        where = ("--controller", air.address) if own else ("--service", place)
        async with harald("explore", *where, NAME, "--follow", text(BODY_SENSOR_LOCATION)) as process:
            assert await process.status() == 1
        told = "2A38 Body Sensor Location does not notify; these do: 2A37 Heart Rate Measurement, "
        assert told in process.errors
        async with harald("explore", *where, NAME, "--follow", "heart rate m", "--notifications", "1") as process:
            assert await process.status() == 0
        assert "following 2A37 Heart Rate Measurement" in process.out


@pytest.mark.parametrize("own", [False, True], ids=["service", "controller"])
async def test_reads_and_writes_a_value(harald: Start, tmp_path: Path, place: str, own: bool) -> None:
    """Standard output has the value alone, so that a script can use it."""
    async with controllers() as air, peripheral(air.transport) as sensor, service(harald, air.address, tmp_path):
        where = ("--controller", air.address) if own else ("--service", place)
        async with harald("read", *where, NAME, text(BODY_SENSOR_LOCATION)) as process:
            assert await process.status() == 0
        assert process.out == ["wrist"] and process.err == []
        async with harald("read", *where, NAME, "manufacturer", "--raw") as process:
            assert await process.status() == 0
        assert process.out == [b"Foreign Instruments".hex()]
        async with harald("read", *where, "service:180D", "180A/2A29", "--json") as process:
            assert await process.status() == 0
        (value,) = documents(process)
        assert value["event"] == "value" and value["text"] == "Foreign Instruments"
        assert value["characteristic"]["uuid"] == "2A29" and value["device"]["name"] == NAME
        assert ("address" if own else "identifier") in value["device"]

        async with harald("write", *where, NAME, text(NOTE), "7a") as process:
            assert await process.status() == 0
        assert process.out == [f"wrote 1 octet to {text(NOTE)}"]
        await sensor.event("write", uuid=text(NOTE), value=b"z")
        async with harald("write", *where, NAME, text(NOTE), "--text", "on", "--without-response", "--json") as process:
            assert await process.status() == 0
        assert of("written", process)[0]["isConfirmed"] is False
        await sensor.event("write", uuid=text(NOTE), value=b"on")
        async with harald("write", *where, NAME, text(NOTE), "0x7a:7A") as process:
            assert await process.status() == 0
        await sensor.event("write", uuid=text(NOTE), value=b"zz")
        async with harald("read", *where, "service:heart rate", "0x2A37") as process:
            assert await process.status() == 1
        assert "2A37 Heart Rate Measurement is not readable; it notifies: `harald follow`; " in process.errors
        async with harald("write", *where, NAME, text(NOTE), "xyz") as process:
            assert await process.status() == USAGE
        assert "--text" in process.errors


async def test_follows_a_value(harald: Start, tmp_path: Path, place: str) -> None:
    async with controllers() as air, peripheral(air.transport) as sensor, service(harald, air.address, tmp_path):
        measurement = text(HEART_RATE_MEASUREMENT)
        async with harald("follow", "--service", place, NAME, measurement, "--count", "3") as process:
            assert await process.status() == 0
        assert len(process.out) == 3 and process.err == []
        await sensor.event("disconnection")
        async with harald("follow", "--service", place, NAME, measurement, "--json") as process:
            await process.lines('"event":"value"', 3)
            assert await process.stop(signal.SIGINT) == INTERRUPTED
        assert process.errors == "" and all(each["event"] == "value" for each in documents(process))
        async with harald("follow", "--service", place, NAME, text(BODY_SENSOR_LOCATION), "--json") as process:
            assert await process.status() == 1
        assert "does not notify; these do: 2A37" in of("error", process)[0]["message"]


async def test_follows_a_device_that_another_app_uses(harald: Start, tmp_path: Path, place: str) -> None:
    """A connected device does not advertise: the service knows it, and apps share the link."""
    async with controllers() as air, peripheral(air.transport) as sensor, service(harald, air.address, tmp_path):
        async with harald("connect", "--service", place, NAME) as holder:
            await holder.line("^connected")
            await holder.line("^link: every ")
            async with harald("follow", "--service", place, NAME[:4], "2A37", "--count", "2") as process:
                assert await process.status() == 0
            assert len(process.out) == 2
            assert len(sensor.seen("connection")) == 1 and not sensor.seen("disconnection")
            assert await holder.stop(signal.SIGINT) == INTERRUPTED
        await sensor.event("disconnection")
        assert holder.out[-1] == "disconnected" and holder.errors == ""


async def test_a_followed_value_ends_with_its_reader(harald: Start, binary: str, tmp_path: Path, place: str) -> None:
    """As `harald follow ... | head -1` does: quietly, by SIGPIPE, and the device is free again."""
    async with controllers() as air, peripheral(air.transport) as sensor, service(harald, air.address, tmp_path):
        command = (binary, "follow", "--service", place, NAME, "2A37")
        child = await asyncio.to_thread(lambda: read_end_closed(*command, lines=1))
        said = await asyncio.to_thread(lambda: child.communicate(timeout=20))
        assert child.returncode == -signal.SIGPIPE and said[1] == b""
        await sensor.event("disconnection")


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM])
async def test_a_service_that_ends_is_the_cause(
    harald: Start, tmp_path: Path, place: str, sent: signal.Signals
) -> None:
    """Of the failure of each command that uses it: neither the device nor the controller is blamed."""
    async with controllers() as air, peripheral(air.transport), service(harald, air.address, tmp_path) as host:
        where = ("--service", place)
        async with (
            harald("follow", *where, NAME, "2A37") as follow,
            harald("scan", *where, "--timeout", "60") as scan,
            harald("connect", *where, NAME) as connect,
            harald("record", *where, NAME, "--seconds", "60") as record,
        ):
            await follow.line("bpm")
            await scan.line("scanning")
            await connect.line("^link: every ")
            await host.gone(sent)
            for process in (follow, scan, connect, record):
                assert await process.status() == 1
                assert process.err[0].startswith("harald: the Bluetooth service has ended; start it again with ")
                assert len(process.err) == 1
        assert not any("connecting again" in line for line in connect.out)


async def test_a_controller_that_ends_is_the_cause(harald: Start, tmp_path: Path) -> None:
    """With a controller of the command's own, as with a service."""
    for command in (("follow", NAME, "2A37"), ("connect", NAME), ("scan", "--timeout", "60")):
        arguments = ("controllers", "--listen", "0")
        async with harald(*arguments) as air:
            address = "tcp:127.0.0.1:" + (await air.line(r"127\.0\.0\.1:(\d+)"))[1]
            async with harald("serve", "--controller", address, "--name", NAME) as served:
                await served.line("advertising")
                async with harald(*command, "--controller", address) as process:
                    await process.line({"follow": "bpm", "connect": "^link: every ", "scan": NAME}[command[0]])
                    await air.gone(signal.SIGKILL)
                    assert await process.status() == CONTROLLER
        assert process.err == [
            f"harald: the controller at {address} is gone; check that it is running or plugged in, then try again"
        ]


async def test_an_address_is_no_name_of_a_service(harald: Start, tmp_path: Path, place: str) -> None:
    async with controllers() as air, service(harald, air.address, tmp_path):
        for command in (("read", ADDRESS, "2A38"), ("scan", "--until", ADDRESS)):
            async with harald(*command, "--service", place) as process:
                assert await process.status() == NOT_FOUND
            assert "devices have identifiers rather than addresses; `harald scan` shows them" in process.errors


async def test_pairs_through_the_service(harald: Start, tmp_path: Path, place: str) -> None:
    """The policy file decides: at first nobody agrees, and then it does."""
    policy = tmp_path / "policy"
    policy.write_text("pair no\n")
    policy.chmod(0o600)
    async with controllers() as air, peripheral(air.transport, pairing=Pairing(NOTHING)):
        async with service(harald, air.address, tmp_path, "--policy", str(policy)) as host:
            async with harald("pair", "--service", place, NAME, "--json") as process:
                assert await process.status() == NOT_SECURED
            assert of("error", process)[0]["code"] == "notSecured"
            policy.write_text("pair yes\n")
            host.child.send_signal(signal.SIGHUP)
            await host.line("the policy was reloaded")
            async with harald("pair", "--service", place, NAME) as process:
                assert await process.status() == 0
            assert any(line.startswith("paired: ") for line in process.out)
            async with harald("read", "--service", place, NAME, text(SECRET)) as process:
                assert await process.status() == 0


async def test_pairs_with_a_controller_of_its_own(harald: Start, tmp_path: Path) -> None:
    async with controllers() as air, peripheral(air.transport, pairing=Pairing(NOTHING)):
        where = ("--controller", air.address, NAME)
        async with harald("pair", *where, "--answer", "no") as process:
            assert await process.status() == NOT_SECURED
        async with harald("pair", *where, "--answer", "yes", "--store", str(tmp_path / "bonds")) as process:
            assert await process.status() == 0
        assert any(line.startswith("paired: ") for line in process.out)


async def test_the_help_of_each_verb_has_its_exit_statuses(harald: Start) -> None:
    for verb in ("scan", "explore", "connect", "read", "write", "follow", "pair", "distance"):
        async with harald(verb, "--help") as process:
            assert await process.status() == 0
        help = " ".join(process.output.split())
        for status in ("0 success", "5 device not found in time", "64 usage error", "130 interrupted"):
            assert status in help, f"{verb}: {status}"


async def test_an_interrupted_collection_is_not_a_success(harald: Start) -> None:
    async with controllers() as air, peripheral(air.transport) as sensor:
        async with harald("collect", "--controller", air.address, "--sensors", "1", "--measurements", "100000") as process:
            await process.line("bpm")
            assert await process.stop(signal.SIGINT) == INTERRUPTED
        await sensor.event("disconnection")


async def test_a_collection_in_json(harald: Start) -> None:
    """Interrupted it is no success, and one that is not complete in time ends with an error."""
    async with controllers() as air, peripheral(air.transport) as sensor:
        command = ("collect", "--controller", air.address, "--json", "--sensors")
        async with harald(*command, "1", "--measurements", "2") as process:
            assert await process.status() == 0
        assert [each["event"] for each in documents(process)] == ["link", "measurement", "measurement", "collected", "link"]
        assert [each["number"] for each in of("measurement", process)] == [1, 2]
        assert {each["device"]["name"] for each in of("measurement", process)} == {sensor.name}
        async with harald(*command, "1", "--measurements", "100000") as process:
            await process.line("measurement")
            assert await process.stop(signal.SIGINT) == INTERRUPTED
        assert of("error", process) == []
        async with harald(*command, "2", "--timeout", "2") as process:
            assert await process.status() == 1
        (error,) = of("error", process)
        assert error["code"] == "failed" and error["message"].startswith("1 of 2 sensors were connected after 2.0 s")


async def test_a_channel_in_json(harald: Start) -> None:
    async with controllers() as air, harald("channel", "--controller", air.address) as echo:
        await echo.line("advertising")
        async with harald("channel", "--controller", air.address, "--to", "Harald echo", "--size", "20000", "--json") as process:
            assert await process.status() == 0
        assert [(each["event"], each["octets"]) for each in documents(process)] == [("echoed", 20000)]
