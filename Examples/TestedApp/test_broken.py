#!/usr/bin/env python3
"""Tests of broken.py that need no build."""
import tempfile
import unittest
from pathlib import Path

import broken


class Replacements(unittest.TestCase):
    def test_each_version_differs_from_the_app(self) -> None:
        for each in broken.VERSIONS:
            text = (broken.HERE / "Sources" / "TestedApp" / each.file).read_text()
            self.assertNotEqual(broken.replaced(text, each.changes, each.name), text)

    def test_a_text_that_is_not_there_is_an_error(self) -> None:
        with self.assertRaises(SystemExit):
            broken.replaced("a b b", [("b", "c")], "name")

    def test_there_are_ten_with_names_and_expectations_of_their_own(self) -> None:
        self.assertEqual(len({each.name for each in broken.VERSIONS}), 10)
        self.assertTrue(all(each.says for each in broken.VERSIONS))

    def test_the_package_has_all_versions(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            broken.WORK = Path(folder) / "package"
            broken.write(broken.VERSIONS)
            for each in broken.VERSIONS:
                tests = (broken.WORK / "Tests" / f"{each.name}Tests" / "TestedAppTests.swift").read_text()
                self.assertIn(f"import {each.name}\n", tests)


class Faults(unittest.TestCase):
    version = broken.Broken("Name", "file", [], "test", [r"likely cause: (\w+)$"])
    start = "\u2718 Test x() recorded an issue at y\n"

    def test_a_test_that_passes_is_a_fault(self) -> None:
        self.assertEqual(broken.faults(self.version, "likely cause: some", 0), ["Name: test passed"])

    def test_a_text_that_lacks_is_a_fault(self) -> None:
        self.assertEqual(len(broken.faults(self.version, self.start + "\u21b3 no cause", 1)), 1)
        self.assertEqual(broken.faults(self.version, self.start + "\u21b3 likely cause: some\n", 1), [])

    def test_a_cause_below_other_lines_is_a_fault(self) -> None:
        others = "\u21b3 the story:\n" + "  line\n" * 4
        self.assertEqual(len(broken.faults(self.version, self.start + others + "\u21b3 likely cause: some\n", 1)), 1)

    def test_a_long_report_is_a_fault(self) -> None:
        output = self.start + "\u21b3 likely cause: some\n" + "  line\n" * broken.MOST + "other\n"
        self.assertEqual(broken.faults(self.version, output, 1), [f"Name: a report has {broken.MOST + 2} lines"])


if __name__ == "__main__":
    unittest.main()
