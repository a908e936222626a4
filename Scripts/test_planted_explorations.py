#!/usr/bin/env python3
"""Tests of the faults that the explorations have to find, without a build: each has one place, each suite has two."""
import importlib.machinery
import importlib.util
import re
import unittest
from pathlib import Path

from planted_explorations import PLANTS, plant

ROOT = Path(__file__).resolve().parent.parent


def script():
    """The module of Scripts/plant-exploration-faults, whose name has no suffix."""
    path = str(ROOT / "Scripts" / "plant-exploration-faults")
    loader = importlib.machinery.SourceFileLoader("plant_exploration_faults", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


class PlantedExplorationsTest(unittest.TestCase):
    def test_each_fault_has_one_place(self) -> None:
        for plants in PLANTS.values():
            for fault in plants:
                source = (ROOT / fault.path).read_text()
                self.assertNotEqual(plant(source, fault), source, fault.name)

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
            script().fault(output),
            ["an end waits for ever, after", "1. start", "2. deliver(isToCentral: false)"],
        )


if __name__ == "__main__":
    unittest.main()
