"""`harald explain` and `harald redact` with a capture of a foreign host, compared with tshark."""
from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from conftest import Start
from peers import captures
from peers.central import central
from peers.controllers import controllers
from peers.database import HEART_RATE_MEASUREMENT

SENSOR = "Harald HR"


def ran(binary: str, *arguments: str) -> str:
    return subprocess.run([binary, *arguments], capture_output=True, text=True, check=True, timeout=20).stdout


def explained(binary: str, path: Path) -> list[dict]:
    return [json.loads(line) for line in ran(binary, "explain", "--json", str(path)).splitlines()]


def test_a_file_that_is_no_capture_is_an_error(binary: str) -> None:
    for command in (["explain", __file__], ["redact", __file__, "-o", "/dev/null"]):
        done = subprocess.run([binary, *command], capture_output=True, text=True, timeout=20)
        assert done.returncode == 1
        assert "is not a btsnoop" in done.stderr


async def test_agrees_with_tshark_about_a_foreign_host(
    harald: Start, binary: str, capture: Callable[[str], Path], tmp_path: Path
) -> None:
    """The counts of packets, ATT PDUs, errors and connections are those of tshark, also after the redaction."""
    log = capture("central")
    async with controllers() as air:
        async with harald("serve", "--controller", air.address) as process:
            await process.line("(?i)advertising")
            async with central(air.transport, capture=log) as client:
                await client.connect(SENSOR)
                await client.table()
                await client.follow(HEART_RATE_MEASUREMENT, 3)
                await client.disconnect()
    copy = tmp_path / "redacted.btsnoop"
    ran(binary, "redact", str(log), "-o", str(copy))
    assert SENSOR.encode() in log.read_bytes()
    assert SENSOR.encode() not in copy.read_bytes()
    for path in (log, copy):
        story = explained(binary, path)
        totals = story[-1]
        operations = captures.att_operations(path)
        assert totals["event"] == "explained"
        assert totals["records"] == captures.records(path)
        assert totals["attributePDUs"] == len(operations)
        assert totals["attributeErrors"] == sum(each.error is not None for each in operations)
        assert totals["malformed"] == 0
        (link,) = [each for each in story if each["event"] == "capturedConnection"]
        assert link["role"] == "central"
        assert "2A37" in {each["uuid"] for each in link["attributes"]}
