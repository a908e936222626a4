#!/usr/bin/env python3
"""Says which rules of Documentation/ are cited, which a test proves, and whether each number that is cited exists.

    Scripts/citations.py             counts: rules, cited in the code, proved by a test
    Scripts/citations.py --unused    the rules that no code cites
    Scripts/citations.py --check     fails when a number that is cited is in no list, or a list has one twice or out of order

Behaviours.md lists how Core Bluetooth behaves: "behaviour 3.11", also "behaviours 1.3, 1.4, 1.9 to 1.14" with all
that lie between, over the end of a line too. Abuse.md lists attacks: "AB-S05". What a test says that it proves is read
by proofs.py.
"""
import argparse
import re
import sys
from pathlib import Path
from typing import Callable, Iterator, NamedTuple

import proofs

DOCUMENTS = Path("Documentation")
# Whoever follows a rule cites it in these; the others only speak of it.
CODE = [Path(name) for name in ["Sources", "Tests", "Interop", "Fuzzing", "Benchmarks", "Mutation"]]
OTHERS = [Path("Scripts"), DOCUMENTS]

RULE = r"\d+\.\d+(?![.]?\d)"
# White space, with the end of a line and the mark of a comment in it or not.
GAP = r"(?:[ \t]+|[ \t]*\n[ \t]*(?://+|#|\*|>)?[ \t]*)"
JOINT = rf"(?:,{GAP}and{GAP}|,{GAP}|{GAP}(?:and|or|to){GAP}|[-–])"
CITED = re.compile(rf"\bbehaviours?{GAP}({RULE}(?:{JOINT}{RULE})*)", re.I)
RULE_IN_IT = re.compile(rf"(?P<to>\bto{GAP}|[-–])?(?P<chapter>\d+)\.(?P<number>\d+)")
# A chapter without a number in it names no rule.
HALF = re.compile(rf"\bbehaviours?{GAP}(\d+)(?![.\d])", re.I)
ATTACK = re.compile(r"(?<![A-Za-z0-9])AB-([A-Z]\d+)")


class Citation(NamedTuple):
    number: str
    offset: int


def with_those_between(found: re.Match[str]) -> Iterator[Citation]:
    """The rules that one citation names. A range that is none stands for itself, and then is in no list."""
    last = None
    for match in RULE_IN_IT.finditer(found[1]):
        chapter, number = int(match["chapter"]), int(match["number"])
        offset = found.start(1) + match.start("chapter")
        if match["to"] and last:
            if chapter == last[0] and number > last[1]:
                yield from (Citation(f"{chapter}.{between}", offset) for between in range(last[1] + 1, number))
            else:
                yield Citation(f"{last[0]}.{last[1]} to {chapter}.{number}", offset)
        yield Citation(f"{chapter}.{number}", offset)
        last = (chapter, number)


def behaviours_in(text: str) -> list[Citation]:
    whole = [citation for found in CITED.finditer(text) for citation in with_those_between(found)]
    return whole + [Citation(found[1], found.start(1)) for found in HALF.finditer(text)]


def attacks_in(text: str) -> list[Citation]:
    return [Citation(f"AB-{found[1]}", found.start()) for found in ATTACK.finditer(text)]


class RuleList(NamedTuple):
    path: Path
    # A rule is a bullet that begins with its number: the chapter, and the place in it.
    entry: re.Pattern[str]
    chapters: list[str]
    cited_in: Callable[[str], list[Citation]]

    def entries(self) -> list[tuple[int, str]]:
        """Line and number of each rule, in the order of the list."""
        lines = enumerate(self.path.read_text().splitlines(), 1)
        return [(line, match[1]) for line, text in lines if (match := self.entry.match(text))]

    def numbers(self) -> list[str]:
        return list(dict.fromkeys(number for _, number in self.entries()))

    def cited(self) -> set[str]:
        return {citation.number for path in files(CODE) for citation in self.cited_in(path.read_text())}

    def proved(self) -> set[str]:
        """What tests say that they prove."""
        return {citation.number for test in proofs.all_tests() for citation in self.cited_in(test.says)}

    def disorder(self) -> list[str]:
        places = [(line, number, self.place(number)) for line, number in self.entries()]
        return [
            f"{self.path}:{line}: {number} is there twice, or out of order"
            for (_, _, before), (line, number, place) in zip(places, places[1:])
            if place <= before
        ]

    def place(self, number: str) -> tuple[int, int]:
        match = self.entry.match(f"- **{number}**")
        assert match
        return self.chapters.index(match["chapter"]), int(match["place"])

    def strangers(self) -> list[str]:
        """Citations of what the list does not have."""
        known = set(self.numbers())
        return [
            f"{path}:{text.count(chr(10), 0, citation.offset) + 1}: {citation.number} is not in {self.path}"
            for path in files([*CODE, *OTHERS]) + sorted(Path().glob("*.md"))
            for text in [path.read_text()]
            for citation in self.cited_in(text)
            if citation.number not in known
        ]


BEHAVIOURS = RuleList(
    DOCUMENTS / "Behaviours.md",
    re.compile(r"- \*\*((?P<chapter>\d+)\.(?P<place>\d+))\*\*"),
    [str(chapter) for chapter in range(100)],
    behaviours_in,
)
# From the controller up: HCI, link layer, channels, attributes, security, GAP.
ABUSE = RuleList(
    DOCUMENTS / "Abuse.md", re.compile(r"- \*\*(AB-(?P<chapter>[HLCASG])(?P<place>\d\d))\*\*"), list("HLCASG"), attacks_in
)
LISTS = [BEHAVIOURS, ABUSE]


def files(roots: list[Path]) -> list[Path]:
    return [path for root in roots for path in sorted(root.rglob("*")) if path.is_file() and is_text(path)]


def is_text(path: Path) -> bool:
    try:
        path.read_text()
    except UnicodeDecodeError:
        return False
    return True


def counts(rules: RuleList) -> str:
    numbers = rules.numbers()
    cited, proved = (len(found.intersection(numbers)) for found in (rules.cited(), rules.proved()))
    return f"{rules.path.name:14} {len(numbers):4} rules {cited:4} cited {proved:4} proved by a test"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="fail when a citation or a list is wrong")
    what.add_argument("--unused", action="store_true", help="the rules that no code cites")
    options = parser.parse_args()
    if options.check:
        complaints = [complaint for rules in LISTS for complaint in rules.disorder() + rules.strangers()]
        print("\n".join(complaints), end="\n" if complaints else "")
        return 1 if complaints else 0
    for rules in LISTS:
        if options.unused:
            cited = rules.cited()
            print("\n".join(number for number in rules.numbers() if number not in cited))
        else:
            print(counts(rules))
    return 0


if __name__ == "__main__":
    sys.exit(main())
