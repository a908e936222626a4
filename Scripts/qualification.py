#!/usr/bin/env python3
"""Reports which qualification cases a test proves, which none proves, and why.

    Scripts/qualification.py            counts by profile, then every case without a test and what it waits for
    Scripts/qualification.py --all      the proved cases too
    Scripts/qualification.py --check    fails if a case has neither a test nor a reason, has both, or is unknown

The cases are listed in qualification.txt. A test proves GATT/SR/GAR/BV-01 if it claims to (citations.py).
"""
import pathlib
import re
import sys
from typing import NamedTuple

import citations

LIST = pathlib.Path(__file__).parent / "qualification.txt"
# Anything that starts like a case must be one, or is in no list.
NAMED = re.compile(r"(?<![\w/])(?:GATT|GAP|SM|L2CAP|LL|RAS|RAP)/(?:[\w/-]*\w)?")
CASES = re.compile(r"((?:[A-Z]+/)?B[VI]-)(\d\d)(?:\.\.(\d\d))?$")


class Case(NamedTuple):
    name: str
    waits_for: str | None

    @property
    def profile(self) -> str:
        return self.name.split("/")[0]


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
    return {name for test in citations.all_tests() for name in NAMED.findall(test.says)}


def counts() -> list[tuple[str, int, int]]:
    """For each profile: its name, the number of cases that a test proves, and the number in the list."""
    names, listed = proved(), cases()
    profiles = dict.fromkeys(case.profile for case in listed)
    return [
        (
            profile,
            sum(case.profile == profile and case.name in names for case in listed),
            sum(case.profile == profile for case in listed),
        )
        for profile in profiles
    ]


def complaints() -> list[str]:
    names, listed = proved(), cases()
    known = {case.name for case in listed}
    found = [f"{name}: a test names this case, and {LIST.name} does not have it" for name in sorted(names - known)]
    for case in listed:
        if case.name in names and case.waits_for:
            found.append(f"{case.name}: has a test, and yet is said to wait for {case.waits_for}")
        if case.name not in names and not case.waits_for:
            found.append(f"{case.name}: has no test and no reason")
    if len(known) != len(listed):
        found.append(f"{LIST.name} has a case twice")
    return found


def main(arguments: list[str] = sys.argv[1:]) -> int:
    if "--check" in arguments:
        found = complaints()
        print("\n".join(found), end="\n" if found else "")
        return 1 if found else 0
    for profile, done, total in counts():
        print(f"{profile:6} {done:4} of {total} cases have a test")
    names = proved()
    for case in cases():
        if case.name not in names:
            print(f"{case.name:24} no test: {'waits for ' + case.waits_for if case.waits_for else 'no reason'}")
        elif "--all" in arguments:
            print(f"{case.name:24} proved")
    return 0


if __name__ == "__main__":
    sys.exit(main())
