#!/usr/bin/env python3
"""Checks that GitHub's workflows only call scripts of this repository, so that each step also runs on any machine.

    Scripts/workflows.py    fails, and prints each line that is wrong

A step is either `uses:` with an action of ACTIONS, or `run:` with the path of an executable file and plain arguments:
no shell syntax and no expressions, whose values belong in `env:`. Of YAML, only what these workflows need is accepted:
one mapping or list entry per line, with plain or quoted values. So nothing that runs can hide from this check.
"""
import os
import re
import sys
from pathlib import Path

DIRECTORY = Path(".github/workflows")
ACTIONS = re.compile(r"actions/checkout@v\d+")
# They would change what a call means.
FORBIDDEN = {"shell", "working-directory", "defaults", "entrypoint", "args"}

PLAIN = r"[\w./$-](?:(?!: | #)[^\n])*"
QUOTED = r"'[^'\n]*'|\"[^\"\\\n]*\""
VALUE = rf"(?:{PLAIN}|{QUOTED}|\[[\w ,.-]+\])"
ENTRY = re.compile(rf"^(?P<indent> *(?:- )?)(?P<key>[A-Za-z_][\w-]*):(?: +(?P<value>{VALUE}))?(?: +#.*)?$")
ITEM = re.compile(rf"^(?P<indent> *)- (?P<value>(?![A-Za-z_][\w-]*:(?: |$)){VALUE})(?: +#.*)?$")
UNREADABLE = "this check cannot read the line"
WORD = re.compile(r"[\w./:=@%+,-]+")


def call(text: str | None, root: Path) -> str | None:
    """What is wrong with the value of a `run:`, or None."""
    words = (text or "").rstrip(" ").split(" ")
    if not all(WORD.fullmatch(word) for word in words):
        return "run: is not a plain call of a script"
    script = Path(words[0])
    if script.is_absolute() or ".." in script.parts or "=" in words[0]:
        return f"{words[0]} is no path within the repository"
    if not (root / script).is_file():
        return f"there is no {words[0]}"
    if not os.access(root / script, os.X_OK):
        return f"{words[0]} is not executable"
    return None


def line_fault(line: str, root: Path) -> str | None:
    """What is wrong with a line of a workflow, or None."""
    if ITEM.match(line):
        return None
    entry = ENTRY.match(line)
    if not entry:
        return UNREADABLE
    key, value = entry["key"], entry["value"]
    if key in FORBIDDEN:
        return f"{key}: is not allowed"
    if key == "uses" and not ACTIONS.fullmatch(value or ""):
        return f"the action {value} is not allowed"
    return call(value, root) if key == "run" else None


def wrong(name: str, text: str, root: Path) -> list[str]:
    """Complaints about a workflow."""
    found: list[str] = []
    limit: int | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip(" ").startswith("#"):
            continue
        # A deeper line after a value continues it, whatever the line looks like.
        is_continued = limit is not None and len(line) - len(line.lstrip(" ")) > limit
        if fault := UNREADABLE if is_continued else line_fault(line, root):
            found.append(f"{name}:{number}: {fault}")
        read = ENTRY.match(line) or ITEM.match(line)
        limit = len(read["indent"]) if read and read["value"] else None
    return found


def main() -> int:
    files = sorted([*DIRECTORY.glob("*.yml"), *DIRECTORY.glob("*.yaml")])
    found = [each for file in files for each in wrong(str(file), file.read_text(), Path())]
    found += [] if files else [f"there are no workflows in {DIRECTORY}"]
    for line in found:
        print(line)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
