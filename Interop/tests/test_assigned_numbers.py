"""The generated tables of assigned numbers, compared with those of tshark and Bumble."""
from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from bumble.company_ids import COMPANY_IDENTIFIERS

from conftest import ROOT

FIELDS = {"bthci_evt.comp_id", "btatt.uuid16", "btcommon.eir_ad.entry.appearance"}
TABLES = ROOT / "Sources/Stack/AssignedNumbers/Tables"


def table(name: str) -> dict[int, str]:
    lines = re.findall(r"^ {8}([0-9A-F]{4}) (.+)$", (TABLES / f"NumberTable+{name}.swift").read_text(), re.M)
    return {int(number, 16): text for number, text in lines}


@pytest.fixture(scope="module")
def values() -> dict[str, dict[int, str]]:
    """The names that tshark has for the values of its fields."""
    said = subprocess.run(["tshark", "-G", "values"], capture_output=True, text=True, check=True).stdout
    found: dict[str, dict[int, str]] = {}
    for line in said.split("\n"):
        match line.split("\t"):
            case ["V", field, number, name] if field in FIELDS:
                found.setdefault(field, {})[int(number, 0)] = name
    return found


def letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def same(ours: dict[int, str], theirs: dict[int, str]) -> float:
    """The share of the numbers of another table that have the same name here, apart from punctuation."""
    return sum(letters(ours.get(number, "")) == letters(name) for number, name in theirs.items()) / len(theirs)


def test_companies(values: dict[str, dict[int, str]]) -> None:
    """The companies are those of tshark and Bumble, which have fewer, older names and withdrawn numbers"""
    companies = table("Companies")
    theirs = {number: name for number, name in values["bthci_evt.comp_id"].items() if number != 0xFFFF}
    for others in (theirs, COMPANY_IDENTIFIERS):
        assert len(companies) > len(others) and len(set(others) - set(companies)) < 200
        assert same(companies, others) > 0.93
    assert companies[0x59] == "Nordic Semiconductor ASA" == theirs[0x59] == COMPANY_IDENTIFIERS[0x59]


def test_uuids(values: dict[str, dict[int, str]]) -> None:
    """The 16-bit UUIDs are those of tshark"""
    ours = {number: text[2:] for number, text in table("UUIDs").items()}
    # Characteristics, services and descriptors; tshark names units and members in other words.
    theirs = {number: name for number, name in values["btatt.uuid16"].items() if 0x1800 <= number < 0x2700 or 0x2900 <= number < 0x2C00}
    assert len(set(theirs) - set(ours)) < 30
    assert same(ours, theirs) > 0.9
    for number in (0x180D, 0x180F, 0x181D, 0x2A37, 0x2A9D, 0x2902):
        assert ours[number] == theirs[number]


def test_appearances(values: dict[str, dict[int, str]]) -> None:
    """The appearances are those of tshark, whose names include the category"""
    ours = table("Appearances")
    theirs = values["btcommon.eir_ad.entry.appearance"]
    assert set(theirs) <= set(ours)
    endings = [letters(name).endswith(letters(ours[number])) for number, name in theirs.items()]
    assert sum(endings) / len(endings) > 0.9


def test_no_number_is_listed_twice() -> None:
    """The tables are sorted, as the binary search requires"""
    for path in TABLES.glob("NumberTable+*.swift"):
        numbers = re.findall(r"^ {8}([0-9A-F]{4}) ", Path(path).read_text(), re.M)
        assert numbers == sorted(set(numbers)), path
