#!/usr/bin/env python3
"""Tests the table of practices.py. Run by Scripts/lint."""
import unittest

import practices


class PracticesTests(unittest.TestCase):
    def test_each_pair_is_a_row_in_the_order_of_the_rules(self) -> None:
        made = practices.table(["12.11 ReconnectToKnown better 7 150", "12.4 ShortScans worse 6500 -",
                                "12.11 ReconnectToKnown worse 9 250", "12.4 ShortScans better 1100 -"])
        self.assertEqual(made.removeprefix(practices.HEAD).splitlines(), [
            "| 12.4 short scans | 6,500 | 1,100 |  |  |",
            "| 12.11 reconnect to known | 9 | 7 | 0.25 s | 0.15 s |",
        ])

    def test_a_pair_without_one_of_its_apps_is_an_error(self) -> None:
        with self.assertRaises(ValueError):
            practices.table(["12.4 ShortScans better 1100 -"])

    def test_the_table_is_replaced_and_nothing_else(self) -> None:
        document = f"a\n{practices.BEGIN}old\n{practices.END}b\n"
        made = practices.replaced(document, "new\n")
        self.assertEqual(made, f"a\n{practices.BEGIN}\nnew\n\n{practices.END}b\n")
        self.assertEqual(practices.replaced(made, "new\n"), made)
        with self.assertRaises(ValueError):
            practices.replaced("a\n", "new\n")


if __name__ == "__main__":
    unittest.main()
