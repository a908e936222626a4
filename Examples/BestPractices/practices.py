#!/usr/bin/env python3
"""Runs the pairs of apps here, and compares what they cost with the table in Documentation/Energy.md.

    Examples/BestPractices/practices.py             fails if the table is not what the apps cost
    Examples/BestPractices/practices.py --write     writes the table

Shares the build of the suite, like Examples/test.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DOCUMENT = ROOT / "Documentation/Energy.md"
BEGIN = "<!-- practices: written by Examples/BestPractices/practices.py -->\n"
END = "<!-- practices: end -->\n"
HEAD = ("| practice | worse, µAh per hour | better, µAh per hour | worse, time to data | better, time to data |\n"
        "| --- | ---: | ---: | ---: | ---: |\n")


def words(name: str) -> str:
    """The name of a pair as words: `ScanUntilFound` as `scan until found`."""
    return re.sub(r"(?<!^)(?=[A-Z])", " ", name).lower()


def seconds(milliseconds: str) -> str:
    if milliseconds == "-":
        return ""
    time = int(milliseconds) / 1_000
    return f"{-time:.2f} s before" if time < 0 else f"{time:.2f} s"


def table(lines: list[str]) -> str:
    """The table of the lines that the tests have noted."""
    pairs: dict[tuple[int, str], dict[str, tuple[int, str]]] = {}
    for line in lines:
        rule, name, app, charge, milliseconds = line.split()
        pairs.setdefault((int(rule.partition(".")[2]), name), {})[app] = (int(charge), milliseconds)
    rows = []
    for (rule, name), apps in sorted(pairs.items()):
        if set(apps) != {"worse", "better"}:
            raise ValueError(f"{name} has not run with both apps")
        (worse, late), (better, soon) = apps["worse"], apps["better"]
        rows.append(f"| 12.{rule} {words(name)} | {worse:,} | {better:,} | {seconds(late)} | {seconds(soon)} |\n")
    return HEAD + "".join(rows)


def replaced(document: str, made: str) -> str:
    before, _, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"{DOCUMENT.name} has no place for the table")
    return f"{before}{BEGIN}\n{made}\n{END}{after}"


def main() -> int:
    with tempfile.NamedTemporaryFile() as file:
        command = [ROOT / "Scripts/progress.py", "example-BestPractices", "swift", "test", "--package-path", HERE,
                   "--scratch-path", ".build"]
        status = subprocess.run(command, cwd=ROOT, env={**os.environ, "HARALD_PRACTICES": file.name}, check=False).returncode
        if status != 0:
            return status
        made = table(Path(file.name).read_text().splitlines())
    document = DOCUMENT.read_text()
    expected = replaced(document, made)
    if "--write" in sys.argv[1:]:
        DOCUMENT.write_text(expected)
    elif document != expected:
        print(f"{DOCUMENT.name}: the table of good practices is out of date; run Examples/BestPractices/practices.py --write\n{made}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
