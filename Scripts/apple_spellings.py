#!/usr/bin/env python3
"""Compiles each call of Apple's API where the extras are imported, in the same file and in another one.

    Scripts/apple_spellings.py           prints how many calls were compiled; fails if one is not Apple's there

Without `MemberImportVisibility`, the members of a module that one file imports are visible in all files of the module,
and in an async function the compiler prefers an async overload. So an overload of the extras with a spelling of Apple's
would change the meaning of an app's code. Each method and initializer of Scripts/api-checklist.csv is called in a
synchronous and in an async function, with typed arguments, with literals, without the arguments that have defaults, and
referred to without a call. Reads the modules that `swift build` left.
"""
import csv
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import blocks

ROOT = Path(__file__).resolve().parent.parent
CHECKLIST = ROOT / "Scripts/api-checklist.csv"
KINDS = {"method", "class method", "initializer"}
EXTRAS = ["CoreBluetoothExtras", "BluetoothSimulation"]
SPELLING = re.compile(r"(?P<owner>[\w.]+)\.(?P<name>\w+)\((?P<arguments>.*)\)(?: -> (?P<result>.+))?$")


def arguments(text: str) -> list[tuple[str, str]]:
    """The labels and types of a parameter list."""
    found, depth, current = [], 0, ""
    for character in text + ",":
        depth += (character in "([<") - (character in ")]>")
        if character == "," and depth == 0:
            if current.strip():
                label, _, kind = current.strip().partition(": ")
                found.append((label, kind))
            current = ""
        else:
            current += character
    return found


def literal(kind: str) -> str | None:
    """A literal of a type that an overload could read differently."""
    if kind.startswith("["):
        return "nil" if kind.endswith("?") else "[:]" if ":" in kind else "[]"
    return "nil" if kind.endswith("?") else None


def call(target: str, passed: list[tuple[str, str]]) -> str:
    return f"_ = {target}({', '.join(value if label == '_' else f'{label}: {value}' for label, value in passed)})"


def statements(row: dict[str, str], overloaded: set[str]) -> tuple[list[str], list[str]]:
    """The parameters of a function, and its statements, for one row of the checklist."""
    match = SPELLING.match(row["symbol"])
    if not match:
        raise ValueError(row["symbol"])
    owner, name = match["owner"], match["name"]
    given = arguments(match["arguments"])
    isMethod = row["kind"] == "method"
    parameters = ([f"_ object: {owner}"] if isMethod else []) + [f"_ a{i}: {kind}" for i, (_, kind) in enumerate(given)]
    target = f"object.{name}" if isMethod else owner if name == "init" else f"{owner}.{name}"
    typed = [(label, f"a{i}") for i, (label, _) in enumerate(given)]
    lines = [call(target, typed)]
    lines.append(call(target, [(label, literal(kind) or value) for (label, kind), (_, value) in zip(given, typed)]))
    empty = [(label, ".init()" if kind.startswith("[") else value) for (label, kind), (_, value) in zip(given, typed)]
    lines.append(call(target, empty))
    if given and given[-1] == ("options", "[String: Any]?"):
        lines.append(call(target, typed[:-1]))
    if isMethod and f"{owner}.{name}" not in overloaded:
        lines.append(f"_ = {target}")
    return parameters, list(dict.fromkeys(lines))


def source(rows: list[dict[str, str]], modules: list[str], suffix: str) -> str:
    """A file that makes each call in a function of each kind."""
    names = [row["symbol"].partition("(")[0] for row in rows]
    overloaded = {name for name in names if names.count(name) > 1}
    text = [f"import {module}" for module in modules]
    for number, row in enumerate(rows):
        parameters, lines = statements(row, overloaded)
        for kind, effect in (("plain", ""), ("waiting", " async")):
            text.append(f"func {kind}{number}{suffix}({', '.join(parameters)}){effect} {{")
            text += [f"    {line}" for line in lines] + ["}"]
    return "\n".join(text) + "\n"


def check(folder: Path, language: str, rows: list[dict[str, str]]) -> list[str]:
    files = {
        "ElsewhereImported.swift": source(rows, ["CoreBluetooth"], "elsewhere"),
        "Importing.swift": "".join(f"import {module}\n" for module in EXTRAS),
        "SameFile.swift": source(rows, ["CoreBluetooth", *EXTRAS], "here"),
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    command = ["swiftc", "-typecheck", "-module-name", "Spellings", "-swift-version", language, "-suppress-warnings",
               *blocks.modules(), *[str(folder / name) for name in files]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    errors = [line for line in done.stderr.splitlines() if ": error:" in line]
    return errors or ([done.stderr] if done.returncode else [])


def main() -> int:
    os.chdir(ROOT)
    missing = [name for name in EXTRAS if not (blocks.BUILD / f"Modules/{name}.swiftmodule").exists()]
    if missing:
        sys.exit(f"apple_spellings: {blocks.BUILD} has no module {missing[0]}; run swift build")
    rows = [row for row in csv.DictReader(CHECKLIST.open())
            if row["kind"] in KINDS and row["status"] == "expected" and "init(rawValue:" not in row["symbol"]]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for language in ("5", "6"):
            found += check(Path(folder), language, rows)
    for line in found:
        print(f"apple_spellings: {line}")
    print(f"apple_spellings: {len(rows)} methods and initializers of Apple's beside {', '.join(EXTRAS)}")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
