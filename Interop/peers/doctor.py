"""What `harald doctor` finds in the machine (`peers/machine.py`)."""
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
    """As programs read them. The exit status says whether there is a problem, and whoever has one is told what to do."""
    status, text = await machine.ask(f"{user} {binary} doctor --json", 60)
    found = [Finding(**each) for each in json.loads(text)["findings"]]
    assert status == (1 if any(each.severity == "problem" for each in found) else 0), text
    assert all(each.what and each.place for each in found)
    assert all(each.remedy for each in found if each.severity == "problem"), text
    return found


async def problems(machine: Machine, binary: str, user: str = "") -> list[tuple[str, str]]:
    """Codes and places of what is wrong now, and not of what the kernel has complained of before."""
    found = await findings(machine, binary, user)
    return [(each.code, each.place) for each in found if each.severity == "problem" and not each.code.startswith("firmware")]


async def words(machine: Machine, binary: str) -> str:
    """As persons read them."""
    return (await machine.ask(f"{binary} doctor", 60))[1]
