#!/usr/bin/env python3
"""Counts the claims of the tests, and keeps the tables in README.md and Documentation/Proofs.md true.

    Scripts/status.py            prints the longer table, that of Documentation/Proofs.md
    Scripts/status.py --write    puts the tables into both documents
    Scripts/status.py --check    fails if one of them differs

A test states what it proves by identifiers (citations.py): "behaviour 2.2" is a rule of Apple's system, "AB-L01" a defence
against abuse, "GATT/SR/GAR/BV-01" (GATT, SM, L2CAP, GAP) a case of the qualification test suites. qualification.py has
the list of these, and reports which have no test, and why.
"""
import pathlib
import sys

import citations
import qualification

README, PROOFS = pathlib.Path("README.md"), pathlib.Path("Documentation/Proofs.md")
BEGIN, END = "<!-- status: begin -->", "<!-- status: end -->"
KINDS = {
    "Behaviours of Apple's system": citations.BEHAVIOURS,
    "Abuse cases survived": citations.ABUSE,
}


def table(is_short: bool = False) -> str:
    rows = [
        ("Swift tests, in virtual time", len(citations.swift_tests())),
        ("Tests with foreign peers", len(citations.python_tests())),
    ]
    rows += [(name, len(rules.proved())) for name, rules in KINDS.items()]
    counts = qualification.counts()
    rows.append(("Qualification cases", share(sum(done for _, done, _ in counts), sum(total for *_, total in counts))))
    if not is_short:
        rows += [(f"- of {profile}", share(done, total)) for profile, done, total in counts]
    lines = ["| What the tests prove | Count |", "| --- | ---: |"] + [f"| {name} | {count} |" for name, count in rows]
    return "\n".join([BEGIN, *lines, END])


def share(part: int, whole: int) -> str:
    return f"{part} of {whole}"


def main(arguments: list[str] = sys.argv[1:]) -> int:
    if "--write" not in arguments and "--check" not in arguments:
        print(table())
        return 0
    stale = False
    for document, new in [(README, table(is_short=True)), (PROOFS, table())]:
        text = document.read_text()
        start, end = text.index(BEGIN), text.index(END) + len(END)
        if text[start:end] == new:
            continue
        if "--check" in arguments:
            print(f"{document}: the status table is out of date; run Scripts/status.py --write")
            stale = True
        else:
            document.write_text(text[:start] + new + text[end:])
    return int(stale)


if __name__ == "__main__":
    sys.exit(main())
