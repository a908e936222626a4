"""Runs each suite once with all mutants off, and keeps which places of mutants it comes by and how long it takes.

A suite is measured again when the sources or its own test target change.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

from . import planting
from .places import TREE, WORK
from .processes import run_tests


def measure(binary: Path, last: int) -> dict[str, dict]:
    """By suite: its `tests`, `seconds` of CPU time, and the numbers of the mutants `seen`. What is known is not run again."""
    path = WORK / "reach.jsonl"
    known = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    wanted = suites_of(binary)
    trees = {target: planting.fingerprint(target) for target in {name.split(".")[0] for name in wanted}}
    suites = {suite["name"]: suite for suite in known if suite["tree"] == trees.get(suite["name"].split(".")[0])}
    suites = {name: suite for name, suite in suites.items() if name in wanted}
    with path.open("a") as file:
        for name in wanted.keys() - suites.keys():
            about = {"name": name, "tests": wanted[name], "tree": trees[name.split(".")[0]]}
            suites[name] = measured(binary, name, last) | about
            file.write(json.dumps(suites[name]) + "\n")
            file.flush()
            print(f"\rMutation/run: {len(suites)} of {len(wanted)} suites pass", end="", file=sys.stderr, flush=True)
    print(f"\rMutation/run: {len(wanted)} suites pass with all mutants off", file=sys.stderr, flush=True)
    return suites


def measured(binary: Path, name: str, last: int) -> dict:
    seen = WORK / "seen"
    seen.write_bytes(bytes(last + 1))
    outcome = run_tests(binary, [name], {"HARALD_MUTANTS_SEEN": str(seen)}, 600)
    if outcome.name != "passed":
        sys.exit("\n".join(outcome.said[-40:]) + f"\nMutation/run: {name} {outcome.name} with all mutants off")
    numbers = [number for number, octet in enumerate(seen.read_bytes()) if octet]
    return {"seconds": round(outcome.seconds, 2), "seen": numbers}


def suites_of(binary: Path) -> dict[str, list[str]]:
    """The tests of each `Target.Suite`; a test without a suite is listed on its own, as `Target.test()`."""
    command = [binary, "--testing-library", "swift-testing", "--list-tests"]
    listed = subprocess.run(command, cwd=TREE, capture_output=True, text=True, check=True)
    suites: dict[str, list[str]] = {}
    for line in sorted(listed.stdout.splitlines()):
        if re.match(r"\w+\.\S", line):
            suites.setdefault(line.split("/")[0], []).append(re.split(r"[/.]", line)[-1])
    return suites
