#!/usr/bin/env python3
"""Tests what emptied_data.py finds, and what it lets pass. Run by Scripts/lint."""
import sys
import unittest

import emptied_data


def lines(**texts: str) -> list[tuple[str, int]]:
    return [(path, line) for path, line, _ in emptied_data.found_in(texts)]


class Finding(unittest.TestCase):
    def test_data_that_is_cut_and_added_to(self) -> None:
        for text in [
            "var rest: Data\nrest += more\nrest.removeFirst(count)",
            "private var rest = Data()\nrest.append(more)\nself.rest.removeSubrange(..<4)",
            "init(first: Data) {\nvar rest = first\nrest = rest.dropFirst(4); rest += more }",
            "func take(_ rest: inout Data) {\nrest.append(contentsOf: more)\nrest = rest[2...] }",
            "var rest: Data?\nrest? += more\nrest?.removeFirst()",
            "let all = Data(octets)\nvar rest = all.dropFirst(2)\n_ = rest.popFirst(); rest += more",
            "var rest: Data\nstate.rest.append(more)\nstate.rest = state.rest.suffix(3)",
        ]:
            self.assertEqual([line for _, line in lines(a=text)], [text.count("\n") + 1], text)

    def test_a_queue_of_two_files_of_one_type(self) -> None:
        found = lines(Queue="private(set) var rest = Data()\nrest += more", Queue_reading="\nrest.removeFirst(1)")
        self.assertEqual(found, [("Queue_reading", 2)])

    def test_what_cannot_trap(self) -> None:
        for text in [
            "var rest: [UInt8] = []\nrest += more\nrest.removeFirst(count)",
            "private var rest: ArraySlice<UInt8>\nrest = ArraySlice(first)\nrest += more\nrest.removeFirst(count)",
            "var pieces: [Data] = []\npieces.append(more)\npieces.removeFirst()",
            "var rest = octets as Data\nlet whole: Data = rest\nwhile !rest.isEmpty { rest = rest.dropFirst(4) }",
            "var all = Data()\nall += more\nlet rest = all.dropFirst(4)",
            "var rest: Data\n// rest.removeFirst(count)\nrest += more",
        ]:
            self.assertEqual(lines(a=text), [], text)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "--quiet"])
