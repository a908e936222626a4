#!/usr/bin/env python3
"""Tests what shape_of/ reads from Swift sources, and what Scripts/shape counts. Run by Scripts/lint."""
import sys
import tempfile
import unittest
from pathlib import Path

from shape_of import arrows, measures, names, state, tree
from shape_of.declarations import File, parse
from shape_of.tokens import read


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
    return [token.text for token in read(text).tokens]


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
        source = read('a\n/* b\n c */ d\n"""\n  x\n""" e\n// f')
        self.assertEqual([(token.text, token.line) for token in source.tokens if token.kind == "name"],
                         [("a", 1), ("d", 3), ("e", 6)])
        self.assertEqual([(comment.line, comment.text, comment.alone) for comment in source.comments],
                         [(2, "b", True), (3, "c", True), (7, "f", True)])


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

    def test_the_cheapest_cut(self) -> None:
        weights = {("A", "B"): 9, ("B", "C"): 5, ("C", "A"): 2, ("B", "A"): 1}
        self.assertEqual(arrows.cheapest_cut(["A", "B", "C"], weights), [("C", "A"), ("B", "A")])

    def test_from_the_top(self) -> None:
        self.assertEqual(arrows.from_the_top(["A", "B", "C"], {("C", "A"), ("A", "B")}), ["C", "A", "B"])


class State(unittest.TestCase):
    def advice(self, *others: str, declared: str) -> dict[str, str]:
        files = module(A=f"final class A {{ {declared} }}", **{f"B{index}": text for index, text in enumerate(others)})
        reader = state.Reader(files.files)
        return {each.property.name: each.could_be for one in state.spread(files, least=1) for each in state.advise(one, reader)}

    def test_what_could_be_private(self) -> None:
        self.assertEqual(self.advice("extension A { func f() { _ = other } }", declared="var own = 1\n func g() { own += 1 }\n"
                                     " var other = 2"), {"own": "private", "other": "private(set)"})

    def test_writes(self) -> None:
        for text in ["a = 1", "self.a += 1", "a[0] = 1", "a.append(1)", "swap(&a, &b)", "a?.b.c = 1", "a.b.removeAll()",
                     "\n(b, a) = (1, 2)", "if let a { f(a) }; a = nil", "let b = a; a = b"]:
            self.assertEqual(self.advice(f"extension A {{ func f() {{ {text} }} }}", declared="var a: [Int]"), {"a": ""}, text)
        for text in ["b = a", "if a == b {}", "a.map { $0 }", "f(a: a)", "(b, c) = (a, a)", "let a = a\na = 1",
                     "if let a {}"]:
            self.assertEqual(self.advice(f"extension A {{ func f() {{ {text} }} }}", declared="var a: [Int]"),
                             {"a": "private(set)"}, text)

    def test_a_change_of_what_a_class_holds(self) -> None:
        self.assertEqual(self.advice("class B {}", "extension A { func f() { a.c = 1 } }", declared="var a: B"),
                         {"a": "private(set)"})

    def test_state_of_one_other_file(self) -> None:
        files = module(A="class A { var a = 1; var b = 1; func f() { b = 2 } }", B="extension A { func g() { a = b } }")
        (spread,) = state.spread(files, least=1)
        self.assertEqual([each.only_user for each in state.advise(spread, state.Reader(files.files))], ["Module/./B.swift", ""])

    def test_counts(self) -> None:
        files = module(A="class A { var a = 1; private(set) var b = 1; private let c = 1 }", B="extension A {}", C="extension A {}")
        (spread,) = state.spread(files)
        self.assertEqual(spread.count, state.Count(3, 2, 2, 1))
        self.assertEqual(state.spread(module(A="class A { var a = 1 }", B="extension A {}")), [])


class Counts(unittest.TestCase):
    def test_doubled_names(self) -> None:
        first = module("First", A="struct A { package enum B {}\n enum C {} }\nprivate struct D {}")
        second = module("Second", A="extension A { package enum B {}\n enum C {} }\nenum A {}\nprivate struct D {}")
        self.assertEqual({name: [place[0] for place in places] for name, places in names.doubled([first, second]).items()},
                         {"A": ["First", "Second"], "A.B": ["First", "Second"]})

    def test_comments(self) -> None:
        def count(text: str) -> tuple[int, ...]:
            found = measures.comments([parse("a.swift", text)])
            return found["fillers"], found["over 120 columns"], found["vague subjects"], found["is another one"]

        self.assertEqual(count("/// Nothing.\nlet a = 1\n// What it is.\nlet b = 1"), (2, 0, 0, 0))
        self.assertEqual(count("// MARK: Reading\n\n// Core Vol 6\n\n/// See `A`.\nlet a = 1\n/// One.\n/// Two."), (0, 0, 0, 0))
        self.assertEqual(count("// It is here. Whoever asks\n// waits. Nobody, says `A`,\n// is. Who is there?"), (0, 0, 2, 0))
        self.assertEqual(count("// The radio is another one.\n// " + "long prose " * 11), (0, 1, 0, 1))

    def test_functions(self) -> None:
        text = "func a() {\n" + "    a()\n" * 30 + "}\nfunc b() {}"
        self.assertEqual(measures.functions([module(A=text)]), {"count": 2, "median": 16.5, "longest": 32, "over 30 lines": 1})


class OnDisk(unittest.TestCase):
    def test_modules_and_folders(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            for name in ["M/A.swift", "M/F/B.swift", "M/F/G/C.swift", "C/include/a.h"]:
                path = Path(directory) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("struct A {}")
            (found,) = tree.load(Path(directory))
            self.assertEqual({folder: len(files) for folder, files in found.folders.items()}, {".": 1, "F": 2})
            self.assertIsInstance(found.files[0], File)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "--quiet"])
