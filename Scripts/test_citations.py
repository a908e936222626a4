#!/usr/bin/env python3
"""Tests the findings and complaints of citations.py and qualification.py. Run by Scripts/lint."""
import os
import sys
import tempfile
import unittest
from pathlib import Path

import citations
import qualification

PLACES = ["Sources", "Tests", "Interop", "Fuzzing", "Benchmarks", "Mutation", "Scripts", "Documentation"]
# Assembled here, so that these texts are not citations themselves.
RULE, RULES, ATTACK, CASE = "behaviour", "behaviours", "AB" + "-", "GATT" + "/SR/GAR/"


def found(text: str) -> list[str]:
    return [citation.number for citation in citations.behaviours_in(text)]


class Reading(unittest.TestCase):
    def test_forms_in_prose(self) -> None:
        for text, numbers in {
            f"(Core Vol 3 Part C 10.7, {RULE} 3.11).": ["3.11"],
            f"{RULE.capitalize()} 6.3. Then": ["6.3"],
            f"{RULES} 6.5, 6.6": ["6.5", "6.6"],
            f"{RULES} 6.18 and 6.19": ["6.18", "6.19"],
            f"{RULES} 1.3, 1.4, 1.9 to 1.12, and 2.1)": ["1.3", "1.4", "1.9", "1.10", "1.11", "1.12", "2.1"],
            f"{RULES} 7.18–7.20": ["7.18", "7.19", "7.20"],
            f"as {RULE}\n        /// 3.12 says": ["3.12"],
            f"{RULES} 1.3, 1.9 to\n/// 1.11)": ["1.3", "1.9", "1.10", "1.11"],
            f"{RULES} 1.3,\n    # 1.4": ["1.3", "1.4"],
        }.items():
            self.assertEqual(found(text), numbers, text)

    def test_what_a_test_says(self) -> None:
        for text, numbers in {
            f"{RULE} 3.11: the link lingers": ["3.11"],
            f"{RULES} 8.1, 8.2: numbers are given out": ["8.1", "8.2"],
            f"{CASE}BV-01, {RULES} 1.9, 1.11, {ATTACK}S05: power off": ["1.9", "1.11"],
            f"{RULES} 5.13 to 5.15: flow control": ["5.13", "5.14", "5.15"],
            f"{RULE} 5.23: 30 seconds": ["5.23"],
            f"{RULE} 311: the link lingers": ["311"],
        }.items():
            self.assertEqual(found(text), numbers, text)

    def test_what_is_no_citation(self) -> None:
        for text in [f"{RULE} of 3.11", f"the {RULE}, 3.11 dB", "Core Vol 3 Part A 4.22", f"{RULE} 4.5.1", f"{RULE}s"]:
            self.assertEqual(found(text), [], text)
        self.assertEqual(found(f"{RULE} 2.14, 4.5.1"), ["2.14"])

    def test_a_range_that_is_none(self) -> None:
        self.assertEqual(found(f"{RULES} 1.9 to 2.3"), ["1.9", "1.9 to 2.3", "2.3"])
        self.assertEqual(found(f"{RULES} 1.9 to 1.4"), ["1.9", "1.9 to 1.4", "1.4"])
        self.assertEqual(found(f"{RULES} 1.9 to 2.12"), ["1.9", "1.9 to 2.12", "2.12"])

    def test_attacks(self) -> None:
        text = f"({ATTACK}S05, CVE) {ATTACK}L08, {ATTACK}A13: what 3FAB-C012"
        self.assertEqual([citation.number for citation in citations.attacks_in(text)], ["AB-S05", "AB-L08", "AB-A13"])


class InADirectory(unittest.TestCase):
    def setUp(self) -> None:
        self.before = os.getcwd()
        self.directory = tempfile.TemporaryDirectory()
        os.chdir(self.directory.name)
        for name in PLACES:
            Path(name).mkdir()

    def tearDown(self) -> None:
        os.chdir(self.before)
        self.directory.cleanup()


class Complaints(InADirectory):
    def write_list(self, *numbers: str, rules: citations.RuleList = citations.BEHAVIOURS) -> None:
        rules.path.write_text("# Rules\n\n" + "".join(f"- **{number}** Text.\n" for number in numbers))

    def test_a_number_that_is_in_no_list(self) -> None:
        self.write_list("1.1", "1.2")
        Path("Sources/Room").mkdir()
        Path("Sources/Room/A.swift").write_text(f"let a = 1\n\n/// Since ({RULES} 1.1,\n/// 1.3).\n")
        Path("Sources/picture").write_bytes(b"\xff\xfe\x00")
        self.assertEqual(
            citations.BEHAVIOURS.strangers(), ["Sources/Room/A.swift:4: 1.3 is not in Documentation/Behaviours.md"]
        )
        self.assertEqual(citations.BEHAVIOURS.cited(), {"1.1", "1.3"})

    def test_each_place_is_looked_at(self) -> None:
        self.write_list("1.1")
        for name in [*PLACES, "."]:
            Path(name, "text.md").write_text(f"{RULE} 9.9")
        self.assertEqual(len(citations.BEHAVIOURS.strangers()), len(PLACES) + 1)

    def test_a_list_in_order(self) -> None:
        self.write_list("0.1", "0.2", "0.10", "1.1", "2.3")
        self.assertEqual(citations.BEHAVIOURS.disorder(), [])

    def test_a_list_in_disorder(self) -> None:
        for numbers, line in [(["1.1", "1.1"], 4), (["1.2", "1.1"], 4), (["1.1", "2.1", "1.2"], 5), (["2.1", "1.1"], 4)]:
            self.write_list(*numbers)
            [complaint] = citations.BEHAVIOURS.disorder()
            self.assertTrue(complaint.startswith(f"Documentation/Behaviours.md:{line}: {numbers[-1]} "), complaint)

    def test_chapters_of_attacks_stand_from_the_controller_up(self) -> None:
        for letters, count in [("HLCASGWFT", 0), ("LH", 1), ("HHL", 1), ("FG", 1), ("TF", 1)]:
            self.write_list(*(f"{ATTACK}{letter}01" for letter in letters), rules=citations.ABUSE)
            self.assertEqual(len(citations.ABUSE.disorder()), count, letters)


class Defences(InADirectory):
    def test_an_attack_needs_a_source_and_a_test(self) -> None:
        citations.ABUSE.path.write_text(f"# Rules\n\n- **{ATTACK}F01** Text.\n- **{ATTACK}T01** Text.\n")
        self.assertEqual(len(citations.undefended()), 4)
        Path("Sources/a.swift").write_text(f"/// Defends ({ATTACK}F01, {ATTACK}T01).")
        Path("Tests/ATests.swift").write_text(f'@Test("{ATTACK}T01: so") func a() {{}}\n')
        [complaint] = citations.undefended()
        self.assertIn(f"{ATTACK}F01 has no test", complaint)
        # A mention in a test is no defence.
        Path("Sources/a.swift").write_text("")
        self.assertIn(f"{ATTACK}T01 is cited by no source", "\n".join(citations.undefended()))


class InNeedOfATest(InADirectory):
    def setUp(self) -> None:
        super().setUp()
        self.write_rules("documented", "widely reported", "single report; conflict", "inferred")

    def write_rules(self, *certainties: str) -> None:
        """Writes rules 1.1 and so on, and one of a chapter that needs no tests."""
        rules = [f"- **1.{number}** Text that is *documented*.\n  More. — GUIDE; *{certainty}*. **Harald:** does.\n"
                 for number, certainty in enumerate(certainties, 1)]
        citations.BEHAVIOURS.path.write_text("# Rules\n\n" + "".join(rules) + "- **12.1** Text. — GUIDE; *documented*\n")
        self.give_reasons("")

    def give_reasons(self, text: str) -> None:
        citations.UNPROVED.write_text("# Why\n\n" + text)

    def prove(self, *numbers: str) -> None:
        Path("Tests/ATests.swift").write_text("".join(f'@Test("{RULE} {n}: so") func a() {{}}\n' for n in numbers))

    def test_what_is_known_well(self) -> None:
        self.assertEqual(citations.in_need_of_a_test(), ["1.1", "1.2"])
        self.write_rules("single report; foreground widely reported", "documented; combination unsourced", "unsourced")
        self.assertEqual(citations.in_need_of_a_test(), ["1.1", "1.2"])

    def test_a_rule_needs_a_test_or_a_reason_and_not_both(self) -> None:
        self.assertEqual(len(citations.unaccounted()), 2)
        self.prove("1.1")
        [complaint] = citations.unaccounted()
        self.assertIn("1.2 has neither", complaint)
        self.give_reasons("1.2 | cannot be\n")
        self.assertEqual(citations.unaccounted(), [])
        for stale in ["1.1..2 | both\n", "1.2 1.3 | both\n", "1.2 12.1 | both\n"]:
            self.give_reasons(stale)
            [complaint] = citations.unaccounted()
            self.assertIn("has a test, or needs none", complaint)

    def test_a_reason_is_given(self) -> None:
        for line in ["1.2 |\n", "1.2\n", "one | why\n"]:
            self.give_reasons(line)
            with self.assertRaises(SystemExit):
                citations.reasons()


class Proofs(InADirectory):
    def write_swift(self, text: str) -> None:
        Path("Tests/ATests.swift").write_text(text)

    def says(self, text: str) -> list[tuple[str, str]]:
        self.write_swift(text)
        return [(test.function, test.says) for test in citations.swift_tests()]

    def test_display_names(self) -> None:
        for text, test in {
            '@Test func short() {}': ("short", ""),
            '@Test("a \\"b\\" c") func short() {}': ("short", 'a \\"b\\" c'),
            '@Test(\n    "a: b",\n    arguments: ["c"]\n)\nprivate func short(text: String) {}': ("short", "a: b"),
            '@Test(arguments: ["a"]) func short(text: String) {}': ("short", ""),
        }.items():
            self.assertEqual(self.says(text), [test], text)
        self.assertEqual(self.says('@Test func one() {}\n@Test("a") func two() {}'), [("one", ""), ("two", "a")])

    def test_docstrings(self) -> None:
        Path("Interop/tests").mkdir()
        Path("Interop/tests/test_a.py").write_text(
            f'async def test_one() -> None:\n    """{RULE} 1.1."""\n\n\ndef test_two(): pass\n\n\ndef three(): pass\n'
        )
        tests = [(test.function, test.says) for test in citations.python_tests()]
        self.assertEqual(tests, [("test_one", f"{RULE} 1.1."), ("test_two", "")])
        self.assertEqual(citations.BEHAVIOURS.proved(), {"1.1"})

    def test_an_identifier_in_the_name_of_a_function(self) -> None:
        for name in ["AB_S05_what", "behaviour_1_2_what", "what_behaviour_1_2", "GAP_SEC_SEM_BV_57_what", "SM_CEN"]:
            self.write_swift(f'@Test("a") func {name}() {{}}')
            self.assertEqual(len(citations.misplaced()), 1, name)
        for name in ["aPeripheralRejects", "h6_and_h7", "theBehaviourOfAB_1", "a_key_of_GAP"]:
            self.write_swift(f'@Test("a") func {name}() {{}}')
            self.assertEqual(citations.misplaced(), [], name)

    def test_cases(self) -> None:
        self.write_swift(f'@Test("{CASE}BV-01, {CASE}BI-1, {ATTACK}S05: what") func short() {{}}')
        self.assertEqual(qualification.proved(), {f"{CASE}BV-01", f"{CASE}BI-1"})
        stranger = f"{CASE}BI-1: a test names this case, and qualification.txt does not have it"
        self.assertIn(stranger, qualification.complaints())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "--quiet"])
