#!/usr/bin/env python3
"""Tests of the faults that the explorations have to find, without a build: each has one place, each suite has two."""
import re
import unittest
from pathlib import Path

from planted_explorations import PLANTS, fault, plant

ROOT = Path(__file__).resolve().parent.parent


class PlantedExplorationsTest(unittest.TestCase):
    def test_each_fault_has_one_place(self) -> None:
        for plants in PLANTS.values():
            for defect in plants:
                source = (ROOT / defect.path).read_text()
                self.assertNotEqual(plant(source, defect), source, defect.name)

    def test_each_suite_with_an_exploration_has_two_faults(self) -> None:
        suites = set()
        for path in (ROOT / "Tests").glob("*Tests/**/*ExplorationTests.swift"):
            module = path.relative_to(ROOT / "Tests").parts[0]
            suites |= {f"{module}.{name}" for name in re.findall(r"@Suite struct (\w+)", path.read_text())}
        self.assertEqual(suites, set(PLANTS))
        for suite, plants in PLANTS.items():
            self.assertGreaterEqual(len(plants), 2, suite)

    def test_a_counterexample_is_read_from_the_output(self) -> None:
        output = (
            "states\n✘ Test \"t\" recorded an issue with 1 argument at A.swift:1:2: Issue recorded\n"
            "↳ an end waits for ever, after\n↳   1. start\n↳   2. deliver(isToCentral: false)\n✘ Test \"t\" failed\n"
        )
        self.assertEqual(
            fault(output),
            ["an end waits for ever, after", "1. start", "2. deliver(isToCentral: false)"],
        )


if __name__ == "__main__":
    unittest.main()
