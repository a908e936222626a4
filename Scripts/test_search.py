"""Unit tests for Scripts/search."""
import importlib.machinery
import importlib.util
import sys
import unittest
from pathlib import Path

from planted import PLANTS, Plant, plant

LOADER = importlib.machinery.SourceFileLoader("search", str(Path(__file__).resolve().parent / "search"))
SPEC = importlib.util.spec_from_loader("search", LOADER)
search = importlib.util.module_from_spec(SPEC)
LOADER.exec_module(search)


class SearchTests(unittest.TestCase):
    def test_options_become_variables(self):
        """Each option is a variable, and what is not given has none."""
        found = search.environment(search.parse(["--seeds", "1-9", "--shard", "3/20"]), "report.json")
        self.assertEqual(found["HARALD_SEARCH_SEEDS"], "1-9")
        self.assertEqual(found["HARALD_SEARCH_SHARD"], "3/20")
        self.assertEqual(found["HARALD_SEARCH_JSON"], "report.json")
        self.assertNotIn("HARALD_SEARCH_STEPS", found)
        self.assertEqual(found["HARALD_SEARCH_LIMIT"], "300")
        self.assertNotIn("HARALD_SEARCH_STATE", found)

    def test_the_state_file_is_absolute(self):
        """The test program may run in another directory."""
        found = search.environment(search.parse(["--state", "here.txt"]), "report.json")
        self.assertTrue(found["HARALD_SEARCH_STATE"].startswith("/"))

    def test_each_planted_fault_has_its_place(self):
        """The sources still have the code that a fault changes."""
        for fault in PLANTS:
            source = (Path(__file__).resolve().parent.parent / fault.path).read_text()
            self.assertNotEqual(plant(source, fault), source, fault.name)

    def test_a_fault_without_a_place_is_refused(self):
        """A fault that would be planted twice, or not at all, would prove nothing."""
        for source in ("", "x x"):
            with self.assertRaises(ValueError):
                plant(source, Plant("a fault", "A.swift", "x", "y"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "--quiet"])
