#!/usr/bin/env python3
"""Tests tutorials.py. Run by Scripts/lint."""
import tempfile
import unittest
from pathlib import Path

import tutorials

PAGE = '@Code(name: "a", file: "One-01-Package.swift")\n@Code(name: "b", file: "One-02-App.swift")\n'


class Steps(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for each in [tutorials.RESOURCES, tutorials.TUTORIALS]:
            (self.root / each).mkdir(parents=True)
        self.step("One-01-Package.swift", "package\n")
        self.step("One-02-App.swift", "first\n")
        (self.root / tutorials.TUTORIALS / "One.tutorial").write_text(PAGE)

    def step(self, name: str, text: str) -> None:
        (self.root / tutorials.RESOURCES / name).write_text(text)

    def blocks(self) -> list[tuple[str, str, str]]:
        return [(each.kind, each.name, each.text) for each in tutorials.blocks(self.root)]

    def test_order(self) -> None:
        self.assertEqual(tutorials.faults(self.root), [])
        self.step("One-03-App.swift", "more\n")
        self.assertEqual(len(tutorials.faults(self.root)), 1)

    def test_files(self) -> None:
        self.assertEqual(self.blocks(), [("manifest", "", "package\n"), ("", "", "first\n")])

    def test_tests(self) -> None:
        self.step("One-03-AppTests.swift", "import App\nimport Testing\ntest\n")
        self.step("One-04-output.txt", "…\n")
        self.step("One-05-App.swift", "second\n")
        self.step("One-06-output.txt", "passed\n")
        both = [each for each in self.blocks() if each[1]]
        self.assertEqual(both, [
            ("tests", "One-04", "first\nimport Testing\ntest\n"), ("script", "One-04", "swift test || true\n"),
            ("shape", "One-04", "…\n"),
            ("tests", "One-06", "second\nimport Testing\ntest\n"), ("script", "One-06", "swift test || true\n"),
            ("shape", "One-06", "passed\n"),
        ])

    def test_programs(self) -> None:
        self.step("One-03-main.swift", "main\n")
        self.step("One-04-sensor.sh", "sensor &\n")
        self.step("One-05-run.sh", "swift run heart\n")
        self.step("One-06-output.txt", "77 bpm\n")
        self.assertEqual(self.blocks()[2:], [
            ("program", "One-03", "main\n"), ("program", "One-06-run", "main\n"),
            ("script", "One-06", "sensor &\nswift run One-06-run\n"), ("shape", "One-06", "77 bpm\n"),
        ])


if __name__ == "__main__":
    unittest.main()
