#!/usr/bin/env python3
"""What citations.py finds, and what it complains of. Run by Scripts/lint."""
import os
import sys
import tempfile
import unittest
from pathlib import Path

import citations

PLACES = ["Sources", "Tests", "Interop", "Fuzzing", "Benchmarks", "Mutation", "Scripts", "Documentation"]
# Put together here, so that these texts are not citations themselves.
RULE, RULES, TEST, ATTACK = "behaviour", "behaviours", "behaviour" + "_", "AB" + "-"


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

    def test_names_of_tests(self) -> None:
        for text, numbers in {
            f"{TEST}3_11_theLinkLingers": ["3.11"],
            f"test_{TEST}3_11_the_link_lingers": ["3.11"],
            f"{TEST}8_1_8_2_numbers": ["8.1", "8.2"],
            f"{TEST}1_9_and_{TEST}1_11_powerOff": ["1.9", "1.11"],
            f"{TEST}5_13_to_{TEST}5_15_flowControl": ["5.13", "5.14", "5.15"],
            f"{TEST}5_23_30_seconds": ["5.23"],
            f"{TEST}311_theLinkLingers": ["311"],
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
        text = f"({ATTACK}S05, CVE) func AB_{'L08'}_AB_{'A13'}_what() 3FAB-C012"
        self.assertEqual([citation.number for citation in citations.attacks_in(text)], ["AB-S05", "AB-L08", "AB-A13"])


class Complaints(unittest.TestCase):
    def setUp(self) -> None:
        self.before = os.getcwd()
        self.directory = tempfile.TemporaryDirectory()
        os.chdir(self.directory.name)
        for name in PLACES:
            Path(name).mkdir()

    def tearDown(self) -> None:
        os.chdir(self.before)
        self.directory.cleanup()

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
        for letters, count in [("HLCASG", 0), ("LH", 1), ("HHL", 1)]:
            self.write_list(*(f"{ATTACK}{letter}01" for letter in letters), rules=citations.ABUSE)
            self.assertEqual(len(citations.ABUSE.disorder()), count, letters)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "--quiet"])
