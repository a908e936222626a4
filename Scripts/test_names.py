#!/usr/bin/env python3
"""Tests what names.py complains of, and what it lets pass. Run by Scripts/lint."""
import sys
import unittest

import names
from shape_of import tree
from shape_of.declarations import parse


def modules(**texts: str) -> list[tree.Module]:
    return [tree.Module(name, {".": [parse(f"Sources/{name}/A.swift", text)]}) for name, text in texts.items()]


class Complaints(unittest.TestCase):
    def test_a_name_in_two_modules(self) -> None:
        found = names.complaints("", modules(First="struct A {}", Second="\nenum A {}"))
        self.assertEqual([each.split(";")[0] for each in found], [
            "Sources/First/A.swift:1: First declares A, which Second declares too",
            "Sources/Second/A.swift:2: Second declares A, which First declares too",
        ])

    def test_a_third_module(self) -> None:
        found = names.complaints("A: First Second", modules(First="struct A {}", Second="enum A {}", Third="class A {}"))
        self.assertEqual(len(found), 1)
        self.assertIn("Sources/Third/A.swift:1: Third declares A, which First, Second declares too", found[0])

    def test_known_names(self) -> None:
        self.assertEqual(names.complaints("# why\nA: First Second", modules(First="struct A {}", Second="enum A {}")), [])

    def test_a_stale_line(self) -> None:
        for known in ["A: First Second", "B: First Second"]:
            found = names.complaints(known, modules(First="struct A {}", Second="private struct A {}"))
            self.assertEqual(len(found), 1)
            self.assertIn("is not doubled any more by First, Second", found[0])

    def test_what_is_no_doubled_name(self) -> None:
        texts = {"First": "struct A { struct State {} }\nprivate struct C {}", "Second": "struct B { struct State {} }\nstruct C {}"}
        self.assertEqual(names.complaints("", modules(**texts)), [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "--quiet"])
