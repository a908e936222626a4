#!/usr/bin/env python3
"""Tests what swift_source/ reads from Swift sources. Run by Scripts/lint."""
import sys
import tempfile
import unittest
from pathlib import Path

from swift_source import arrows, tree
from swift_source.declarations import File, parse
from swift_source.tokens import read


def module(name: str = "Module", **files: str) -> tree.Module:
    """Parses a module. `Folder_File` is a file in a folder, and `File` one beside the folders."""
    result = tree.Module(name)
    for key, text in files.items():
        folder, _, file = key.rpartition("_")
        folder = folder or tree.ROOT
        result.folders.setdefault(folder, []).append(parse(f"{name}/{folder}/{file}.swift", text))
    return result


def edges(*elsewhere: str, **files: str) -> set[tuple[str, str, str]]:
    return {(use.source, use.target, use.name) for use in arrows.uses_of(module(**files), set(elsewhere))}


def words(text: str) -> list[str]:
    return [token.text for token in read(text)]


class Tokens(unittest.TestCase):
    def test_comments_and_strings_are_no_code(self) -> None:
        for text, expected in {
            "a // b\nc": ["a", "c"],
            "a /* b /* c */ d */ e": ["a", "e"],
            '"a { // b" c': ["a { // b", "c"],
            '"a \\" b" c': ["a \\\" b", "c"],
            '#"a " b"# c': ['a " b', "c"],
            '"""\na " { b\n""" c': ['\na " { b\n', "c"],
            '"a \\(b + "c") d" e': ["a … d", "(", "b", "+", "c", ")", "e"],
            "#/a{1}/# b": ["", "b"],
            "a! = b != c": ["a", "!", "=", "b", "!=", "c"],
        }.items():
            self.assertEqual(words(text), expected, text)

    def test_lines(self) -> None:
        tokens = read('a\n/* b\n c */ d\n"""\n  x\n""" e\n// f')
        self.assertEqual([(token.text, token.line) for token in tokens if token.kind == "name"],
                         [("a", 1), ("d", 3), ("e", 6)])


class Declarations(unittest.TestCase):
    def stored(self, text: str) -> list[tuple[str, bool, bool]]:
        return [(each.name, each.variable, each.is_private) for each in parse("a.swift", text).properties]

    def test_stored_properties(self) -> None:
        for text, expected in {
            "let a: Int": [("a", False, False)],
            "private var a = 1": [("a", True, True)],
            "private(set) var a: [Int] = []\n var b = Set<Int>()": [("a", True, True), ("b", True, False)],
            "@Locked(1) fileprivate lazy var a: Int = { 1 }()": [("a", True, True)],
            "var a = 1 { didSet { tell() } }": [("a", True, False)],
            "var a: Int { didSet { tell() } }": [("a", True, False)],
            "var a: Int { 1 }\n var b: Int { get { 1 } set { } }": [],
            "static var a = 1\n class var b: Int { 1 }": [],
            "var a = Table<Int, Key>(limit: 1)\n let b: (A, B) -> C": [("a", True, False), ("b", False, False)],
            "var a = 1, b: Int? = 2": [("a", True, False), ("b", True, False)],
            "func f() { let a = 1 }": [],
            "var a =\n sum\n .first": [("a", True, False)],
        }.items():
            self.assertEqual(self.stored(f"class C {{\n {text}\n}}"), expected, text)
        self.assertEqual(self.stored("protocol P { var a: Int { get } }\nextension C { var a: Int { 1 } }\nlet a = 1"), [])

    def test_owners(self) -> None:
        file = parse("a.swift", "struct A { enum B { case c(Int), d\n struct E { var f = 1 } } }\nextension A.B { func g() {} }")
        self.assertEqual({member.path for member in file.members},
                         {"A", "A.B", "A.B.c", "A.B.d", "A.B.E", "A.B.E.f", "A.B.g"})
        self.assertEqual([(scope.name, scope.kind) for scope in file.scopes],
                         [("A.B.E", "struct"), ("A.B", "enum"), ("A", "struct"), ("A.B", "extension")])

    def test_lengths_of_functions(self) -> None:
        file = parse("a.swift", "func a() { }\nprotocol P { func b(); func c() }\nstruct S {\n @Test\n init(\n  a: Int = { 1 }()\n"
                                " ) {\n  func d() {\n  }\n }\n}")
        self.assertEqual([(each.name, each.last_line - each.line + 1) for each in file.functions],
                         [("a", 1), ("d", 2), ("init", 6)])


class Arrows(unittest.TestCase):
    def test_types_functions_and_extensions(self) -> None:
        self.assertEqual(edges(Up_A="struct A { let b: B; func f() { free(1) } }", Down_B="struct B {}\nfunc free(_ i: Int) {}"),
                         {("Up", "Down", "B"), ("Up", "Down", "free")})
        self.assertEqual(edges(A="struct A {}", Low_B="extension A {}"), {("Low", ".", "A")})

    def test_members_that_an_extension_adds(self) -> None:
        files = {"Base_A": "struct A { func own() {} }", "Extra_A": "extension A { func added() {} }"}
        user = {"Use_C": "func c(a: A) { a.added(); a.own() }"}
        self.assertEqual(edges(**files, **user),
                         {("Extra", "Base", "A"), ("Use", "Base", "A"), ("Use", "Extra", "added")})
        self.assertNotIn(("Use", "Extra", "added"), edges("added", **files, **user), "another module has the name")
        self.assertNotIn(("Use", "Extra", "added"), edges(**files, **user, Base_D="protocol D { func added() }"))

    def test_what_is_no_use(self) -> None:
        for text in ["// B\nstruct A {}", 'let a = "B"', "struct A { enum B {}\n let b: B }", "private struct B {}\nlet b: B?",
                     "let a = A.B", "func f(free: Int) { f(free: 1); a.free(1) }"]:
            self.assertEqual(edges(Up_A=text, Down_B="struct B {}\nfunc free(_ i: Int) {}"), set(), text)

    def test_cycles(self) -> None:
        self.assertEqual(arrows.cycles({("A", "B"), ("B", "C")}), [])
        self.assertEqual(arrows.cycles({("A", "B"), ("B", "C"), ("C", "A"), ("C", "D"), ("E", "F"), ("F", "E")}),
                         [["A", "B", "C"], ["E", "F"]])

    def test_from_the_top(self) -> None:
        self.assertEqual(arrows.from_the_top(["A", "B", "C"], {("C", "A"), ("A", "B")}), ["C", "A", "B"])


class OnDisk(unittest.TestCase):
    def test_modules_and_folders(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            for name in ["T/M/A.swift", "T/M/F/B.swift", "U/C/include/a.h", "T/M/F/G/C.swift"]:
                path = Path(directory) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("struct A {}")
            (found,) = tree.load(Path(directory))
            self.assertEqual({folder: len(files) for folder, files in found.folders.items()}, {".": 1, "F": 2})
            self.assertIsInstance(found.files[0], File)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "--quiet"])
