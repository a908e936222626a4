"""Every capture that the Swift tests left in .build/captures, as tshark reads it."""
from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from conftest import ROOT
from peers import captures

DIRECTORY = ROOT / ".build/captures"


def fault(path: Path) -> str | None:
    try:
        captures.records(path)
        found = captures.malformed(path)
    except captures.UnreadableCapture as error:
        return str(error)
    return "\n".join([f"{path.relative_to(DIRECTORY)}:", *found]) if found else None


def test_no_capture_of_the_swift_tests_is_malformed() -> None:
    paths = sorted(DIRECTORY.glob("**/*.btsnoop"))
    if not paths:
        pytest.fail(f"{DIRECTORY} has no captures; `swift test` writes them", pytrace=False)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = [each for each in pool.map(fault, paths) if each]
    if faults:
        pytest.fail("\n\n".join(faults), pytrace=False)
