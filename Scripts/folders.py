#!/usr/bin/env python3
"""Compares the dependencies between the folders of each module with folders.txt, which lists the allowed ones, and finds
declarations that only tests use.

    Scripts/folders.py --check         fails on an arrow that is not in the list, with the place and the name used, on a
                                       cycle in the list, and on a `package` declaration without a use outside of tests
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
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from swift_source import arrows, tree
from swift_source.declarations import Declaration, File
from swift_source.tokens import NAME

LIST = Path("Scripts/folders.txt")
# What tests need all the same, with the reason.
FOR_TESTS = {
    "NIOEventLoop.shutDown": "a test ends the threads that it has started; a program keeps its loop until it exits",
    "GATTClient.writeSigned": "what foreign clients send to the server, which verifies signatures",
}
# Requirements of protocols of other packages, which call them.
WITNESS = re.compile(r"customMirror|(?:make|destroy)(?:Counter|FloatingPointCounter|Meter|Recorder|Timer)")
TYPES = {"struct", "class", "enum", "actor", "protocol"}
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


# --- declarations without a caller

Places = dict[str, list[tuple[File, int]]]  # by name: each token with it that declares nothing


def uncalled(modules: list[tree.Module], programs: list[File]) -> list[str]:
    """Complaints about `package` declarations whose names only tests use. `programs` are the other files that are no tests.

    A use inside a declaration that has none itself does not count. Members with the same name count as one, so that the
    check misses some and never complains without a reason."""
    files = [file for module in modules for file in module.files]
    places: Places = defaultdict(list)
    for file in files + programs:
        for index, token in enumerate(file.tokens):
            if token.kind == NAME and index not in file.declared_at:
                places[token.text.strip("`")].append((file, index))
    tables = constants(files, places)
    open_ones = [(file, each) for file in files for each in file.members if is_candidate(each, tables)]
    bodies: dict[str, list[tuple[int, int]]] = defaultdict(list)  # of declarations without a use, by path of the file
    found: dict[str, str] = {}  # the complaints by qualified name
    while unused := [(file, each) for file, each in open_ones if not is_used(file, each, files, places, bodies)]:
        open_ones = [each for each in open_ones if each not in unused]
        for file, each in unused:
            found[each.path] = f"{file.path}:{each.line}: only tests use {each.path}; remove it, or lower its access"
            for path, first, last in extents(file, each, files):
                bodies[path].append((first, last))
    needless = [f"{Path(__file__).name}: FOR_TESTS has {path} without need" for path in FOR_TESTS if path not in found]
    return [says for path, says in found.items() if path not in FOR_TESTS] + needless


def is_candidate(each: Declaration, tables: set[str]) -> bool:
    return (each.access == "package" and not each.local and each.name.isidentifier()
            and each.kind not in ("init", "subscript") and not WITNESS.fullmatch(each.name)
            and not (each.static and each.kind == "var" and each.owner in tables))


def constants(files: list[File], places: Places) -> set[str]:
    """The types with a table of constants, some of which are used. The table is complete for the sake of its readers."""
    named = [each for file in files for each in file.members if each.static and each.kind == "var"]
    counts, used = Counter(each.owner for each in named), {each.owner for each in named if places.get(each.name)}
    return {owner for owner in used if counts[owner] > 1}


def is_used(file: File, each: Declaration, files: list[File], places: Places, bodies: dict[str, list[tuple[int, int]]]) -> bool:
    uses = places.get(each.name, [])
    if len(uses) > 100:
        return True  # a common name, which would take long to look at
    own = extents(file, each, files)
    return not all(
        user.tokens[index - 1].text == "extension"
        or any(path == user.path and first <= index < last for path, first, last in own)
        or any(first <= index < last for first, last in bodies.get(user.path, ()))
        for user, index in uses
    )


def extents(file: File, each: Declaration, files: list[File]) -> list[tuple[str, int, int]]:
    """The tokens of a declaration, which for a type are in its extensions too."""
    if each.kind in TYPES:
        return [(other.path, scope.first, scope.last) for other in files for scope in other.scopes if scope.name == each.path]
    return [(file.path, each.first, each.last)]


def programs() -> list[File]:
    """The Swift files of the benchmarks, the examples and the other packages, without tests and what builds leave."""
    paths = [path for path in sorted(Path().glob("*/**/*.swift")) if path.parts[0] != tree.SOURCES.name
             and not any(part.startswith(".") or part.lower() == "tests" for part in path.parts)]
    return [tree.parse(str(path), path.read_text()) for path in paths]


def lines(module: tree.Module, modules: list[tree.Module]) -> list[str]:
    edges = {(use.source, use.target) for use in arrows.uses_between(module, modules)}
    order = arrows.from_the_top(list(module.folders), edges)
    return [module.name] + [f"    {source} : {' '.join(target for target in order if (source, target) in edges)}".rstrip()
                            for source in order]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true", help="fail on an arrow that is not in the list, and on what only tests use")
    what.add_argument("--list", metavar="MODULE", help="the lines for a module")
    options = parser.parse_args(arguments)
    modules = tree.load()
    if options.list:
        print("\n".join(line for module in modules if module.name == options.list for line in lines(module, modules)))
        return 0
    found = complaints(parse(LIST.read_text()), modules) + uncalled(modules, programs())
    print("\n".join(found), end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
