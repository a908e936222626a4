#!/usr/bin/env python3
"""Tests of lab.py that need no build."""
import unittest

import lab


def message(number: int, gateway: str = "g1", published: int = 1, **more: object) -> dict:
    return {"gateway": gateway, "sensor": "S1", "sequence": number, "value": number * 7, "published": published, **more}


class Judgement(unittest.TestCase):
    def faults(self, *messages: dict, records: int = 2) -> dict[str, list[tuple[str, int]]]:
        return {name: found for name, found in lab.judge(list(messages), ["S1"], records).faults.items() if found}

    def test_all_is_well(self) -> None:
        self.assertEqual(self.faults(message(1), message(2)), {})

    def test_a_value_that_never_comes_is_lost(self) -> None:
        self.assertEqual(self.faults(message(1)), {"lost": [("S1", 2)]})

    def test_a_repetition_needs_a_mark(self) -> None:
        self.assertEqual(self.faults(message(1), message(2), message(2, "g2")), {"repeated without a mark": [("S1", 2)]})
        self.assertEqual(self.faults(message(1), message(2), message(2, "g1", 9)), {"repeated without a mark": [("S1", 2)]})
        self.assertEqual(self.faults(message(1), message(2), message(2, "g2", repeated=True)), {})

    def test_the_mark_may_be_on_the_copy_that_comes_first(self) -> None:
        self.assertEqual(self.faults(message(1), message(2, "g2", repeated=True), message(2)), {})

    def test_the_broker_may_repeat_a_message_as_it_is(self) -> None:
        verdict = lab.judge([message(1), message(1), message(2)], ["S1"], 2)
        self.assertEqual(verdict.duplicates, 1)
        self.assertEqual(verdict.faults["repeated without a mark"], [])

    def test_a_wrong_value(self) -> None:
        self.assertEqual(self.faults(message(1), {**message(2), "value": 0}), {"wrong": [("S1", 2)]})


if __name__ == "__main__":
    unittest.main()
