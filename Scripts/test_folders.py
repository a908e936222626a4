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


class Uncalled(unittest.TestCase):
    def uncalled(self, text: str, program: str = "") -> list[str]:
        folders.FOR_TESTS.clear()
        found = folders.uncalled([module({"Low/A": text})], [parse("Examples/a.swift", program)])
        return [says.split("only tests use ")[1].split(";")[0] for says in found]

    def test_what_nothing_uses(self) -> None:
        self.assertEqual(self.uncalled("package struct A {\n package func b() {}\n func c() {}\n private func d() {}\n}"),
                         ["A", "A.b"])

    def test_a_use_in_a_source_or_in_a_program(self) -> None:
        text = "package struct A {\n package func b() {}\n package func c() {}\n}\nlet a = A().b()"
        self.assertEqual(self.uncalled(text), ["A.c"])
        self.assertEqual(self.uncalled(text, "a.c()"), [])

    def test_uses_that_do_not_count(self) -> None:
        for text, expected in {
            "package func a() { a() }": ["a"],
            "package struct A {\n let a: A?\n}\nextension A {\n func b() -> A { A() }\n}": ["A"],
            "package func a() { b() }\npackage func b() {}": ["a", "b"],
            "package var a: Int { b }\npackage var b: Int { 1 }": ["a", "b"],
            "// a\npackage let a = \"a\"": ["a"],
        }.items():
            self.assertEqual(self.uncalled(text), expected, text)

    def test_what_need_not_be_used(self) -> None:
        for text in [
            "package enum A {\n package static let b = 1\n package static let c = 2\n}\nlet a = A.b",
            "extension A: CustomReflectable {\n package var customMirror: Mirror { Mirror() }\n}",
            "public func a() {}\nfunc b() {}",
            "package struct A {\n package init() {}\n}\nlet a = A()",
        ]:
            self.assertEqual(self.uncalled(text), [], text)

    def test_a_reason_that_has_become_needless(self) -> None:
        folders.FOR_TESTS.clear()
        folders.FOR_TESTS["A.b"] = "a reason"
        text = "package struct A {\n package func b() {}\n}\nlet a = A()"
        self.assertEqual(folders.uncalled([module({"Low/A": text})], []), [])
        self.assertIn("without need", folders.uncalled([module({"Low/A": text + ".b()"})], [])[0])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "--quiet"])
