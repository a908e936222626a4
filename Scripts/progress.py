#!/usr/bin/env python3
"""Runs a build or the Swift tests, and shows their progress and failures instead of thousands of lines.

    Scripts/progress.py NAME COMMAND...      the whole output goes to .build/NAME.log

The exit status is that of the command.
"""
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Not on a terminal, progress is printed as an occasional line.
PAUSE = 0.2 if sys.stdout.isatty() else 15.0
# For a run that ends without a named failure.
LAST_LINES = 40
# For the tests that were running then.
MAXIMUM_NAMED = 20

STEP = re.compile(r"^\[(\d+)/(\d+)\]")
STARTED = re.compile(r"^◇ Test (?!case |run )(.+) started\.$")
# The library reports tests that passed only after nearly all have; it reports test cases one by one.
CASE = re.compile(r"^◇ Test case .* started\.$")
ENDED = re.compile(r"^(✔|✘) Test (?!case |run )(.+?)(?: with \d+ test cases?)? (?:passed|failed) after")
TOLD = re.compile(r"(?:^|\s)(?:error|warning):|^✘|^Fatal error|^✔ Test run|: Fatal error:|^Build complete")
# A build for the tests of some modules leaves libraries out.
UNUSED = re.compile(r"warning: .*: dependency '.*' is not used by any target$")
# Belongs to the previous line.
DETAIL = re.compile(r"^\s*(?:↳|\||`-|//|\d+ \|)")


class Progress:
    """The progress so far, from the output of the command."""

    def __init__(self) -> None:
        self.step = ""
        self.running: dict[str, None] = {}
        self.passed = self.failed = self.cases = 0
        self.begin = time.monotonic()
        self.last: list[str] = []
        self.is_telling = False
        self.has_told = False

    def take(self, line: str) -> bool:
        """Parses a line, and returns whether to show it."""
        self.last = (self.last + [line])[-LAST_LINES:]
        if match := STEP.match(line):
            self.step = f"{match[1]} of {match[2]} steps"
        self.cases += bool(CASE.match(line))
        if match := STARTED.match(line):
            self.running[match[1]] = None
        if match := ENDED.match(line):
            self.running.pop(match[2], None)
            self.passed += match[1] == "✔"
            self.failed += match[1] == "✘"
        is_detail = self.is_telling and bool(DETAIL.match(line))
        self.is_telling = is_detail or bool(TOLD.search(line)) and not UNUSED.search(line)
        self.has_told |= self.is_telling and not line.startswith(("✔", "Build complete"))
        return self.is_telling

    @property
    def state(self) -> str:
        if not (self.running or self.passed or self.failed):
            return self.step
        failed = f", {self.failed} failed" if self.failed else ""
        seconds = round(time.monotonic() - self.begin)
        if not self.passed:
            return f"{len(self.running)} tests with {self.cases} cases so far{failed}, {seconds} s"
        return f"{self.passed} tests passed{failed}, {len(self.running)} under way, {seconds} s"


class Screen:
    """Standard output: permanent lines and, on a terminal, one that changes."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.shown = ""
        self.time = time.monotonic()

    def line(self, text: str) -> None:
        self.clear()
        print(text, flush=True)

    def update(self, state: str) -> None:
        now = time.monotonic()
        if not state or state == self.shown or now - self.time < PAUSE:
            return
        self.time, self.shown = now, state
        if sys.stdout.isatty():
            print(f"\r\033[K{self.name}: {state}", end="", flush=True)
        else:
            print(f"{self.name}: {state}", flush=True)

    def clear(self) -> None:
        if self.shown and sys.stdout.isatty():
            print("\r\033[K", end="")


def ended(screen: Screen, progress: Progress, status: int, log: Path) -> None:
    screen.clear()
    if status == 0:
        return
    if not progress.has_told:
        screen.line("\n".join(progress.last))
    for name in list(progress.running)[:MAXIMUM_NAMED]:
        screen.line(f"was under way: {name}")
    screen.line(f"{screen.name} failed with {status}; all of it is in {log.relative_to(ROOT)}")


def main() -> int:
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    name, command = sys.argv[1], sys.argv[2:]
    log = ROOT / ".build" / f"{name}.log"
    log.parent.mkdir(exist_ok=True)
    screen, progress = Screen(name), Progress()
    with log.open("w") as file, subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        for line in process.stdout or ():
            file.write(line)
            if progress.take(line.rstrip("\n")):
                screen.line(line.rstrip("\n"))
            screen.update(progress.state)
        status = process.wait()
    ended(screen, progress, status, log)
    return status


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
