#!/usr/bin/env python3
"""Tests what walks.py complains of, and what it lets pass. Run by Scripts/lint."""
import sys
import tempfile
import unittest
from pathlib import Path

import walks

FILES = ["Sources/GAP/Connecting/Connector.swift", "Scripts/test", "Documentation/Limits.md", "Interop/tests/test_usb.py"]


class Paths(unittest.TestCase):
    def setUp(self) -> None:
        self.directory = tempfile.TemporaryDirectory()
        self.root = Path(self.directory.name)
        for name in FILES:
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()

    def tearDown(self) -> None:
        self.directory.cleanup()

    def wrong(self, text: str) -> list[str]:
        return walks.wrong("A.md", text, self.root)

    def test_paths_that_exist(self) -> None:
        for path in ["Sources/GAP", "GAP/Connecting/Connector.swift", "Connector.swift", "Scripts/test unit", "Interop/",
                     "Interop/tests/test_usb.py"]:
            self.assertEqual(self.wrong(f"See `{path}`."), [], path)
        self.assertEqual(self.wrong("[limits](Documentation/Limits.md#scans), [site](https://example.com)"), [])

    def test_paths_that_lead_nowhere(self) -> None:
        for path in ["Sources/GATT", "GAP/Scanning", "GAP/Connecting/Scanner.swift", "Scanner.swift", "Scripts/soak --seconds 2",
                     "Interop/tests/test_air.py", "Other/README.md", "Connecting/Connector.swift"]:
            self.assertEqual(self.wrong(f"# Walks\n\nSee `{path}`."), [f"A.md:3: there is no {path.split()[0]}"], path)
        self.assertEqual(self.wrong("[limits](Limits.md)"), ["A.md:1: there is no Limits.md"])

    def test_what_is_no_path(self) -> None:
        for text in ["`/proc/PID/exe`", "`GAP/SEC/SEM/BV-57`", "`.poweredOn`", "`tcp:127.0.0.1:6402`", "Sources/GATT", "`a / b`",
                     "```sh\ncat `Sources/GATT`\n```"]:
            self.assertEqual(self.wrong(text), [], text)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "--quiet"])
