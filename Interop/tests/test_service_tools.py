"""What users do with `harald service`: inspect it, answer questions, set policies, and open and end apps."""
from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from conftest import Start
from peers.apps import App, installed
from peers.controllers import controllers
from peers.database import HEART_RATE, HEART_RATE_MEASUREMENT, SECRET, WORKSHOP, text
from peers.pairing import DISPLAY, NOTHING, Pairing
from peers.peripheral import NAME, peripheral
from peers.processes import die_with_parent, running
from test_service import service

GATEWAY = "com.example.gateway"
HEART = (text(HEART_RATE), text(HEART_RATE_MEASUREMENT))
PROTECTED = (text(WORKSHOP), text(SECRET))


def running_still(process: int) -> bool:
    """Whether a program is still running; a zombie does not count."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def tool(harald: Start, directory: Path, *arguments: str, status: int = 0) -> str:
    async with harald(*arguments, "--service", str(directory / "service")) as process:
        assert await process.status() == status
        return process.output


def beats(app: App) -> list[int]:
    return [int(line.split()[3], 16) for line in app.lines if line.split()[1] == "value"]


async def test_status_and_monitor_and_devices_tell_what_happens(harald: Start, binary: str, tmp_path: Path) -> None:
    async with controllers() as air, peripheral(air.transport) as sensor, service(harald, air.address, tmp_path):
        socket = str(tmp_path / "service")
        async with harald("monitor", "--json", "--kinds", "links,managers", "--service", socket) as monitor:
            # The monitor starts before the app.
            while not monitor.out:
                await tool(harald, tmp_path, "scan", "--timeout", "0.2")
            with installed(binary, tmp_path, tmp_path / "service", "gateway", HEART) as app:
                async with app.opened():
                    await app.line("value")
                    status = json.loads(await tool(harald, tmp_path, "status", "--json"))
                    devices = json.loads(await tool(harald, tmp_path, "devices", "--json"))
                    people = await tool(harald, tmp_path, "status")
                    await monitor.line('"kind":"links"')
        assert [each["name"] for each in status["apps"]] == [GATEWAY] and len(status["links"]) == 1
        assert [each["name"] for each in devices if each["isConnected"]] == [sensor.name]
        assert "Bluetooth is on" in people and GATEWAY in people
        assert {json.loads(line)["kind"] for line in monitor.out} == {"links", "managers"}
        assert json.loads(await tool(harald, tmp_path, "bonds", "list", "--json")) == []


async def test_damaged_bonds_are_not_an_empty_list(harald: Start, tmp_path: Path) -> None:
    """A user who is told that there are none pairs all devices again."""
    store = tmp_path / "store"
    store.mkdir(mode=0o700)
    (store / "bonds").write_bytes(b"not what was written")
    (store / "bonds").chmod(0o600)
    async with controllers() as air, service(harald, air.address, tmp_path, "--store", str(store)):
        async with harald("bonds", "list", "--service", str(tmp_path / "service")) as listed:
            assert await listed.status() == 1
    assert listed.out == [] and f"paired devices cannot be used: {store}/bonds is damaged" in listed.errors


def line_of(source: str, text: str) -> str:
    """The file and line of a source of Tests/Fixtures/interop-app that has this text, as places name them."""
    path = Path(__file__).parents[2] / "Tests/Fixtures/interop-app" / source
    return next(f"{source}:{number}" for number, line in enumerate(path.read_text().splitlines(), 1) if text in line)


async def test_apps_are_advised(harald: Start, binary: str, tmp_path: Path) -> None:
    """`harald scan` names no services, so it breaks rule 12.3 itself. An app in another process has places of its calls."""
    async with controllers() as air, service(harald, air.address, tmp_path):
        socket = str(tmp_path / "service")
        async with harald("advice", "--service", socket) as advice, harald("advice", "--json", "--service", socket) as lines:
            async with harald("monitor", "--advice", "--kinds", "state", "--service", socket) as monitor:
                # Apps are watched from the start of the commands on, which takes a moment.
                for _ in range(3):
                    await tool(harald, tmp_path, "scan", "--timeout", "1")
                await advice.line("12.3")
                await lines.line('"rule":"12.3"')
                await monitor.line("advice: 12.3")
                with installed(binary, tmp_path, tmp_path / "service", "reader", HEART, managed=False) as app:
                    async with app.opened():
                        place = line_of("Reader.swift", "scanForPeripherals(withServices: nil)")
                        await advice.line(rf"12\.3 {app.name} scanned .*\({place}\)")
                        await lines.line(f'"place":"{place}"')
        first = json.loads(lines.out[0])
        assert (first["kind"], first["rule"], first["manager"], first["hint"]) == ("advice", "12.3", "central", False)
        # A process that has ended before its place was found has none.
        assert re.search(r"scanned without naming a service( \(\S+:\d+\))?\. Name the services to scan for", advice.output)


def read_end_closed(*command: str, lines: int) -> subprocess.Popen[bytes]:
    """A command whose reader exits after `lines` lines, like `head`."""
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=die_with_parent)
    for _ in range(lines):
        assert child.stdout.readline()
    child.stdout.close()
    return child


def listens(place: str) -> bool:
    with socket.socket(socket.AF_UNIX) as line:
        return line.connect_ex(place) == 0


async def test_a_monitor_ends_with_its_reader(harald: Start, binary: str, tmp_path: Path) -> None:
    """By SIGPIPE and silently, whether or not further events occur in the service."""
    async with controllers() as air, service(harald, air.address, tmp_path):
        command = (binary, "monitor", "--kinds", "managers", "--service", str(tmp_path / "service"))
        monitor = await asyncio.to_thread(lambda: read_end_closed(*command, lines=0))
        said = await asyncio.to_thread(lambda: monitor.communicate(timeout=20))
        assert monitor.returncode == -signal.SIGPIPE and said[1] == b""


@pytest.mark.parametrize(
    ("command", "lines"),
    [(("scan", "--timeout", "60"), 1), (("explore", NAME, "--timeout", "60"), 0), (("collect", "--timeout", "60"), 0)],
    ids=["scan", "explore", "collect"],
)
async def test_a_command_ends_with_its_reader(binary: str, command: tuple[str, ...], lines: int) -> None:
    """Even if it has nothing more to print: nothing advertises here."""
    async with controllers() as air:
        line = (binary, command[0], "--controller", air.address, *command[1:])
        child = await asyncio.to_thread(lambda: read_end_closed(*line, lines=lines))
        said = await asyncio.to_thread(lambda: child.communicate(timeout=20))
        assert child.returncode == -signal.SIGPIPE and said[1] == b""


async def test_a_service_outlives_the_reader_of_its_log(harald: Start, binary: str, tmp_path: Path) -> None:
    async with controllers() as air:
        place = str(tmp_path / "service")
        command = (binary, "service", "--controller", air.address, "--socket", place, "--store", str(tmp_path / "store"))
        child = await asyncio.to_thread(lambda: read_end_closed(*command, lines=0))
        try:
            while not listens(place):
                await asyncio.sleep(0.02)
            while not json.loads(await tool(harald, tmp_path, "status", "--json"))["state"] == "poweredOn":
                await asyncio.sleep(0.1)
            assert child.poll() is None
        finally:
            child.terminate()
            await asyncio.to_thread(lambda: child.communicate(timeout=10))
        assert child.returncode == 0


async def test_a_tool_without_a_service_says_where_it_looked(harald: Start, tmp_path: Path) -> None:
    async with harald("status", "--service", str(tmp_path / "service")) as process:
        assert await process.status() == 1
    assert str(tmp_path / "service") in process.errors and "`harald service`" in process.errors


async def test_what_waits_for_a_suspended_app_comes_in_order(harald: Start, binary: str, tmp_path: Path) -> None:
    """Behaviours 9.1 and 9.4, with processes and without waiting: the user leaves the app, and opens it."""
    async with controllers() as air, peripheral(air.transport), service(harald, air.address, tmp_path):
        with installed(binary, tmp_path, tmp_path / "service", "gateway", HEART, modes=()) as app:
            async with app.opened():
                await app.line("value")
                assert "suspended" in await tool(harald, tmp_path, "app", "suspend", app.name)
                before = len(app.lines)
                await asyncio.sleep(0.5)
                assert len(app.lines) == before
                assert "foreground" in await tool(harald, tmp_path, "app", "foreground", app.name)
                while len(app.lines) < before + 20:
                    await app.line("value")
            heard = beats(app)
            assert heard == list(range(heard[0], heard[0] + len(heard)))


async def test_an_app_that_is_terminated_comes_back(harald: Start, binary: str, tmp_path: Path) -> None:
    """Behaviour 10.15, with processes."""
    async with controllers() as air, peripheral(air.transport), service(harald, air.address, tmp_path):
        with installed(binary, tmp_path, tmp_path / "service", "gateway", HEART) as app:
            async with app.opened() as first:
                await app.line("value")
                told = await tool(harald, tmp_path, "app", "terminate", app.name)
                assert told.startswith(f"terminated {app.name}") and "no apps" not in told
                while first.child.returncode is None:
                    await asyncio.sleep(0.02)
                await app.line(r"launched for \[\"gateway\"\]")
                await app.line("restored 1 peripherals, 1 notifying")
                await app.line("value")


async def test_an_app_that_a_person_ends_stays_away_until_it_is_opened(
    harald: Start, binary: str, tmp_path: Path
) -> None:
    """Behaviour 10.16, with processes."""
    async with controllers() as air, peripheral(air.transport) as sensor:
        async with service(harald, air.address, tmp_path, "--apps", str(tmp_path)):
            with installed(binary, tmp_path, tmp_path / "service", "gateway", HEART) as app:
                assert f"launched {app.name}" in (await tool(harald, tmp_path, "app", "launch", app.name)).splitlines()
                await app.line(r"launched for \[\]")
                await app.line("value")
                quitting = time.monotonic()
                assert f"force-quit {app.name}" in await tool(harald, tmp_path, "app", "force-quit", app.name)
                while running_still(app.processes[0]):
                    await asyncio.sleep(0.02)
                # In good order: the service waits five seconds before it uses force.
                assert time.monotonic() - quitting < 4
                await sensor.event("disconnection")
                apps = json.loads(await tool(harald, tmp_path, "app", "list", "--json"))
                assert apps == {"apps": [], "preserved": [], "installed": [app.name], "permissions": []}
                await tool(harald, tmp_path, "app", "launch", app.name)
                await app.line(r"launched for \[\]")
                await app.line("value")
                assert len(app.processes) == 2 and not [line for line in app.lines if "restored" in line]
                await tool(harald, tmp_path, "app", "terminate", "com.example.nobody", status=1)


@pytest.mark.parametrize("ruling", ["yes", "no", "none"])
async def test_a_policy_decides_who_pairs(harald: Start, binary: str, tmp_path: Path, ruling: str) -> None:
    """AB-A14: without a prompter and a rule that says yes, the answer is no."""
    policy = tmp_path / "policy"
    policy.write_text("# nothing\n" if ruling == "none" else f'pair app=com.example.* peer="{NAME}" {ruling}\n')
    policy.chmod(0o600)
    theirs = Pairing(NOTHING)
    async with controllers() as air, peripheral(air.transport, pairing=theirs):
        async with service(harald, air.address, tmp_path, "--policy", str(policy)):
            with installed(binary, tmp_path, tmp_path / "service", "reader", PROTECTED) as app:
                async with app.opened():
                    said = await app.line("(read|refused).*")
                    bonds = json.loads(await tool(harald, tmp_path, "bonds", "list", "--json"))
    assert (said[1] == "read") == (ruling == "yes"), said[0]
    assert len(bonds) == (1 if ruling == "yes" else 0)
    assert theirs.paired.empty() == (ruling != "yes")


async def test_a_policy_that_was_changed_is_read_again_on_request(harald: Start, binary: str, tmp_path: Path) -> None:
    """On SIGHUP; an invalid file, or one that other users could have written, leaves the old policy in force."""
    policy = tmp_path / "policy"
    policy.write_text("pair no\n")
    policy.chmod(0o600)
    async with controllers() as air, peripheral(air.transport, pairing=Pairing(NOTHING)):
        async with service(harald, air.address, tmp_path, "--policy", str(policy)) as host:
            with installed(binary, tmp_path, tmp_path / "service", "reader", PROTECTED) as app:
                asked = 0
                for rules, mode, pairs in [("pair no\n", 0o600, False), ("pair perhaps\n", 0o600, False),
                                          ("pair yes\n", 0o666, False), ("pair yes\n", 0o600, True)]:  # fmt: skip
                    policy.write_text(rules)
                    policy.chmod(mode)
                    asked += 1
                    host.child.send_signal(signal.SIGHUP)
                    await host.lines("the policy was reloaded|the previous policy stays in force", asked)
                    async with app.opened():
                        said = await app.line("(read|refused).*")
                    assert (said[1] == "read") == pairs, (rules, mode, said[0])


@pytest.mark.parametrize("answer", ["code", "no"])
async def test_an_agent_answers_who_pairs(harald: Start, binary: str, tmp_path: Path, answer: str) -> None:
    theirs = Pairing(DISPLAY)
    async with controllers() as air, peripheral(air.transport, pairing=theirs), service(harald, air.address, tmp_path):
        async with harald("agent", "--service", str(tmp_path / "service")) as agent:
            await agent.line("appear here")
            with installed(binary, tmp_path, tmp_path / "service", "reader", PROTECTED) as app:
                async with app.opened():
                    await agent.line(r"\[ pair with .*, as .* asks: which code does it show\?")
                    shown = await theirs.person.shown.get()
                    agent.type(f"{shown:06}" if answer == "code" else "no")
                    said = await app.line("(read|refused).*")
                    bonds = json.loads(await tool(harald, tmp_path, "bonds", "list", "--json"))
    assert (said[1] == "read") == (answer == "code"), said[0]
    assert [each["authenticated"] for each in bonds] == ([True] if answer == "code" else [])


async def test_an_agent_without_input_ends(harald: Start, binary: str, tmp_path: Path) -> None:
    """It could answer no prompt, and would keep each from other agents."""
    async with controllers() as air, service(harald, air.address, tmp_path):
        async with running(binary, "agent", "--service", str(tmp_path / "service"), name="agent") as agent:
            assert await agent.status() == 1
        assert "the input has ended" in agent.errors


async def test_an_agent_is_asked_whether_an_app_may_use_bluetooth(harald: Start, binary: str, tmp_path: Path) -> None:
    """Behaviour 1.18, with processes."""
    policy = tmp_path / "policy"
    policy.write_text("app name=* ask\n")
    policy.chmod(0o600)
    async with controllers() as air, peripheral(air.transport):
        async with service(harald, air.address, tmp_path, "--policy", str(policy)):
            async with harald("agent", "--service", str(tmp_path / "service")) as agent:
                await agent.line("appear here")
                with installed(binary, tmp_path, tmp_path / "service", "gateway", HEART) as app:
                    async with app.opened():
                        await agent.line(r"\[ its name, in its own words: \"Gateway\" \]")
                        await agent.line(r"\[ its reason, in its own words: \"To be tested\" \]")
                        await agent.line(r"\[ may \".*\" use Bluetooth\? yes or no \]")
                        assert app.lines[-1].endswith("launched for []")
                        agent.type("yes")
                        await app.line("value")
