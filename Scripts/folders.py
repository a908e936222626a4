#!/usr/bin/env python3
"""Compares the dependencies between the folders of each module with folders.txt, which lists the allowed ones.

    Scripts/folders.py --check         fails on an arrow that is not in the list, with the place and the name used, and on a
                                       cycle in the list
    Scripts/folders.py --list MODULE   the lines for a module, from its sources

The list has a module on a line of its own, and below it each folder with the folders that it may use:

    GATT
        . : Client Server Database
        Client : Database

`.` stands for the files beside the folders. A module without folders is not listed.
"""
import argparse
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

from swift_source import arrows, tree

LIST = Path("Scripts/folders.txt")
MODULE, FOLDER = re.compile(r"^(\w+)$"), re.compile(r"^\s+(\S+)\s*:(?:\s+(.*))?$")


@dataclass
class Allowed:
    # By module, and by folder in it.
    arrows: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)


def parse(text: str) -> Allowed:
    allowed, module = Allowed(), ""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if match := MODULE.match(line):
            module = match[1]
            allowed.arrows[module] = {}
        elif module and (match := FOLDER.match(line)):
            allowed.arrows[module][match[1]] = (match[2] or "").split()
        else:
            allowed.complaints.append(f"{LIST}:{number}: neither a module nor a folder with those that it may use: {line.strip()}")
    return allowed


def complaints(allowed: Allowed, modules: list[tree.Module]) -> list[str]:
    found = list(allowed.complaints)
    names = {module.name for module in modules}
    found += [f"{LIST}: there is no module {name}" for name in set(allowed.arrows) - names]
    for module in modules:
        if module.name in allowed.arrows:
            found += in_module(module, modules, allowed.arrows[module.name])
        elif len(module.folders) > 1:
            found.append(f"{LIST}: {module.name} is missing; Scripts/folders.py --list {module.name} prints its lines")
    return found


def in_module(module: tree.Module, modules: list[tree.Module], listed: dict[str, list[str]]) -> list[str]:
    """Complaints about the list of a module, and about arrows that are not in it."""
    named = set(listed) | {target for targets in listed.values() for target in targets}
    found = [f"{LIST}: {module.name} has no folder {name}" for name in sorted(named - set(module.folders))]
    found += [f"{LIST}: {module.name}/{name} is missing" for name in sorted(set(module.folders) - set(listed))]
    edges = {(source, target) for source, targets in listed.items() for target in targets}
    found += [f"{LIST}: {module.name}: a cycle of {' '.join(group)}" for group in arrows.cycles(edges)]
    found += [f"{use.path}:{use.line}: {module.name}/{use.source} may not use {use.target}, which declares {use.name} ({LIST})"
              for use in arrows.uses_between(module, modules) if (use.source, use.target) not in edges]
    return found


def lines(module: tree.Module, modules: list[tree.Module]) -> list[str]:
    edges = {(use.source, use.target) for use in arrows.uses_between(module, modules)}
    order = arrows.from_the_top(list(module.folders), edges)
    return [module.name] + [f"    {source} : {' '.join(target for target in order if (source, target) in edges)}".rstrip()
                            for source in order]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true", help="fail on an arrow that is not in the list")
    what.add_argument("--list", metavar="MODULE", help="the lines for a module")
    options = parser.parse_args()
    modules = tree.load()
    if options.list:
        print("\n".join(line for module in modules if module.name == options.list for line in lines(module, modules)))
        return 0
    found = complaints(parse(LIST.read_text()), modules)
    print("\n".join(found), end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
