#!/usr/bin/env python3
"""Tests the scripts that read or write the sources: swift_source, emptied_data.py, limits.py and assigned_numbers.py. Run
by Scripts/lint."""
import sys
import tempfile
import unittest
from pathlib import Path

import assigned_numbers
import emptied_data
import limits
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


def lines(**texts: str) -> list[tuple[str, int]]:
    return [(path, line) for path, line, _ in emptied_data.found_in(texts)]


class EmptiedData(unittest.TestCase):
    def test_data_that_is_cut_and_added_to(self) -> None:
        for text in [
            "var rest: Data\nrest += more\nrest.removeFirst(count)",
            "private var rest = Data()\nrest.append(more)\nself.rest.removeSubrange(..<4)",
            "init(first: Data) {\nvar rest = first\nrest = rest.dropFirst(4); rest += more }",
            "func take(_ rest: inout Data) {\nrest.append(contentsOf: more)\nrest = rest[2...] }",
            "var rest: Data?\nrest? += more\nrest?.removeFirst()",
            "let all = Data(octets)\nvar rest = all.dropFirst(2)\n_ = rest.popFirst(); rest += more",
            "var rest: Data\nstate.rest.append(more)\nstate.rest = state.rest.suffix(3)",
        ]:
            self.assertEqual([line for _, line in lines(a=text)], [text.count("\n") + 1], text)

    def test_a_queue_of_two_files_of_one_type(self) -> None:
        found = lines(Queue="private(set) var rest = Data()\nrest += more", Queue_reading="\nrest.removeFirst(1)")
        self.assertEqual(found, [("Queue_reading", 2)])

    def test_what_cannot_trap(self) -> None:
        for text in [
            "var rest: [UInt8] = []\nrest += more\nrest.removeFirst(count)",
            "private var rest: ArraySlice<UInt8>\nrest = ArraySlice(first)\nrest += more\nrest.removeFirst(count)",
            "var pieces: [Data] = []\npieces.append(more)\npieces.removeFirst()",
            "var rest = octets as Data\nlet whole: Data = rest\nwhile !rest.isEmpty { rest = rest.dropFirst(4) }",
            "var all = Data()\nall += more\nlet rest = all.dropFirst(4)",
            "var rest: Data\n// rest.removeFirst(count)\nrest += more",
        ]:
            self.assertEqual(lines(a=text), [], text)


CODE = {
    "ServiceLimits": ["// Documentation/Limits.md\nenum ServiceLimits {\n    package static let scans = 1_024\n"
                      "    static let octets = 2 << 20\n    static let both = Quota(app: 8, user: 1_000, total: 4_064)\n}"],
    "Other": ["struct Other {\n    static let most = ServiceLimits.scans\n    static var least: Int { 64 }\n"
              "    static let patience = Duration.seconds(5)\n}"],
}
ROWS = {
    ("ServiceLimits", "scans"): "1,024",
    ("ServiceLimits", "octets"): "2,097,152",
    ("ServiceLimits", "both"): "app 8, user 1,000, total 4,064",
    ("Other", "most"): "1,024",
    ("Other", "least"): "64",
    ("Other", "patience"): "5 s",
}


def document(rows: dict[tuple[str, str], str]) -> str:
    return "\n".join(f"| text | `{kind}.{name}` | {value} | told |" for (kind, name), value in rows.items())


class Limits(unittest.TestCase):
    def test_a_true_document(self) -> None:
        self.assertEqual(limits.differences(document(ROWS), CODE), [])

    def test_each_wrong_value(self) -> None:
        for row in ROWS:
            found = limits.differences(document({**ROWS, row: "7"}), CODE)
            self.assertEqual(len(found), 1)
            self.assertIn(f"{row[0]}.{row[1]} is {ROWS[row]} in the code, and 7 here", found[0])

    def test_a_constant_without_a_row(self) -> None:
        rows = {row: value for row, value in ROWS.items() if row[1] != "octets"}
        self.assertEqual(limits.differences(document(rows), CODE), ["ServiceLimits.octets has no row in Documentation/Limits.md"])

    def test_a_row_without_a_constant(self) -> None:
        found = limits.differences(document({**ROWS, ("Other", "gone"): "1"}), CODE)
        self.assertEqual(len(found), 1)
        self.assertIn("Other.gone is no constant that can be read", found[0])

    def test_a_row_that_names_nothing(self) -> None:
        self.assertEqual(len(limits.differences(document(ROWS) + "\n| text | 7 | told |", CODE)), 1)


UNITS = {"percentage": 0x27AD, "length.metre": 0x2701}


def field(kind: str, description: str = "", size: str = "2", name: str = "Level") -> dict[str, str]:
    return {"field": name, "type": kind, "size": size, "description": description}


class AssignedNames(unittest.TestCase):
    def test_a_table_is_sorted_and_keeps_the_first_name(self) -> None:
        rows = [("0100", "b"), ("00FF", "a"), ("0100", "c")]
        self.assertEqual(assigned_numbers.table(rows), ["00FF a", "0100 b"])

    def test_a_name_that_would_end_the_literal_is_refused(self) -> None:
        for name in ["", 'x"""#']:
            with self.assertRaises(SystemExit):
                assigned_numbers.table([("0000", name)])

    def test_names_are_one_line_of_visible_text(self) -> None:
        self.assertEqual(assigned_numbers.clean("A\u00a0B\n  C\u200b\x1b D"), "A B C D")
        self.assertEqual(assigned_numbers.clean(r"CO\textsubscript{2}"), "CO2")

    def test_companies(self) -> None:
        parsed = {"company_identifiers": [{"value": 0x59, "name": "Nordic Semiconductor ASA"}, {"value": 2, "name": "Intel"}]}
        self.assertEqual(assigned_numbers.companies(parsed), ["0002 Intel", "0059 Nordic Semiconductor ASA"])

    def test_uuids_have_the_letter_of_their_kind(self) -> None:
        files = {name: {"uuids": []} for name in assigned_numbers.UUID_FILES}
        files["service_uuids"]["uuids"] = [{"uuid": 0x180D, "name": "Heart Rate"}, {"uuid": 0x1800, "name": "GAP"}]
        files["units"]["uuids"] = [{"uuid": 0x2700, "name": "unitless"}]
        self.assertEqual(
            assigned_numbers.uuids(files), ["1800 s Generic Access", "180D s Heart Rate", "2700 u unitless"]
        )

    def test_an_appearance_has_its_category_in_the_upper_ten_bits(self) -> None:
        categories = [{"category": 0xD, "name": "Heart Rate Sensor", "subcategory": [{"value": 1, "name": "Belt"}]}]
        self.assertEqual(
            assigned_numbers.appearances({"appearance_values": categories}), ["0340 Heart Rate Sensor", "0341 Belt"]
        )

    def test_a_version_is_a_number(self) -> None:
        parsed = {"core_version": [
            {"value": 3, "name": "Bluetooth® Core Specification 2.0+EDR (Withdrawn)"},
            {"value": 12, "name": "Bluetooth® Core Specification 5.3"},
        ]}  # fmt: skip
        self.assertEqual(assigned_numbers.versions(parsed), ["0003 2.0+EDR", "000C 5.3"])


class AssignedLayouts(unittest.TestCase):
    def test_a_number_has_a_scale_a_unit_and_special_values(self) -> None:
        text = 'Base Unit: org.bluetooth.unit.percentage\nRepresented values: M = 1, d = - 2, b = 0\n' \
               'A value of 0xFFFF represents "value is not known".'
        self.assertEqual(assigned_numbers.scalar(field("uint16", text), UNITS), "u2 1 -2 0 27AD FFFF")

    def test_metre_has_two_spellings(self) -> None:
        text = "Base Unit: org.bluetooth.unit.length.meter."
        self.assertEqual(assigned_numbers.scalar(field("sint24", text), UNITS), "s3 1 0 0 2701 -")

    def test_medical_floats(self) -> None:
        self.assertEqual(
            assigned_numbers.scalar(field("medfloat16", "Unit: org.bluetooth.unit.percentage"), UNITS), "f16 1 0 0 27AD -"
        )

    def test_bits_lists_enumerations_and_optional_fields_have_no_layout(self) -> None:
        unit = "Unit: org.bluetooth.unit.percentage"
        for each in [
            field("boolean[8]", unit), field("uint16[n]", unit), field("struct", unit), field("uint8", unit, "0 or 1"),
            field("uint8", r"See \autoref{sec:x}"), field("uint8", "0: No / 1: Yes"), field("uint8", "Unit: org.bluetooth.unit.x"),
        ]:  # fmt: skip
            self.assertIsNone(assigned_numbers.scalar(each, UNITS), each)

    def test_several_fields_have_names_without_that_of_the_characteristic(self) -> None:
        unit = "Unit: org.bluetooth.unit.percentage"
        fields = [field("uint8", unit, "1", "Zone - Low"), field("uint8", unit, "1", "High")]
        self.assertEqual(
            assigned_numbers.layout({"name": "Zone", "structure": fields}, UNITS), "u1 1 0 0 27AD -:Low;u1 1 0 0 27AD -:High"
        )

    def test_text(self) -> None:
        self.assertEqual(assigned_numbers.layout({"name": "x", "structure": [field("utf8s")]}, UNITS), "text")
        self.assertIsNone(assigned_numbers.layout({"name": "x", "structure": []}, UNITS))

    def test_exclusions_and_corrections(self) -> None:
        text = "Unit: org.bluetooth.unit.percentage, M = 1, d = 0, b = 6"
        ids = [f"org.bluetooth.characteristic.{each}" for each in ("high_voltage", "time_accuracy")]
        described = [{"identifier": each, "name": "x", "structure": [field("uint24", text)]} for each in ids]
        numbers = {ids[0]: 0x2BE0, ids[1]: 0x2A12}
        self.assertEqual(assigned_numbers.layouts(described, numbers, UNITS), ["2BE0 u3 1 0 -6 27AD -"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "--quiet"])
