#!/usr/bin/env python3
"""Tests the search, and the faults that it and the explorations have to find, without a build. Run by Scripts/lint."""
import re
import sys
import unittest
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import planted_explorations
from planted import PLANTS, Plant, plant, planted, proves

ROOT = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
loader = SourceFileLoader("search", str(ROOT / "Scripts" / "search"))
search = module_from_spec(spec_from_loader(loader.name, loader))
loader.exec_module(search)


class SearchTests(unittest.TestCase):
    def test_options_become_variables(self):
        """Each option is a variable, and what is not given has none."""
        found = search.environment(search.parse(["--seeds", "1-9", "--shard", "3/20"]), "report.json")
        self.assertEqual(found["HARALD_SEARCH_SEEDS"], "1-9")
        self.assertEqual(found["HARALD_SEARCH_SHARD"], "3/20")
        self.assertEqual(found["HARALD_SEARCH_JSON"], "report.json")
        self.assertEqual(found["HARALD_SEARCH_LIMIT"], "300")
        self.assertNotIn("HARALD_SEARCH_STEPS", found)
        self.assertNotIn("HARALD_SEARCH_STATE", found)

    def test_the_state_file_is_absolute(self):
        """The test program may run in another directory."""
        found = search.environment(search.parse(["--state", "here.txt"]), "report.json")
        self.assertTrue(found["HARALD_SEARCH_STATE"].startswith("/"))

    def test_each_planted_fault_has_its_place(self):
        """The sources still have the code that a fault changes."""
        for fault in PLANTS:
            source = (ROOT / fault.path).read_text()
            self.assertIn("(plantedFault == 3)", plant(source, 3, fault), fault.name)

    def test_all_faults_are_planted_at_once(self):
        """A file with two faults has both, each under its own number."""
        texts = planted(ROOT)
        self.assertEqual(set(texts), {ROOT / fault.path for fault in PLANTS})
        joined = "".join(texts.values())
        for number in range(1, len(PLANTS) + 1):
            self.assertEqual(joined.count(f"(plantedFault == {number})"), 1)
        self.assertEqual(joined.count("import Glibc"), len(texts))

    def test_a_fault_without_a_place_is_refused(self):
        """A fault that would be planted twice, or not at all, would prove nothing."""
        for source in ("", "x x"):
            with self.assertRaises(ValueError):
                plant(source, 1, Plant("a fault", "A.swift", "x", "y", "z"))

    def test_other_findings_prove_nothing(self):
        """Only the finding that a fault causes shows that it was found."""
        fault = next(each for each in PLANTS if "repeated event" in each.name)
        self.assertTrue(proves({"check": "values arrive in order, once", "text": "7 arrived after 7"}, fault))
        self.assertFalse(proves({"check": "values arrive in order, once", "text": "71 arrived after 7"}, fault))
        self.assertFalse(proves({"check": "values arrive in order, once", "text": "6 arrived after 7"}, fault))
        self.assertFalse(proves({"check": "misuse of the API", "text": "7 arrived after 7"}, fault))


class PlantedExplorationsTest(unittest.TestCase):
    def test_each_fault_has_one_place(self) -> None:
        for plants in planted_explorations.PLANTS.values():
            for defect in plants:
                source = (ROOT / defect.path).read_text()
                self.assertNotEqual(planted_explorations.plant(source, defect), source, defect.name)

    def test_each_suite_with_an_exploration_has_two_faults(self) -> None:
        suites = set()
        for path in (ROOT / "Tests").glob("*Tests/**/*ExplorationTests.swift"):
            module = path.relative_to(ROOT / "Tests").parts[0]
            suites |= {f"{module}.{name}" for name in re.findall(r"@Suite struct (\w+)", path.read_text())}
        self.assertEqual(suites, set(planted_explorations.PLANTS))
        for suite, plants in planted_explorations.PLANTS.items():
            self.assertGreaterEqual(len(plants), 2, suite)

    def test_a_counterexample_is_read_from_the_output(self) -> None:
        output = (
            "states\n✘ Test \"t\" recorded an issue with 1 argument at A.swift:1:2: Issue recorded\n"
            "↳ an end waits for ever, after\n↳   1. start\n↳   2. deliver(isToCentral: false)\n✘ Test \"t\" failed\n"
        )
        self.assertEqual(
            planted_explorations.fault(output),
            ["an end waits for ever, after", "1. start", "2. deliver(isToCentral: false)"],
        )


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "--quiet"])
