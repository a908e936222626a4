#!/usr/bin/env python3
"""Compares the tables of Documentation/Limits.md with the constants in the code, in both directions.

Each row names a constant and its value. Each constant of `ServiceLimits` has a row.

    Scripts/limits.py          fails, and prints each difference
"""
import pathlib
import re
import sys

DOCUMENT, TABLE = pathlib.Path("Documentation/Limits.md"), "ServiceLimits"
ROW = re.compile(r"^\| [^|]+ \| `(?P<type>\w+)\.(?P<name>\w+)` \| (?P<value>[^|]+) \| [^|]+ \|$")
CONSTANT = r"static\s+(?:let|var)\s+{name}\b[^={{\n]*[={{]\s*(?P<value>[^\n}}]+)"
DECLARATION = re.compile(r"^\s*(?:\w+\s+)*(?:enum|struct|class|extension)\s+(?P<type>\w+)", re.MULTILINE)
REFERENCE = re.compile(r"^(?P<type>[A-Z]\w*)\.(?P<name>\w+)$")
QUOTA = re.compile(r"^Quota\((?P<limits>[^)]*)\)$")
SECONDS = re.compile(r"^(?:Duration)?\.seconds\((?P<count>\d+)\)$")
ARITHMETIC = re.compile(r"^[\d\s<*+-]+$")


def sources() -> dict[str, list[str]]:
    """The texts that declare or extend each type."""
    found: dict[str, list[str]] = {}
    for path in sorted(pathlib.Path("Sources").rglob("*.swift")):
        text = path.read_text()
        for name in {match["type"] for match in DECLARATION.finditer(text)}:
            found.setdefault(name, []).append(text)
    return found


def shown(value: str, texts: dict[str, list[str]]) -> str | None:
    """A Swift expression as the document writes it, or None if it is not understood."""
    value = value.strip().replace("_", "") if ARITHMETIC.match(value.strip().replace("_", "")) else value.strip()
    if ARITHMETIC.match(value):
        return f"{eval(value):,}"  # only digits and operators
    if match := SECONDS.match(value):
        return f"{match['count']} s"
    if match := QUOTA.match(value):
        limits = [limit.split(":") for limit in match["limits"].split(",")]
        return ", ".join(f"{name.strip()} {shown(count, texts)}" for name, count in limits)
    if match := REFERENCE.match(value):
        return constant(match["type"], match["name"], texts)
    return None


def constant(kind: str, name: str, texts: dict[str, list[str]]) -> str | None:
    """The value of a constant as the document writes it, or None if there is no such constant."""
    for text in texts.get(kind, []):
        if match := re.search(CONSTANT.format(name=name), text):
            return shown(match["value"], texts)
    return None


def differences(document: str, texts: dict[str, list[str]]) -> list[str]:
    found, rows = [], set()
    for number, line in enumerate(document.splitlines(), 1):
        if not line.startswith("| ") or line.startswith(("| ---", "| limit |")):
            continue
        row = ROW.match(line)
        if not row:
            found.append(f"{DOCUMENT}:{number}: the row does not name a constant and its value")
            continue
        rows.add((row["type"], row["name"]))
        value = constant(row["type"], row["name"], texts)
        if value is None:
            found.append(f"{DOCUMENT}:{number}: {row['type']}.{row['name']} is no constant that can be read")
        elif value != row["value"].strip():
            found.append(f"{DOCUMENT}:{number}: {row['type']}.{row['name']} is {value} in the code, and {row['value'].strip()} here")
    declared = {match for text in texts.get(TABLE, []) if "Documentation/Limits.md" in text
                for match in re.findall(r"static let (\w+)", text)}
    found += [f"{TABLE}.{name} has no row in {DOCUMENT}" for name in sorted(declared) if (TABLE, name) not in rows]
    return found


def main() -> int:
    found = differences(DOCUMENT.read_text(), sources())
    for line in found:
        print(line)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
