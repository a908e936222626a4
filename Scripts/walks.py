#!/usr/bin/env python3
"""Checks that the files and folders named in ARCHITECTURE.md and CONTRIBUTING.md exist.

    Scripts/walks.py    fails, and prints each path that does not exist

A path is backquoted text up to the first space, relative to the root of the repository (`Sources/GAP/Connecting`) or to
Sources (`GAP/Connecting`), with a slash. The bare name of a source file (`Connector.swift`) may be in any directory. A
path counts if its ending is that of a file here, or if its first part is a folder of the repository, a module, or a
folder of a module. The targets of links count too.
"""
import re
import sys
from pathlib import Path

DOCUMENTS = [Path("ARCHITECTURE.md"), Path("CONTRIBUTING.md")]
SOURCES = "Sources"
QUOTED = re.compile(r"(?<!`)`([^`\s]+)(?: [^`]*)?`(?!`)")
LINK = re.compile(r"\]\((?!\w+:|#)([^)#]+)")
PATH = re.compile(r"^[A-Za-z.][\w.+-]*(?:/[\w.+-]+)+/?$|^[A-Za-z]\w*/$")
FILE = re.compile(r"^[A-Za-z][\w+-]*\.(?:swift|py)$")
# A case of the qualification test suites, whose name may start like a module's.
CASE = re.compile(r"/B[VI]-\d+")
ENDINGS = (".swift", ".py", ".md")


def folders(root: Path) -> set[str]:
    """The names that a path may start with."""
    # What a build makes is not there in a fresh clone.
    found = {each.name for each in root.iterdir() if each.is_dir() and each.name != ".build"}
    sources = root / SOURCES
    return found | {each.name for pattern in ["*", "*/*"] for each in sources.glob(pattern) if each.is_dir()}


def wrong(name: str, text: str, root: Path) -> list[str]:
    """Complaints about the paths in a document."""
    first_parts, found = folders(root), []
    files = {each.name for top in (SOURCES, "Tests", "Scripts", "Interop") for each in (root / top).rglob("*.*")}
    files |= {each.name for each in root.iterdir()}
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        fenced = fenced != line.startswith("```")
        if fenced:
            continue
        for match in QUOTED.finditer(line):
            path = match[1]
            if CASE.search(path):
                continue
            if FILE.match(path):
                exists = path in files
            elif PATH.match(path) and (path.endswith(ENDINGS) or path.split("/")[0] in first_parts):
                exists = (root / path).exists() or (root / SOURCES / path).exists()
            else:
                continue
            if not exists:
                found.append(f"{name}:{number}: there is no {path}")
        found += [f"{name}:{number}: there is no {match[1]}" for match in LINK.finditer(line) if not (root / match[1]).exists()]
    return found


def main() -> int:
    found = [each for document in DOCUMENTS for each in wrong(str(document), document.read_text(), Path())]
    for line in found:
        print(line)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
