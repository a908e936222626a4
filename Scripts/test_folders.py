#!/usr/bin/env python3
"""Tests what folders.py complains of, and what it lets pass. Run by Scripts/lint."""
import sys
import unittest

import folders
from swift_source import tree
from swift_source.declarations import parse

SOUND = {"Top/A": "struct A { let b: B }", "Low/B": "struct B {}"}
CYCLIC = {"Top/A": "struct A { let b: B }", "Low/B": "struct B {\n let a: A\n}"}
LIST = "Module\n    Top : Low\n    Low :\n"


def module(files: dict[str, str], name: str = "Module") -> tree.Module:
    result = tree.Module(name)
    for key, text in files.items():
        result.folders.setdefault(key.split("/")[0], []).append(parse(f"Sources/{name}/{key}.swift", text))
    return result


def found(text: str, files: dict[str, str]) -> list[str]:
    return folders.complaints(folders.parse(text), [module(files)])


class Complaints(unittest.TestCase):
    def test_a_module_that_keeps_to_the_list(self) -> None:
        self.assertEqual(found(LIST, SOUND), [])
        self.assertEqual(found("", {"./A": "struct A {}"}), [], "a module without folders")

    def test_an_upward_arrow(self) -> None:
        self.assertEqual(found(LIST, CYCLIC), [
            "Sources/Module/Low/B.swift:2: Module/Low may not use Top, which declares A (Scripts/folders.txt)"])

    def test_a_cycle_in_the_list(self) -> None:
        self.assertEqual(found(LIST.replace("Low :", "Low : Top"), SOUND), ["Scripts/folders.txt: Module: a cycle of Low Top"])

    def test_what_the_list_lacks_or_has_too_much(self) -> None:
        for text, says in {
            "Module\n    Top : Low\n": "Module/Low is missing",
            LIST + "    Side :\n": "Module has no folder Side",
            LIST + "Other\n": "there is no module Other",
            LIST + "Low uses Top": "neither a module nor a folder",
            "": "Module is missing",
        }.items():
            complaints = found(text, SOUND)
            self.assertEqual(len(complaints), 1, complaints)
            self.assertIn(says, complaints[0])

    def test_the_lines_of_a_module(self) -> None:
        self.assertEqual("\n".join(folders.lines(module(SOUND), [module(SOUND)])) + "\n", LIST)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "--quiet"])
