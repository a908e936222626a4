"""The findings of `harald doctor` in the machine (`peers/machine.py`)."""
from __future__ import annotations

import json
from dataclasses import dataclass

from .machine import Machine


@dataclass(frozen=True)
class Finding:
    severity: str
    code: str
    place: str
    what: str
    remedy: str | None = None


async def findings(machine: Machine, binary: str, user: str = "") -> list[Finding]:
    """The findings in JSON. The exit status must report problems, and each problem must have advice."""
    status, text = await machine.ask(f"{user} {binary} doctor --json", 60)
    found = [Finding(**each) for each in json.loads(text)["findings"]]
    assert status == (1 if any(each.severity == "problem" for each in found) else 0), text
    assert all(each.what and each.place for each in found)
    assert all(each.remedy for each in found if each.severity == "problem"), text
    return found


async def problems(machine: Machine, binary: str, user: str = "") -> list[tuple[str, str]]:
    """The codes and places of the current problems, without those that the kernel logged earlier."""
    found = await findings(machine, binary, user)
    return [(each.code, each.place) for each in found if each.severity == "problem" and not each.code.startswith("firmware")]


async def words(machine: Machine, binary: str) -> str:
    """The findings as text."""
    return (await machine.ask(f"{binary} doctor", 60))[1]
