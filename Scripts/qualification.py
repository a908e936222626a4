#!/usr/bin/env python3
"""Says which qualification cases a test proves, which none proves, and why.

    Scripts/qualification.py            counts by profile, then every case without a test and what it waits for
    Scripts/qualification.py --all      the proved cases too
    Scripts/qualification.py --check    fails when a case has neither a test nor a reason, has both, or is unknown

The cases are listed in qualification.txt. A test proves GATT/SR/GAR/BV-01 when its name has GATT_SR_GAR_BV_01 in it.
"""
import pathlib
import re
import sys
from typing import NamedTuple

LIST = pathlib.Path(__file__).parent / "qualification.txt"
SWIFT_TEST = re.compile(r"@Test\b.*?func\s+`?(\w+)", re.S)
PYTHON_TEST = re.compile(r"^\s*(?:async\s+)?def (test_\w+)", re.M)
IDENTIFIER = re.compile(r"((?:GATT|GAP|SM|L2CAP)_(?:[A-Z0-9]+_)+?B[VI]_\d\d)")
CASES = re.compile(r"((?:[A-Z]+/)?B[VI]-)(\d\d)(?:\.\.(\d\d))?$")


class Case(NamedTuple):
    name: str
    waits_for: str | None

    @property
    def in_a_test(self) -> str:
        return self.name.replace("/", "_").replace("-", "_")

    @property
    def profile(self) -> str:
        return self.name.split("/")[0]


def swift_tests() -> list[str]:
    # One test at a time: the text from one @Test to the next holds one function.
    parts = [
        part
        for path in sorted(pathlib.Path("Tests").rglob("*.swift"))
        for part in re.split(r"(?=@Test\b)", path.read_text())[1:]
    ]
    return [match.group(1) for part in parts if (match := SWIFT_TEST.match(part))]


def python_tests() -> list[str]:
    return [
        name
        for path in sorted(pathlib.Path("Interop/tests").glob("test_*.py"))
        for name in PYTHON_TEST.findall(path.read_text())
    ]


def cases() -> list[Case]:
    found = []
    for number, line in enumerate(LIST.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        listed, _, reason = line.partition("|")
        group, *ranges = listed.split()
        for part in ranges:
            match = CASES.match(part)
            if not match:
                sys.exit(f"{LIST.name}:{number}: not a case or a range of cases: {part}")
            first, last = int(match[2]), int(match[3] or match[2])
            found += [Case(f"{group}/{match[1]}{n:02}", reason.strip() or None) for n in range(first, last + 1)]
    return found


def proved() -> set[str]:
    return {name for test in swift_tests() + python_tests() for name in IDENTIFIER.findall(test)}


def counts() -> list[tuple[str, int, int]]:
    """For each profile: its name, the cases that a test proves, and all that the list has."""
    names, listed = proved(), cases()
    profiles = dict.fromkeys(case.profile for case in listed)
    return [
        (
            profile,
            sum(case.profile == profile and case.in_a_test in names for case in listed),
            sum(case.profile == profile for case in listed),
        )
        for profile in profiles
    ]


def complaints() -> list[str]:
    names, listed = proved(), cases()
    known = {case.in_a_test for case in listed}
    found = [f"{name}: a test names this case, and {LIST.name} does not have it" for name in sorted(names - known)]
    for case in listed:
        if case.in_a_test in names and case.waits_for:
            found.append(f"{case.name}: has a test, and yet is said to wait for {case.waits_for}")
        if case.in_a_test not in names and not case.waits_for:
            found.append(f"{case.name}: has no test and no reason")
    if len(known) != len(listed):
        found.append(f"{LIST.name} has a case twice")
    return found


def main() -> int:
    if "--check" in sys.argv:
        found = complaints()
        print("\n".join(found), end="\n" if found else "")
        return 1 if found else 0
    for profile, done, total in counts():
        print(f"{profile:6} {done:4} of {total} cases have a test")
    names = proved()
    for case in cases():
        if case.in_a_test not in names:
            print(f"{case.name:24} no test: {'waits for ' + case.waits_for if case.waits_for else 'no reason'}")
        elif "--all" in sys.argv:
            print(f"{case.name:24} proved")
    return 0


if __name__ == "__main__":
    sys.exit(main())
