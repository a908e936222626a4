#!/usr/bin/env python3
"""Writes Documentation/BehavioursByName.md: which rules of Behaviours.md are about which name of Apple's API.

    Scripts/behaviours_by_name.py            writes the document
    Scripts/behaviours_by_name.py --check    fails if it differs

The names are those of api-checklist.csv. A rule is about a name if its text has the name in backquotes, or if the index
of topics in Behaviours.md lists the rule for it. A method of a delegate has the name of its second argument:
`didConnect` is `centralManager(_:didConnect:)`.
"""
import csv
import re
import sys
from pathlib import Path
from typing import Iterator, NamedTuple

RULES, CHECKLIST = Path("Documentation/Behaviours.md"), Path("Scripts/api-checklist.csv")
INDEX = Path("Documentation/BehavioursByName.md")
TOPICS = "## Index by API"
RULE = re.compile(r"^- \*\*(\d+\.\d+)\*\* ", re.M)
QUOTED = re.compile(r"`([^`]+)`")
NUMBERS = re.compile(r"(\d+\.\d+)(?:–(\d+\.\d+))?")
WORD = re.compile(r"[A-Za-z]\w*")
LABEL = re.compile(r"(?:^|, )(\w+)(?: \w+)?:")
# A type in Behaviours.md, and the one that declares what it inherits.
PARENTS = {"CBPeripheral": "CBPeer", "CBCentral": "CBPeer", "CBCentralManager": "CBManager", "CBPeripheralManager": "CBManager"}
# Delegate methods begin with the sender.
SENDERS = {"centralManager", "peripheralManager", "peripheral"}
HEAD = """# Behaviours by API name

Which rules of [Behaviours](Behaviours.md) are about which name of Core Bluetooth. `Scripts/behaviours_by_name.py` writes
this page from the rules and from the list of Apple's symbols. A method of a delegate has the name of its second
argument: `didConnect` is `centralManager(_:didConnect:)`. Names without a rule are missing here.

| name | of | rules |
| --- | --- | --- |
"""


class Symbol(NamedTuple):
    owner: str
    name: str
    # The arguments of a method, such as `_:options:`.
    labels: str = ""


def symbol(text: str) -> Symbol:
    """The name of a symbol in the checklist, and its type: `CBManager.state: CBManagerState` is `state` of `CBManager`."""
    signature, _, arguments = text.partition("(")
    path = signature.split(":")[0].strip().split(".")
    name, owner = path[-1], ".".join(path[:-1])
    labels = LABEL.findall(arguments)
    if name in SENDERS and len(labels) > 1:
        name = labels[1]
    return Symbol(owner, name, "".join(f"{label}:" for label in labels))


def symbols(text: str) -> set[Symbol]:
    found = {symbol(row["symbol"]) for row in csv.DictReader(text.splitlines())}
    return {each for each in found if each.name not in ("init", "rawValue", "hash")}


def rules(text: str) -> Iterator[tuple[str, str]]:
    """The number and the text of each rule."""
    starts = list(RULE.finditer(text))
    for match, following in zip(starts, [*starts[1:], None]):
        body = text[match.end():following.start() if following else len(text)]
        yield match[1], re.split(r"\n\n|\n#", body)[0]


def topics(text: str, known: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    """The words of each row in the index of topics, and its rules."""
    part = text.partition(TOPICS)[2].partition("\n## ")[0]
    for line in part.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 2 and QUOTED.search(cells[0]):
            yield QUOTED.findall(cells[0]), expanded(cells[1], known)


def expanded(text: str, known: list[str]) -> list[str]:
    """The rules of a list such as `1.1–1.3, 2.4`."""
    numbers = []
    for first, last in NUMBERS.findall(text):
        low, high = order(first), order(last or first)
        numbers += [each for each in known if low <= order(each) <= high]
    return numbers


def order(number: str) -> tuple[int, int]:
    chapter, rule = number.split(".")
    return int(chapter), int(rule)


def meant(quoted: str, all_symbols: set[Symbol]) -> set[Symbol]:
    """The symbols that a quoted text names: `connect(_:options:)`, `CBError.unknown`, `…DidUpdateState`."""
    signature, _, arguments = quoted.partition("(")
    path, labels = WORD.findall(signature), arguments.rstrip(")")
    if not path or " " in signature.strip():
        return set()
    name = path[-1]
    found = {
        each for each in all_symbols
        if (each.labels == labels and ":" in labels or ":" not in labels or labels not in {other.labels for other in all_symbols})
        and (each.name.endswith(name) if quoted.startswith("…") else name == each.name or name in SENDERS and ":" in labels)
    }
    for owner in [path[-2], PARENTS.get(path[-2])] if len(path) > 1 else []:
        owned = {each for each in found if each.owner.split(".")[-1] == owner}
        if owned:
            return owned
    return set() if len(path) > 1 else found


def shortened(numbers: set[str], known: list[str]) -> str:
    """The list of rules, with runs of three or more as `1.1–1.3`."""
    ordered = sorted(numbers, key=order)
    runs: list[list[str]] = []
    for each in ordered:
        if runs and known.index(each) == known.index(runs[-1][-1]) + 1 and order(each)[0] == order(runs[-1][-1])[0]:
            runs[-1].append(each)
        else:
            runs.append([each])
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 2 else ", ".join(run) for run in runs)


def index(rule_text: str, checklist: str) -> str:
    all_symbols, texts = symbols(checklist), dict(rules(rule_text))
    known = sorted(texts, key=order)
    found: dict[Symbol, set[str]] = {}
    for number, text in texts.items():
        for quoted in QUOTED.findall(" ".join(text.split())):
            for each in meant(quoted, all_symbols):
                found.setdefault(each, set()).add(number)
    for words, numbers in topics(rule_text, known):
        owner = ""
        for word in words:
            # A name without a type belongs to the type before it, if that has it.
            owner = word.partition("(")[0].rpartition(".")[0] or owner
            for each in meant(f"{owner}.{word}", all_symbols) or meant(word, all_symbols):
                found.setdefault(each, set()).update(numbers)
    rows: dict[tuple[str, str], set[str]] = {}
    for each, numbers in found.items():
        rows.setdefault((each.name, shortened(numbers, known)), set()).add(each.owner)
    lines = []
    for (name, numbers), owners in sorted(rows.items(), key=lambda row: (row[0][0].lower(), row[0], row[1])):
        named = ", ".join(f"`{owner}`" for owner in sorted(owners) if owner)
        lines.append(f"| `{name}` | {named} | {numbers} |\n")
    return HEAD + "".join(lines)


def main(arguments: list[str] = sys.argv[1:]) -> int:
    new = index(RULES.read_text(), CHECKLIST.read_text())
    if "--check" in arguments:
        if not INDEX.exists() or INDEX.read_text() != new:
            print(f"{INDEX} is out of date; run Scripts/behaviours_by_name.py")
            return 1
        return 0
    INDEX.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
