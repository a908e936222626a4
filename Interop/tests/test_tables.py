"""Peers whose attribute tables break a rule: all that is usable is used, and what is wrong is said."""
from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Start
from peers.controllers import controllers
from peers.database import text
from peers.processes import Process
from peers.tables import NAME, NOTIFYING, VALUES, tables
from test_service import service

# What `explore` says of each table. A circle of includes breaks no rule.
FLAWS = {
    "self-inclusion": "includes itself: the include is ignored",
    "nested": "lies inside the one at",
    "nested-long": "lies inside the one at",
    "overlap": "runs into the one at",
    "backwards": "ends before it begins",
    "circle": "",
    "lost-value": "has no value in its service: ignored",
    "dangling-include": "names a service that is not there: ignored",
}


def check_words(process: Process) -> None:
    """The range is not blamed for a table, and no value of the program's language is printed."""
    for wrong in ("was lost", "in range", "GATTServerFault", "TableFlaw", "server("):
        assert wrong not in process.output + process.errors


def check_table(process: Process, table: str) -> None:
    assert FLAWS[table] in process.output
    for uuid, value in VALUES.items():
        lines = [line for line in process.out if f"characteristic {text(uuid)}" in line]
        assert [line.rsplit(" = ")[-1] for line in lines] == [value.hex()], process.output
    check_words(process)


@pytest.mark.parametrize("table", FLAWS)
async def test_explores_and_reads_a_broken_table(harald: Start, table: str) -> None:
    async with controllers() as air, tables(air.transport, table):
        where = ("--controller", air.address, NAME)
        async with harald("explore", *where, "--raw", "--notifications", "1") as process:
            assert await process.status() == 0, process.errors
        check_table(process, table)
        for uuid, value in VALUES.items():
            async with harald("read", *where, text(uuid), "--json") as process:
                assert await process.status() == 0, process.errors
            values = [each["value"] for each in map(json.loads, process.out) if each["event"] == "value"]
            assert values == [value.hex()]
            check_words(process)


@pytest.mark.parametrize("table", ["self-inclusion", "nested", "backwards"])
async def test_follows_and_records_a_broken_table(harald: Start, table: str) -> None:
    async with controllers() as air, tables(air.transport, table):
        where = ("--controller", air.address, NAME)
        async with harald("follow", *where, text(NOTIFYING), "--count", "2") as process:
            assert await process.status() == 0, process.errors
        check_words(process)
        async with harald("record", *where, "--seconds", "1") as process:
            assert await process.status() == 0, process.errors
        check_words(process)
        for uuid in VALUES:
            assert text(uuid).lower() in process.output.lower()


async def test_explores_a_broken_table_through_the_service(harald: Start, tmp_path: Path) -> None:
    """The log of the service says it too, and the tool that watches the service advises."""
    async with (
        controllers() as air, tables(air.transport, "self-inclusion"), service(harald, air.address, tmp_path) as host,
    ):  # fmt: skip
        place = str(tmp_path / "service")
        async with harald("explore", "--service", place, NAME, "--raw", "--notifications", "0") as process:
            assert await process.status() == 0, process.errors
        check_table(process, "self-inclusion")
        assert FLAWS["self-inclusion"] in host.output + host.errors
