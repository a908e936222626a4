#!/usr/bin/env python3
"""Reports which rules of Documentation/ are cited, which a test proves, and whether each cited number exists.

    Scripts/citations.py             counts: rules, cited in the code, proved by a test
    Scripts/citations.py --unused    the rules that no code cites
    Scripts/citations.py --unproved  the rules that need a test and have none, and why
    Scripts/citations.py --check     fails if a cited number is in no list, if a list contains one twice or out of order,
                                     if a rule that needs a test has neither a test nor a reason, if an attack has no
                                     source that cites it, or no test, or if the name of a test's function has a number

Behaviours.md lists how Core Bluetooth behaves: "behaviour 3.11", also "behaviours 1.3, 1.4, 1.9 to 1.14", which
includes all that lie between and may continue on the next line. Abuse.md lists attacks: "AB-S05". behaviours.txt lists
the behaviours that need no test.

A test says what it proves in its display name, or in Python in its docstring: identifiers as in their lists, and then the
claim in words, as in "GATT/SR/GAR/BV-01, behaviour 3.11, AB-S05: a peer without a key reads nothing". qualification.py
reads the first kind.
"""
import argparse
import ast
import re
import sys
from functools import cache
from pathlib import Path
from typing import Callable, Iterator, NamedTuple

DOCUMENTS = Path("Documentation")
# A citation in these files means that the code follows the rule; the others only mention it.
CODE = [Path(name) for name in ["Sources", "Tests", "Interop", "Fuzzing", "Benchmarks", "Mutation"]]
OTHERS = [Path("Scripts"), DOCUMENTS]

RULE = r"\d+\.\d+(?![.]?\d)"
# White space, possibly with a line end and a comment mark in it.
GAP = r"(?:[ \t]+|[ \t]*\n[ \t]*(?://+|#|\*|>)?[ \t]*)"
JOINT = rf"(?:,{GAP}and{GAP}|,{GAP}|{GAP}(?:and|or|to){GAP}|[-–])"
CITED = re.compile(rf"\bbehaviours?{GAP}({RULE}(?:{JOINT}{RULE})*)", re.I)
RULE_IN_IT = re.compile(rf"(?P<to>\bto{GAP}|[-–])?(?P<chapter>\d+)\.(?P<number>\d+)")
# A chapter without a number names no rule.
HALF = re.compile(rf"\bbehaviours?{GAP}(\d+)(?![.\d])", re.I)
ATTACK = re.compile(r"(?<![A-Za-z0-9])AB-([A-Z]\d+)")


# The text from one @Test to the next contains one function.
TEST = re.compile(r"(?=@Test\b)")
DISPLAY_NAME = re.compile(r'@Test\(\s*"((?:[^"\\]|\\.)*)"')
FUNCTION = re.compile(r"@Test\b.*?func\s+`?(\w+)", re.S)
IDENTIFIER = re.compile(r"(?<![A-Za-z0-9])(?:AB_[A-Z]\d|behaviours?_\d|(?:GATT|GAP|SM|L2CAP)_[A-Z])")


class Test(NamedTuple):
    path: Path
    function: str
    says: str


def swift_tests() -> list[Test]:
    return [Test(path, *each) for path in sorted(Path("Tests").rglob("*.swift")) for each in in_swift(path.read_text())]


def python_tests() -> list[Test]:
    return [Test(path, *each) for path in sorted(Path("Interop/tests").glob("test_*.py")) for each in in_python(path.read_text())]


def all_tests() -> list[Test]:
    return swift_tests() + python_tests()


# Lint needs these for several checks. They depend on the text alone.
@cache
def in_swift(text: str) -> list[tuple[str, str]]:
    """The functions of the tests in a file, and their display names."""
    return [
        (match[1], display[1] if (display := DISPLAY_NAME.match(part)) else "")
        for part in TEST.split(text)[1:]
        if (match := FUNCTION.match(part))
    ]


@cache
def in_python(text: str) -> list[tuple[str, str]]:
    """The test functions of a module and their docstrings."""
    functions = (node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return [(each.name, ast.get_docstring(each) or "") for each in functions if each.name.startswith("test_")]


def misplaced() -> list[str]:
    """Functions with an identifier in their names, where nothing counts it."""
    return [
        f"{test.path}: {test.function}: what a test proves stands in its display name, or in its docstring in Python"
        for test in all_tests()
        if IDENTIFIER.search(test.function)
    ]


class Citation(NamedTuple):
    number: str
    offset: int


def with_those_between(found: re.Match[str]) -> Iterator[Citation]:
    """The rules that one citation names. An invalid range is kept as it is, and then is in no list."""
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


@cache
def behaviours_in(text: str) -> list[Citation]:
    if "ehaviour" not in text:
        return []
    whole = [citation for found in CITED.finditer(text) for citation in with_those_between(found)]
    return whole + [Citation(found[1], found.start(1)) for found in HALF.finditer(text)]


@cache
def attacks_in(text: str) -> list[Citation]:
    return [] if "AB-" not in text else [Citation(f"AB-{found[1]}", found.start()) for found in ATTACK.finditer(text)]


class RuleList(NamedTuple):
    path: Path
    # A rule is a bullet that starts with its number: the chapter, and the position in it.
    entry: re.Pattern[str]
    chapters: list[str]
    cited_in: Callable[[str], list[Citation]]

    def entries(self) -> list[tuple[int, str]]:
        """The line and number of each rule, in the order of the list."""
        lines = enumerate(self.path.read_text().splitlines(), 1)
        return [(line, match[1]) for line, text in lines if (match := self.entry.match(text))]

    def numbers(self) -> list[str]:
        return list(dict.fromkeys(number for _, number in self.entries()))

    def cited(self) -> set[str]:
        return {citation.number for _, text in files(CODE) for citation in self.cited_in(text)}

    def proved(self) -> set[str]:
        """The rules that tests claim to prove."""
        return {citation.number for test in all_tests() for citation in self.cited_in(test.says)}

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
        """Citations of rules that are not in the list."""
        known = set(self.numbers())
        return [
            f"{path}:{text.count(chr(10), 0, citation.offset) + 1}: {citation.number} is not in {self.path}"
            for path, text in [*files([*CODE, *OTHERS]), *((path, path.read_text()) for path in sorted(Path().glob("*.md")))]
            for citation in self.cited_in(text)
            if citation.number not in known
        ]


BEHAVIOURS = RuleList(
    DOCUMENTS / "Behaviours.md",
    re.compile(r"- \*\*((?P<chapter>\d+)\.(?P<place>\d+))\*\*"),
    [str(chapter) for chapter in range(100)],
    behaviours_in,
)
# From the controller up: HCI, link layer, channels, attributes, security, GAP. Then what does not come from the air.
ABUSE = RuleList(
    DOCUMENTS / "Abuse.md",
    re.compile(r"- \*\*(AB-(?P<chapter>[HLCASGPFT])(?P<place>\d\d))\*\*"),
    list("HLCASGPFT"),
    attacks_in,
)
LISTS = [BEHAVIOURS, ABUSE]

# The chapters of Behaviours.md whose rules need a test if they are this certain: objects to channels, restoration,
# threads, numbers and AccessorySetupKit. The others are about apps that do not run, good practice and complaints.
PROVABLE = [*range(0, 12), 13, 14, 16]
# The certainty of a rule follows its sources.
CERTAINTY = re.compile(r"(?:;|—) \*([^*]+)\*")
WELL_KNOWN = re.compile(r"\b(?:documented|widely reported)\b")
UNPROVED = Path("Scripts/behaviours.txt")
RANGE = re.compile(r"(\d+)\.(\d+)(?:\.\.(?:(\d+)\.)?(\d+))?$")


def in_need_of_a_test() -> list[str]:
    """The rules of those chapters that are documented or widely reported, even in part."""
    text = BEHAVIOURS.path.read_text()
    starts = [match.start() for match in re.finditer(BEHAVIOURS.entry.pattern, text, re.M)]
    rules = [text[start:end].split("\n\n")[0] for start, end in zip(starts, [*starts[1:], len(text)])]
    numbers = [(match[1], int(match["chapter"]), rule) for rule in rules if (match := BEHAVIOURS.entry.match(rule))]
    return [number for number, chapter, rule in numbers if chapter in PROVABLE and WELL_KNOWN.search(certainty(rule))]


def certainty(rule: str) -> str:
    return "; ".join(CERTAINTY.findall(" ".join(rule.split()))[-1:])


def reasons() -> dict[str, str]:
    """The reasons why rules need no test, by number."""
    found: dict[str, str] = {}
    for number, line in enumerate(UNPROVED.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        listed, _, reason = line.partition("|")
        for part in listed.split():
            match = RANGE.match(part)
            if not match or not reason.strip():
                sys.exit(f"{UNPROVED}:{number}: not a rule or a range of rules with a reason: {line}")
            first, last = int(match[2]), int(match[4] or match[2])
            found |= {f"{match[1]}.{rule}": reason.strip() for rule in range(first, last + 1)}
    return found


def unproved() -> list[str]:
    """The rules without a test."""
    proved = BEHAVIOURS.proved()
    return [number for number in in_need_of_a_test() if number not in proved]


def undefended() -> list[str]:
    """The attacks without a source that cites them, at the defence, or without a test."""
    defended = {citation.number for _, text in files([Path("Sources")]) for citation in attacks_in(text)}
    proved = ABUSE.proved()
    return [
        f"{ABUSE.path}: {number} {problem}"
        for number in ABUSE.numbers()
        for problem, found in [("is cited by no source", defended), ("has no test", proved)]
        if number not in found
    ]


def unaccounted() -> list[str]:
    listed, missing, needed = reasons(), unproved(), in_need_of_a_test()
    return [
        *(
            f"{BEHAVIOURS.path}: {number} has neither a test nor a reason in {UNPROVED}"
            for number in missing
            if number not in listed
        ),
        *(f"{UNPROVED}: {number} has a test, or needs none" for number in listed if number not in missing),
        *([] if needed else [f"{BEHAVIOURS.path}: no rule is well known"]),
    ]


def files(roots: list[Path]) -> Iterator[tuple[Path, str]]:
    """The files that are text, with their texts."""
    for path in (path for root in roots for path in sorted(root.rglob("*")) if path.is_file()):
        try:
            yield path, path.read_text()
        except UnicodeDecodeError:
            continue


def counts(rules: RuleList) -> str:
    numbers = rules.numbers()
    cited, proved = (len(found.intersection(numbers)) for found in (rules.cited(), rules.proved()))
    return f"{rules.path.name:14} {len(numbers):4} rules {cited:4} cited {proved:4} proved by a test"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="fail if a citation or a list is wrong")
    what.add_argument("--unused", action="store_true", help="the rules that no code cites")
    what.add_argument("--unproved", action="store_true", help="the rules that need a test and have none, and why")
    options = parser.parse_args(arguments)
    if options.check:
        complaints = [complaint for rules in LISTS for complaint in rules.disorder() + rules.strangers()]
        complaints += unaccounted() + undefended() + misplaced()
        print("\n".join(complaints), end="\n" if complaints else "")
        return 1 if complaints else 0
    if options.unproved:
        why = reasons()
        print("\n".join(f"{number:6} {why.get(number, 'no reason')}" for number in unproved()))
        return 0
    for rules in LISTS:
        if options.unused:
            cited = rules.cited()
            print("\n".join(number for number in rules.numbers() if number not in cited))
        else:
            print(counts(rules))
    if not options.unused:
        needed, missing = len(in_need_of_a_test()), len(unproved())
        print(f"{needed} behaviours need a test: {needed - missing} have one, {missing} have a reason in {UNPROVED}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
