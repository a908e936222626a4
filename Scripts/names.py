#!/usr/bin/env python3
"""Compares the type names that two or more modules declare with names.txt.

    Scripts/names.py --check    fails on a name that a second module declares and that is not in the list, and on a line that
                                is no longer true
    Scripts/names.py            prints the current lines

A name counts if its type is at top level, or nested and visible to other modules. Types visible only in their file do
not count.
"""
import argparse
import sys
from pathlib import Path

from shape_of import names, tree

LIST = Path("Scripts/names.txt")


def listed(text: str) -> dict[str, set[str]]:
    """The modules of each name."""
    lines = [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return {line[0].rstrip(":"): set(line[1:]) for line in lines}


def complaints(text: str, modules: list[tree.Module]) -> list[str]:
    known, doubled = listed(text), names.doubled(modules)
    found = []
    for name, places in doubled.items():
        new = {module for module, _, _ in places} - known.get(name, set())
        all_modules = sorted({module for module, _, _ in places})
        found += [f"{path}:{line}: {module} declares {name}, which {others} declares too; a name belongs to one module"
                  for module, path, line in places if module in new
                  for others in [", ".join(each for each in all_modules if each != module)]]
    for name, before in known.items():
        now = {module for module, _, _ in doubled.get(name, [])}
        if gone := before - now:
            found.append(f"{LIST}: {name} is not doubled any more by {', '.join(sorted(gone))}; Scripts/names.py prints the lines")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="fail on a new name, and on an obsolete line")
    options = parser.parse_args()
    modules = tree.load()
    if not options.check:
        for name, places in names.doubled(modules).items():
            print(f"{name}: {' '.join(sorted({module for module, _, _ in places}))}")
        return 0
    found = complaints(LIST.read_text(), modules)
    for line in found:
        print(line)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
