"""What `Documentation/Service.md` says of files and JSON is true of the tool."""
from __future__ import annotations

import json
import plistlib
import re
from collections.abc import Iterator
from pathlib import Path

from conftest import Start
from peers.apps import installed
from peers.controllers import controllers
from peers.database import HEART_RATE, HEART_RATE_MEASUREMENT, text
from peers.peripheral import ADDRESS, NAME, peripheral
from test_service import service
from test_service_tools import tool

DOCUMENT = (Path(__file__).parents[2] / "Documentation" / "Service.md").read_text()


def block(begin: str) -> str:
    """The code block that contains this text."""
    return next(each for each in re.findall(r"^```\w+\n(.*?)^```", DOCUMENT, re.S | re.M) if begin in each)


def fields(value: object) -> Iterator[str]:
    """The names of all fields of a JSON value. Those of `details` differ for each event."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            if name != "details":
                yield from fields(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from fields(inner)


async def test_the_policy_file_is_read(harald: Start, tmp_path: Path) -> None:
    policy = tmp_path / "policy"
    policy.write_text(block("# Each line is a rule."))
    policy.chmod(0o600)
    async with controllers() as air, service(harald, air.address, tmp_path, "--policy", str(policy)):
        await tool(harald, tmp_path, "status")
    policy.write_text(policy.read_text().replace("pair no", "pair perhaps"))
    async with harald("service", "--socket", str(tmp_path / "other"), "--policy", str(policy)) as refused:
        assert await refused.status() != 0
    assert "perhaps" in refused.errors


async def test_the_property_list_declares_an_app_that_can_be_launched(harald: Start, tmp_path: Path) -> None:
    apps = tmp_path / "apps" / "heart"
    apps.mkdir(parents=True, mode=0o700)
    (apps / "Info.plist").write_text(block("<key>HaraldLaunch</key>"))
    named = plistlib.loads((apps / "Info.plist").read_bytes())["CFBundleIdentifier"]
    async with controllers() as air, service(harald, air.address, tmp_path, "--apps", str(apps.parent)):
        listed = json.loads(await tool(harald, tmp_path, "app", "list", "--json"))
    assert named in json.dumps(listed), listed


async def test_each_field_of_the_json_is_documented(harald: Start, binary: str, tmp_path: Path) -> None:
    described = set(re.findall(r"`(\w+)`", DOCUMENT[DOCUMENT.index("### status") :]))
    async with controllers() as air, peripheral(air.transport), service(harald, air.address, tmp_path):
        socket = str(tmp_path / "service")
        async with harald("monitor", "--json", "--service", socket) as monitor:
            with installed(binary, tmp_path, tmp_path / "service", "gateway", (text(HEART_RATE), text(HEART_RATE_MEASUREMENT))) as app:
                async with app.opened():
                    await app.line("value")
                    documents = [
                        json.loads(await tool(harald, tmp_path, *command, "--json"))
                        for command in (("status",), ("devices",), ("app", "list"), ("bonds", "list"))
                    ]
                    await monitor.line('"kind":"links"')
    named = {name for document in documents + [json.loads(line) for line in monitor.out] for name in fields(document)}
    assert len(named) > 40
    assert named - described == set(), "not in Service.md"


async def test_a_scan_tells_services_in_words_and_octets_only_with_raw(harald: Start) -> None:
    async with controllers() as air, peripheral(air.transport):
        where = ("--controller", air.address, "--until", NAME)
        async with harald("scan", *where) as words, harald("scan", *where, "--raw") as raw:
            assert await words.status() == 0 == await raw.status()
    line = next(line for line in words.out if ADDRESS in line)
    assert "service 180D Heart Rate" in line and "020106" not in line
    assert "octets: 0201" in next(line for line in raw.out if ADDRESS in line)
