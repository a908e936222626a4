#!/usr/bin/env python3
"""Compares the dependencies between the folders of each module with folders.txt, which lists the allowed ones.

    Scripts/folders.py                 counts
    Scripts/folders.py --check         fails on an arrow that is not in the list, with the place and the name used; on a cycle
                                       in the list; and on a tangled module with more folders in cycles than before
    Scripts/folders.py --list MODULE   the lines for a module, from its sources
    Scripts/folders.py --lower         writes the current numbers of tangled modules, where they are lower

The list has a module on a line of its own, and below it each folder with the folders that it may use:

    GATT
        . : Client Server Database
        Client : Database

`.` stands for the files beside the folders. A module whose folders still have cycles is listed as `tangled: GATT 4`,
with the number of folders in cycles, which may only shrink. A module without folders is not listed. Scripts/shape
--folders MODULE shows the arrows.
"""
import argparse
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

from shape_of import arrows, measures, tree

LIST = Path("Scripts/folders.txt")
MODULE, FOLDER = re.compile(r"^(\w+)$"), re.compile(r"^\s+(\S+)\s*:(?:\s+(.*))?$")
TANGLED = re.compile(r"^tangled: (\w+) (\d+)$")


@dataclass
class Allowed:
    # By module, and by folder in it.
    arrows: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    tangled: dict[str, int] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)


def parse(text: str) -> Allowed:
    allowed, module = Allowed(), ""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if match := TANGLED.match(line):
            allowed.tangled[match[1]] = int(match[2])
        elif match := MODULE.match(line):
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
    for name in {*allowed.arrows, *allowed.tangled} - names:
        found.append(f"{LIST}: there is no module {name}")
    for module in modules:
        if module.name in allowed.tangled:
            if module.name in allowed.arrows:
                found.append(f"{LIST}: {module.name} is tangled, and has folders listed")
            before, now = allowed.tangled[module.name], tangled(module, modules)
            if now > before:
                found.append(f"{tree.SOURCES / module.name}: {now} folders in cycles, {LIST} allows {before}; "
                             f"Scripts/shape --folders {module.name} shows the arrows")
        elif module.name in allowed.arrows:
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
              for use in measures.folder_uses(module, modules) if (use.source, use.target) not in edges]
    return found


def tangled(module: tree.Module, modules: list[tree.Module]) -> int:
    edges = {(use.source, use.target) for use in measures.folder_uses(module, modules)}
    return sum(map(len, arrows.cycles(edges)))


def lowered(allowed: Allowed, modules: list[tree.Module]) -> dict[str, int]:
    """The tangled modules that have fewer folders in cycles than listed."""
    return {module.name: now for module in modules if module.name in allowed.tangled
            for now in [tangled(module, modules)] if now < allowed.tangled[module.name]}


def lines(module: tree.Module, modules: list[tree.Module]) -> list[str]:
    edges = {(use.source, use.target) for use in measures.folder_uses(module, modules)}
    if count := sum(map(len, arrows.cycles(edges))):
        return [f"tangled: {module.name} {count}"]
    order = arrows.from_the_top(list(module.folders), edges)
    return [module.name] + [f"    {source} : {' '.join(target for target in order if (source, target) in edges)}".rstrip()
                            for source in order]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="fail on an arrow that is not in the list")
    what.add_argument("--list", metavar="MODULE", help="the lines for a module")
    what.add_argument("--lower", action="store_true", help="write lower numbers of tangled modules")
    options = parser.parse_args()
    modules = tree.load()
    if options.list:
        print("\n".join(line for module in modules if module.name == options.list for line in lines(module, modules)))
        return 0
    text = LIST.read_text()
    allowed = parse(text)
    lower = lowered(allowed, modules)
    if options.lower:
        for name, now in lower.items():
            replacement = f"tangled: {name} {now}" if now else "\n".join(lines(next(m for m in modules if m.name == name), modules))
            text = re.sub(rf"^tangled: {name} \d+$", replacement, text, flags=re.M)
        LIST.write_text(text)
        return 0
    found = complaints(allowed, modules)
    for line in found if options.check else []:
        print(line)
    for name, now in lower.items():
        print(f"note: {LIST}: {name} has {now} folders in cycles now; Scripts/folders.py --lower writes that")
    if not options.check:
        print(f"{len(allowed.arrows)} modules without cycles, {len(allowed.tangled)} tangled with {sum(allowed.tangled.values())} "
              f"folders in cycles, {len(found)} complaints")
    return bool(found) if options.check else 0


if __name__ == "__main__":
    sys.exit(main())
