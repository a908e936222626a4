"""Runs each suite once with all mutants off, and keeps which places of mutants it comes by and how long it takes."""
import json
import re
import subprocess
import sys
from pathlib import Path

from .places import TREE, WORK
from .processes import run_tests

REACH = WORK / "reach.json"


def measure(binary: Path, last: int, fingerprint: str) -> dict[str, dict]:
    """By suite: its `tests`, `seconds` of CPU time, and the numbers of the mutants `seen`."""
    if REACH.exists() and (known := json.loads(REACH.read_text()))["fingerprint"] == fingerprint:
        return known["suites"]
    seen, suites = WORK / "seen", {}
    names = suites_of(binary)
    for index, (name, tests) in enumerate(names.items()):
        seen.write_bytes(bytes(last + 1))
        outcome = run_tests(binary, [name], {"HARALD_MUTANTS_SEEN": str(seen)}, 600)
        if outcome.name != "passed":
            sys.exit("\n".join(outcome.said[-40:]) + f"\nMutation/run: {name} {outcome.name} with all mutants off")
        numbers = [number for number, octet in enumerate(seen.read_bytes()) if octet]
        suites[name] = {"seconds": round(outcome.seconds, 2), "tests": tests, "seen": numbers}
        if sys.stderr.isatty():
            print(f"\rMutation/run: {index + 1} of {len(names)} suites pass with all mutants off", end="", file=sys.stderr)
    print(f"\rMutation/run: {len(names)} suites pass with all mutants off", file=sys.stderr, flush=True)
    REACH.write_text(json.dumps({"fingerprint": fingerprint, "suites": suites}))
    return suites


def suites_of(binary: Path) -> dict[str, list[str]]:
    """The tests of each `Target.Suite`; a test without a suite stands by itself, as `Target.test()`."""
    command = [binary, "--testing-library", "swift-testing", "--list-tests"]
    listed = subprocess.run(command, cwd=TREE, capture_output=True, text=True, check=True)
    suites: dict[str, list[str]] = {}
    for line in sorted(listed.stdout.splitlines()):
        if re.match(r"\w+\.\S", line):
            suites.setdefault(line.split("/")[0], []).append(re.split(r"[/.]", line)[-1])
    return suites
