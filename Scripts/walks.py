#!/usr/bin/env python3
"""Checks that documents name only what exists.

    Scripts/walks.py    fails, and prints each path, name, test and anchor that does not exist

A path is backquoted text up to the first space, relative to the root of the repository (`Sources/Stack/GAP/Connecting`) or to
Sources (`GAP/Connecting`), with a slash. The bare name of a source file (`Connector.swift`) may be in any directory, and
in one only. A path counts if its ending is that of a file here, or if its first part is a folder of the repository, a
module, or a folder of a module. The targets of links count too, and their anchors in every document.

A name is that of a type or module (`Connector`, `AccessLink.End`), of a member (`AdvertisingTempo.background`,
`.willRestore`, `isSlow`), or of a function with its labels (`want(_:)`). In sequence diagrams the participants are
types, and the messages are searched for the names of types, members and functions. A test is what `swift test --filter`
has in Scripts/README.md.
"""
import re
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Iterator, NamedTuple

ARCHITECTURE = Path("ARCHITECTURE.md")
# Documents about the code: their paths and names are checked.
DESIGN = [ARCHITECTURE, *(Path("Documentation") / f"{each}.md" for each in ["Apps", "Dependencies", "Glossary", "Security", "Stack", "Transports"])]
COMMANDS = Path("Scripts/README.md")
DOCUMENTS = [*DESIGN, Path("CONTRIBUTING.md"), COMMANDS]
COLUMNS = 120
SOURCES = "Sources"
SWIFT = [SOURCES, "Tests", "Fuzzing", "Benchmarks", "Compatibility"]
QUOTED = re.compile(r"(?<!`)`([^`\s]+)(?: [^`]*)?`(?!`)")
LINK = re.compile(r"\]\((?!\w+:|#)([^)#]+)")
ANCHOR = re.compile(r"\]\((?!\w+:)([^)#]*)#([^)]+)\)")
PATH = re.compile(r"^[A-Za-z.][\w.+-]*(?:/[\w.+-]+)+/?$|^[A-Za-z]\w*/$")
FILE = re.compile(r"^[A-Za-z][\w+-]*\.(?:swift|py)$")
# A case of the qualification test suites, whose name may start like a module's.
CASE = re.compile(r"/B[VI]-\d+")
ENDINGS = (".swift", ".py", ".md")

# Types, and a member or a function after them.
NAME = re.compile(r"^\.?(?:[A-Z]\w*\.)*[A-Za-z]\w*(?:\((?:\w+:)*\))?$")
COMMENT = re.compile(r"//.*")
TYPES_DECLARED = re.compile(r"\b(?:class|struct|enum|protocol|actor|typealias|associatedtype)\s+([A-Z]\w*)")
EXTENDED = re.compile(r"\bextension\s+(?:\w+\.)*([A-Z]\w*)")
MEMBERS_DECLARED = re.compile(r"\b(?:var|let|func)\s+`?(\w+)|\bcase\s+((?:\w+(?:\([^)]*\))?(?:\s*=\s*[^,\n]+)?,\s*)*\w+)")
FUNCTIONS_DECLARED = re.compile(r"\bfunc\s+(\w+)\s*(?:<[^(]*>)?\(")
MESSAGE = re.compile(r"^\s*(\w+)-+>>(\w+): (.*)$")
MESSAGE_TYPE = re.compile(r"\b(?:[A-Z]+[a-z]+\w*[A-Z]\w*|[A-Z]{2,}[a-z]\w+)\b")
MESSAGE_MEMBER = re.compile(r"(?<!\w)\.[a-z]\w+|(?<![\w:(])[a-z]+[A-Z]\w*\b(?![(:])")
MESSAGE_FUNCTION = re.compile(r"\b[a-z]\w*\((?:\w+:)*\)")
# Types that other packages declare, and keys of an app's Info.plist.
FOREIGN = {"ByteBuffer", "Data", "HaraldLaunch", "HaraldManaged"}
PROPERTY_LIST = "Info.plist"
FILTERED = re.compile(r"swift test --filter (\w+)`")


class Names(NamedTuple):
    """The names that documents may use."""
    types: set[str]
    members: set[str]
    functions: set[str]
    # What the files declare that declare a type or extend it.
    of_type: dict[str, set[str]]

    def has(self, word: str) -> bool:
        owner, *parts = word.split(".")
        found = owner == "" or owner in (self.functions if "(" in owner else self.types if owner[0].isupper() else self.members)
        for part in parts:
            found = found and part in (self.of_type.get(owner, set()) if owner else self.members | self.functions)
            owner = part
        return found


def folders(root: Path) -> set[str]:
    """The names that a path may start with."""
    # What a build makes is not there in a fresh clone.
    found = {each.name for each in root.iterdir() if each.is_dir() and each.name != ".build"}
    sources = root / SOURCES
    return found | {each.name for pattern in ["*", "*/*", "*/*/*"] for each in sources.glob(pattern) if each.is_dir()}


def wrong(name: str, text: str, root: Path) -> list[str]:
    """Complaints about the paths in a document."""
    first_parts, found = folders(root), []
    files = Counter(each.name for top in (SOURCES, "Tests", "Scripts", "Interop") for each in (root / top).rglob("*.*"))
    files.update(each.name for each in root.iterdir())
    place = root / Path(name).parent
    for number, line in prose(text):
        for match in QUOTED.finditer(line):
            path = match[1]
            if CASE.search(path):
                continue
            if FILE.match(path):
                exists = path in files
                if files[path] > 1:
                    found.append(f"{name}:{number}: {files[path]} files are called {path}")
            elif PATH.match(path) and (path.endswith(ENDINGS) or path.split("/")[0] in first_parts):
                exists = (root / path).exists() or any((root / SOURCES).glob(f"*/{path}"))
            else:
                continue
            if not exists:
                found.append(f"{name}:{number}: there is no {path}")
        found += [f"{name}:{number}: there is no {match[1]}" for match in LINK.finditer(line) if not (place / match[1]).exists()]
    return found


def broken(name: str, text: str, root: Path) -> list[str]:
    """Complaints about the targets of links, for documents whose paths in backquotes are not only of this repository."""
    place = root / Path(name).parent
    return [f"{name}:{number}: there is no {match[1]}" for number, line in prose(text) for match in LINK.finditer(line)
            if not (place / match[1]).exists()]


def prose(text: str) -> Iterator[tuple[int, str]]:
    """The numbered lines of a document outside of code blocks."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def diagrams(text: str) -> Iterator[tuple[int, re.Match[str]]]:
    """The messages of the sequence diagrams."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            inside = line == "```mermaid"
        elif inside and (match := MESSAGE.match(line)):
            yield number, match


def signatures(text: str) -> Iterator[str]:
    """The names of the functions that Swift code declares, with their labels: `want(_:)`."""
    for match in FUNCTIONS_DECLARED.finditer(text):
        depth, start, labels = 1, match.end(), ""
        for place in range(match.end(), len(text)):
            character = text[place]
            is_arrow = text[place - 1:place + 1] == "->"
            depth += (character in "([{<") - (character in ")]}>" and not is_arrow)
            if depth == 0 or (character == "," and depth == 1):
                if words := text[start:place].split():
                    labels += words[0].rstrip(":") + ":"
                start = place + 1
            if depth == 0:
                break
        yield f"{match[1]}({labels})"


@cache
def declared(root: Path) -> Names:
    package = root / "Package.swift"
    names = Names(set(FOREIGN), set(), set(), {})
    if package.exists():
        # Products and traits.
        names.types.update(re.findall(r'"(\w+)"', package.read_text()))
    names.types.update(each.name for modules in ("Sources/*", "Sources/*/*", "Sources/*/*/*", "Tests/*", "Tests/Fixtures/*") for each in root.glob(modules))
    for path in (path for top in SWIFT for path in (root / top).rglob("*.swift") if ".build" not in path.parts):
        text = COMMENT.sub("", path.read_text())
        types, functions, members = set(TYPES_DECLARED.findall(text)), set(signatures(text)), set()
        for member, cases in MEMBERS_DECLARED.findall(text):
            members.update([member] if member else re.findall(r"\w+", cases))
        names.types.update(types)
        names.functions.update(functions)
        names.members.update(members)
        for owner in types | set(EXTENDED.findall(text)):
            names.of_type.setdefault(owner, set()).update(types, functions, members)
    return names


def unknown(name: str, text: str, names: Names) -> list[str]:
    """Complaints about the names of types, members and functions in a document."""
    found = []

    def check(number: int, word: str, known: bool) -> None:
        if not known:
            found.append(f"{name}:{number}: nothing declares {word}")

    for number, line in prose(text):
        for match in QUOTED.finditer(line):
            word = match[1]
            if FILE.match(word) or word == PROPERTY_LIST:
                continue
            # Words such as `hci0`, `harald` and `HARALD_SERVICE` are not from the code.
            if NAME.match(word) and ("." in word or "(" in word or word not in (word.lower(), word.upper())):
                check(number, word, names.has(word))
    for number, message in diagrams(text):
        for word in (*message.groups()[:2], *MESSAGE_TYPE.findall(message[3])):
            check(number, word, word in names.types)
        for word in MESSAGE_FUNCTION.findall(message[3]) + MESSAGE_MEMBER.findall(message[3]):
            check(number, word, names.has(word))
    return found


def without_test(name: str, text: str, names: Names) -> list[str]:
    """Complaints about commands that run a suite or a test that does not exist."""
    return [f"{name}:{number}: there is no test {match[1]}" for number, line in prose(text) for match in FILTERED.finditer(line)
            if not names.has(match[1])]


def headings(text: str) -> set[str]:
    """The anchors of a document, as GitHub makes them."""
    titles = (line.lstrip("#").strip().lower() for _, line in prose(text) if line.startswith("#"))
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}


def dangling(name: str, text: str, root: Path) -> list[str]:
    """Complaints about anchors that no heading has."""
    found = []
    for number, line in prose(text):
        for match in ANCHOR.finditer(line):
            target = root / Path(name).parent / match[1] if match[1] else root / name
            if target.suffix == ".md" and (not target.exists() or match[2] not in headings(target.read_text())):
                found.append(f"{name}:{number}: there is no heading {match[1]}#{match[2]}")
    return found


def too_wide(name: str, text: str) -> list[str]:
    """Complaints about the lines of a document that are read as they are, as in a terminal."""
    return [f"{name}:{number}: {len(line)} columns, at most {COLUMNS}" for number, line in enumerate(text.splitlines(), 1)
            if len(line) > COLUMNS]


def main() -> int:
    root = Path()
    found = [each for document in DOCUMENTS for each in wrong(str(document), document.read_text(), root)]
    found += [each for document in DESIGN for each in unknown(str(document), document.read_text(), declared(root))]
    for document in [*sorted(root.glob("*.md")), *sorted(root.glob("*/*.md"))]:
        found += dangling(str(document), document.read_text(), root)
        if document not in DOCUMENTS:
            found += broken(str(document), document.read_text(), root)
    found += without_test(str(COMMANDS), COMMANDS.read_text(), declared(root))
    found += too_wide(str(ARCHITECTURE), ARCHITECTURE.read_text())
    for line in found:
        print(line)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
