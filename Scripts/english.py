#!/usr/bin/env python3
"""Finds wording in comments, documents and messages that a script can recognise as wrong, and keeps it from growing.

    Scripts/english.py --check           fails if a directory has more places than english.txt allows for a rule
    Scripts/english.py                   prints the current counts
    Scripts/english.py --places [WHERE]  prints each place, in files below WHERE
    Scripts/english.py --write           writes the current counts, unless the total of a rule has grown

english.txt has a line for each directory with the number of places per rule; anything it does not list is 0. The
comments of all Swift sources count. For the strings of Sources, which end up in logs, help and errors, and for
Markdown, only the rules about phrases apply. Names in backquotes are not words.
"""
import argparse
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Iterator, NamedTuple

from shape_of import prose, tokens

LIST = Path("Scripts/english.txt")
CODE = ["Sources", "Tests", "Benchmarks", "Compatibility", "Examples", "Fuzzing", "Mutation", "Races"]
# Directories whose subdirectories have a line each.
WIDE = {"Sources", "Tests"}
SHOWN, MESSAGE_WORDS = 20, 4

# rule: (advice, pattern)
PHRASES = {
    "who": ("name the component or the caller", r"^(?:Who|Whoever)\b(?!.*\?$)"),
    "somebody": ("name the component, the peer or the caller", r"\b(?i:somebody|nobody|whoever|whom)\b"),
    "another": ("say what changed", r"\b(?:is|are|was|were) another one\b"),
    "looked": ("say what checks or polls", r"\blooked (?:whether|if|for whether)\b"),
    "told-of": ("name the event", r"\btold of\b"),
    "hears": ("write: receives, or is notified of", r"\b[Hh]ears? (?:of|that|whether|nothing)\b"),
    "believes": ("write: trusts, or accepts", r"\bbeliev(?:e|es|ed|ing)\b"),
    "knows-nothing": ("write: is independent of, or does not support", r"\bknows? nothing of\b"),
    "comes-of-it": ("name the result or the event", r"\b(?:comes?|came|come) of (?:it|them|that|this)\b"),
    "wish": ("write: intent, preference, or pending request", r"\b[Ww]ish(?:es|ed)?\b"),
    "by-lot": ("write: at random", r"\bby lot\b"),
    "rooms": ("write: modules", r"\brooms\b"),
    "what-of": ("begin with the thing: the part of … that", r"^What of\b"),
    "what-was": ("name the value", r"\bwhat (?:was before|stands t?here)\b"),
    "else-than": ("write: other than, or differs from", r"\b(?:something|anything|nothing) else than\b"),
    "as-long-ago": ("give the length of time and what it allows for", r"\b[Aa]s long ago as\b"),
    "two-units": ("octet or byte, one of them in a sentence", r"\boctets\b.*\bbytes\b|\bbytes\b.*\boctets\b"),
}
MATCHERS = {rule: re.compile(pattern) for rule, (_, pattern) in PHRASES.items()}
ADVICE = {
    **{rule: advice for rule, (advice, _) in PHRASES.items()},
    "persons": "write: the user",
    "filler": f"a comment of {prose.FILLER_WORDS} words or fewer says nothing: delete it, or say what the name cannot",
    "columns": f"break prose at {prose.COLUMNS} columns",
    "what": "a summary begins with a verb for methods and with a noun for the rest, not with What",
}
PERSONS = re.compile(r"\bpersons\b")
SIMULATED = ("Sources/BluetoothSimulation/", "Tests/")
WHAT = re.compile(r"^What\b(?! (?:kind|type|sort)\b)(?!.*\?$)")


class Place(NamedTuple):
    rule: str
    path: str
    line: int
    text: str

    @property
    def directory(self) -> str:
        parts = self.path.split("/")
        return self.path if self.path.endswith(".md") else "/".join(parts[:2]) if parts[0] in WIDE else parts[0]


def in_sentence(path: str, sentence: prose.Sentence) -> Iterator[Place]:
    text = prose.without_code(sentence.text)
    for rule, matcher in MATCHERS.items():
        if matcher.search(text):
            yield Place(rule, path, sentence.line, sentence.text)
    if PERSONS.search(text) and not path.startswith(SIMULATED):
        yield Place("persons", path, sentence.line, sentence.text)


def in_swift(path: str, text: str) -> Iterator[Place]:
    source = tokens.read(text)
    for block in prose.blocks(source.comments):
        if prose.is_filler(block):
            yield Place("filler", path, block[0].line, block[0].text)
        for comment in block:
            if prose.is_too_long(comment):
                yield Place("columns", path, comment.line, comment.text)
        for number, lines in enumerate(prose.paragraphs(block)):
            for first, sentence in enumerate(prose.sentences(lines)):
                yield from in_sentence(path, sentence)
                if number == first == 0 and block[0].mark == "///" and WHAT.match(sentence.text):
                    yield Place("what", path, sentence.line, sentence.text)
    if path.startswith("Sources/"):
        for token in source.tokens:
            if token.kind == tokens.STRING and len(token.text.split()) >= MESSAGE_WORDS:
                for sentence in prose.sentences([(token.line, " ".join(token.text.split()))]):
                    yield from in_sentence(path, sentence)


def in_markdown(path: str, text: str) -> Iterator[Place]:
    for lines in prose.markdown(text):
        for sentence in prose.sentences(lines):
            yield from in_sentence(path, sentence)


def all_places() -> list[Place]:
    swift = [path for root in CODE for path in sorted(Path(root).rglob("*.swift")) if ".build" not in path.parts]
    documents = sorted({path for pattern in ["*.md", "*/*.md", "Sources/**/*.md"] for path in Path().glob(pattern)})
    return [place for path in swift for place in in_swift(str(path), path.read_text())] + [
        place for path in documents for place in in_markdown(str(path), path.read_text())]


def counts(places: list[Place]) -> Counter[tuple[str, str]]:
    return Counter((place.directory, place.rule) for place in places)


def parse(text: str) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            directory, _, rules = line.partition(":")
            for entry in rules.split(","):
                rule, count = entry.split()
                found[directory, rule] = int(count)
    return found


def shown(numbers: Counter[tuple[str, str]]) -> str:
    directories: dict[str, list[str]] = {}
    for (directory, rule), count in sorted(numbers.items()):
        if count:
            directories.setdefault(directory, []).append(f"{rule} {count}")
    return "".join(f"{directory}: {', '.join(rules)}\n" for directory, rules in directories.items())


def changed_lines() -> set[tuple[str, int]]:
    """The lines that are new since the list last changed; none without git."""
    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout

    found: set[tuple[str, int]] = set()
    try:
        path = ""
        for line in git("diff", "--unified=0", git("log", "-1", "--format=%H", "--", str(LIST)).strip() or "HEAD").splitlines():
            if line.startswith("+++ b/"):
                path = line.removeprefix("+++ b/")
            elif match := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
                found |= {(path, int(match[1]) + offset) for offset in range(int(match[2] or 1))}
        for path in git("ls-files", "--others", "--exclude-standard").splitlines():
            found |= {(path, line) for line in range(1, 10_000)}
    except (OSError, subprocess.CalledProcessError):
        pass
    return found


def complaints(allowed: Counter[tuple[str, str]], places: list[Place], changed: set[tuple[str, int]]) -> list[str]:
    found = []
    for (directory, rule), count in sorted(counts(places).items()):
        limit = allowed[directory, rule]
        if count > limit:
            these = [place for place in places if (place.directory, place.rule) == (directory, rule)]
            new = [place for place in these if (place.path, place.line) in changed] or these
            found.append(f"{directory}: {count} places for the rule `{rule}`, {LIST} allows {limit}: {ADVICE[rule]}")
            found += [f"  {place.path}:{place.line}: {place.text[:100]}" for place in new[:SHOWN]]
            if len(new) > SHOWN:
                found.append(f"  and {len(new) - SHOWN} more: Scripts/english.py --places {directory}")
    return found


def grown(allowed: Counter[tuple[str, str]], now: Counter[tuple[str, str]]) -> list[str]:
    """The rules whose total has grown."""
    def totals(numbers: Counter[tuple[str, str]]) -> Counter[str]:
        found: Counter[str] = Counter()
        for (_, rule), count in numbers.items():
            found[rule] += count
        return found

    before = totals(allowed)
    return sorted(rule for rule, count in totals(now).items() if count > before[rule])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="fail if there are more places than the list allows")
    what.add_argument("--places", nargs="?", const="", metavar="WHERE", help="print each place")
    what.add_argument("--write", action="store_true", help="write the current counts, unless the total of a rule has grown")
    options = parser.parse_args()
    places = all_places()
    now = counts(places)
    if options.places is not None:
        for place in places:
            if place.path.startswith(options.places):
                print(f"{place.path}:{place.line}: {place.rule}: {place.text}")
        return 0
    allowed = parse(LIST.read_text()) if LIST.exists() else Counter()
    if options.write:
        if more := grown(allowed, now):
            print(f"{LIST}: more places in all for {', '.join(more)}; Scripts/english.py --check shows them")
            return 1
        heading = "".join(line + "\n" for line in LIST.read_text().splitlines() if line.startswith("#"))
        LIST.write_text(heading + shown(now))
        return 0
    if not options.check:
        print(shown(now), end="")
        return 0
    found = complaints(allowed, places, changed_lines() if now - allowed else set())
    for line in found:
        print(line)
    if lower := sum((allowed - now).values()):
        print(f"note: {LIST} allows {lower} places that are gone; Scripts/english.py --write brings it up to date")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
