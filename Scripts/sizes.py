#!/usr/bin/env python3
"""Prints source files and functions that are too large to read, and fails on such files.

A file over 800 lines is an error unless EXCEPTIONS names it with a reason. Functions over 40 lines are listed.
"""
import pathlib
import re
import sys

FILE_LIMIT, FUNCTION_LIMIT = 800, 40
# path: the reason not to split it
EXCEPTIONS = {
    f"Sources/Stack/AssignedNumbers/Tables/NumberTable+{name}.swift": "a generated table, with a line for each number"
    for name in ["Companies", "UUIDs"]
}

FUNCTION = re.compile(r"^(\s*)(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|private|internal|fileprivate|open|static|final|"
                      r"mutating|override|convenience|required|nonisolated|class)\s+)*(?:func\s+\S+|init[?!]?\s*[(<])")


def body_start(lines: list[str], number: int) -> int | None:
    """The line that opens the body, or None for a requirement of a protocol and a function on one line."""
    for line in range(number, min(number + 20, len(lines))):
        if lines[line].endswith("{"):
            return line
        if not lines[line].strip() or lines[line].rstrip().endswith("}"):
            return None
    return None


def long_functions(path: pathlib.Path) -> list[tuple[int, int, str]]:
    """Functions over the limit as (line, length, text). A body ends at the brace on the function's own indentation."""
    lines, found = path.read_text().splitlines(), []
    for number, line in enumerate(lines):
        match = FUNCTION.match(line)
        if not match:
            continue
        start = body_start(lines, number)
        if start is None:
            continue
        closing = match.group(1) + "}"
        for end in range(start + 1, len(lines)):
            if lines[end] == closing:
                if end - number + 1 > FUNCTION_LIMIT:
                    found.append((number + 1, end - number + 1, line.strip()))
                break
    return found


def main() -> int:
    failed = False
    for path in sorted(pathlib.Path("Sources").rglob("*.swift")):
        count = len(path.read_text().splitlines())
        if count > FILE_LIMIT and str(path) not in EXCEPTIONS:
            print(f"{path}: {count} lines; the limit is {FILE_LIMIT}")
            failed = True
        for line, length, text in long_functions(path):
            print(f"note: {path}:{line}: {length} lines: {text}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
