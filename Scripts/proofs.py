#!/usr/bin/env python3
"""Reads the claim of each test: a Swift test's display name, a Python test's docstring.

    Scripts/proofs.py    fails if an identifier is in the name of a function, where nothing counts it

Identifiers are spelled as in their lists, and the claim follows in words: "GATT/SR/GAR/BV-01, behaviour 3.11, AB-S05: a
peer without a key reads nothing". qualification.py reads the first kind, citations.py the other two.
"""
import ast
import re
import sys
from pathlib import Path
from typing import Iterator, NamedTuple

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
    return [
        Test(path, match[1], display[1] if (display := DISPLAY_NAME.match(part)) else "")
        for path in sorted(Path("Tests").rglob("*.swift"))
        for part in TEST.split(path.read_text())[1:]
        if (match := FUNCTION.match(part))
    ]


def python_tests() -> list[Test]:
    return [
        Test(path, function.name, ast.get_docstring(function) or "")
        for path in sorted(Path("Interop/tests").glob("test_*.py"))
        for function in functions(ast.parse(path.read_text()))
        if function.name.startswith("test_")
    ]


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def all_tests() -> list[Test]:
    return swift_tests() + python_tests()


def misplaced() -> list[str]:
    """Functions with an identifier in their names."""
    return [
        f"{test.path}: {test.function}: what a test proves stands in its display name, or in its docstring in Python"
        for test in all_tests()
        if IDENTIFIER.search(test.function)
    ]


if __name__ == "__main__":
    complaints = misplaced()
    print("\n".join(complaints), end="\n" if complaints else "")
    sys.exit(1 if complaints else 0)
