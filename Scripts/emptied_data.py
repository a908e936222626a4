#!/usr/bin/env python3
"""Finds `Data` that is both cut at the front and extended at the end, which traps at run time.

In swift-foundation, `Data` with shared storage that was emptied from the front and then gets an empty addition (`+=
Data()`) ends the program with an illegal instruction. So a variable of type `Data` must be either cut at the front or
added to, never both. A queue of octets is an `ArraySlice<UInt8>` or a `PacketBuffer`.

A name counts as `Data` if the file declares it so, or a file with an extension of the same type; types of other files
are not looked up.

    Scripts/emptied_data.py          fails, and prints each place
"""
import pathlib
import re
import sys

PLACES = ["Sources", "Tests", "Examples", "Benchmarks", "Compatibility", "Fuzzing"]
NAME = r"(?P<name>[A-Za-z_]\w*)"
# `x: Data`, `x: inout Data?`, `x = Data(`, `x: Data = `
DECLARED = re.compile(rf"\b{NAME}\s*(?::\s*(?:inout\s+)?Data\b(?![.\[])|=\s*(?:try[?!]?\s+)?Data\()")
# `var y = x`, `var y = x.dropFirst(2)`, `var y = x[1...]` with a known `x`
DERIVED = re.compile(rf"\bvar\s+{NAME}\s*=\s*(?:\w+[?!]?\.)*(?P<source>\w+)"
                     r"(?:\.(?:dropFirst|prefix|suffix)\([^()]*\)|\[[^\]]*\])?\s*$", re.MULTILINE)
CUT = r"(?<![\w`]){name}[?!]?\.(?:removeFirst|popFirst|removeSubrange|trimPrefix)\(|" \
      r"(?<![\w`]){name}\s*=\s*(?:\w+\.)*{name}[?!]?(?:\.(?:dropFirst|suffix)\(|\[)"
ADDED = r"(?<![\w`]){name}[?!]?\s*\+=|(?<![\w`]){name}[?!]?\.(?:append|insert)\("
COMMENT = re.compile(r"//[^\n]*")


def names_in(text: str) -> set[str]:
    """Variables, properties and parameters that the text declares as `Data`."""
    names = {match["name"] for match in DECLARED.finditer(text)}
    while names and (new := {match["name"] for match in DERIVED.finditer(text) if match["source"] in names} - names):
        names |= new
    return names


def found_in(texts: dict[str, str]) -> list[tuple[str, int, str]]:
    """Places that cut `Data` that is also added to, as (path, line, name), in files that belong together."""
    bare = {path: COMMENT.sub("", text) for path, text in texts.items()}
    found = []
    for name in sorted(names_in("\n".join(bare.values()))):
        if not any(re.search(ADDED.format(name=name), text) for text in bare.values()):
            continue
        for path, text in bare.items():
            for match in re.finditer(CUT.format(name=name), text):
                found.append((path, text.count("\n", 0, match.start()) + 1, name))
    return found


def main() -> int:
    together: dict[str, dict[str, str]] = {}
    for place in PLACES:
        for path in pathlib.Path(place).rglob("*.swift"):
            # `Type+Part.swift` extends the type that `Type.swift` declares.
            key = str(path.parent / path.name.removesuffix(".swift").split("+")[0])
            together.setdefault(key, {})[str(path)] = path.read_text()
    found = [each for key in sorted(together) for each in found_in(together[key])]
    for path, line, name in found:
        print(f"{path}:{line}: `{name}` is Data that is cut at the front here and added to elsewhere, which traps when nothing "
              "is added to it once it is empty; keep octets in an ArraySlice<UInt8>")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
