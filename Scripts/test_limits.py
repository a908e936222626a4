#!/usr/bin/env python3
"""Tests what limits.py finds, and what it lets pass. Run by Scripts/lint."""
import sys
import unittest

import limits

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


class Differences(unittest.TestCase):
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


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "--quiet"])
