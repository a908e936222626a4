#!/usr/bin/env python3
"""Tests what english.py finds, and what it lets pass. Run by Scripts/lint."""
import sys
import unittest
from collections import Counter

import english

WRONG = {
    "What of them is written down, and whether that is something else than what stands there.":
        {"what", "what-of", "else-than", "what-was"},
    "The radio's state is another one.": {"another"},
    "A link was refused since there is another one to the peer.": {"another"},
    "How often it is looked whether a line has opened.": {"looked"},
    "Whether somebody in the middle would have been noticed.": {"somebody"},
    "Tells somebody nothing more.": {"somebody"},
    "As long ago as an advertiser is silent that shows itself every 1.28 s.": {"as-long-ago"},
    "Questions that wait are shown. Somebody may be reading them.": {"somebody"},
    "What a PDU is; one of a reserved kind is read by nobody.": {"what", "somebody"},
    "The service is there, and knows nothing of what was before.": {"knows-nothing", "what-was"},
    "Called once when nothing more comes of it.": {"comes-of-it"},
    "What a delegate does that leaves a method out: nothing.": {"what"},
    "Who only simulates writes `traits: []`.": {"who"},
    "The link has ended. Whoever waits hears of it.": {"who", "somebody", "hears"},
    "It is told of each change, and believes what it hears.": {"told-of", "believes"},
    "Cuts the packets by lot, as the persons wish.": {"by-lot", "persons", "wish"},
    "Takes what the rooms report.": {"rooms"},
    "Three octets of the twelve bytes.": {"two-units"},
    "Nothing.": {"filler"},
    "The channel.": {"filler"},
}
RIGHT = [
    "The tables as last saved, and whether they have changed since.",
    "Refused because a link to this peer already exists; callers wait for that one to end.",
    "How often to poll for the transport to open.",
    "Whether the key is authenticated (MITM-protected).",
    "Stops reporting connections to `owner`.",
    "Longer than an advertiser with a 1.28 s interval stays silent, allowing for missed packets.",
    "Offers queued prompts to the new prompter. Prompts already on screen elsewhere stay there.",
    "Called once, after the channel has delivered its last octet.",
    "If you only need simulations, depend on the package with `traits: []`.",
    "Each simulated device has a `person` who answers its alerts. By default the person declines.",
    "Compares `whoever`, `wish` and ``Somebody/persons`` with the list.",
    "Who is asked to confirm the number?",
    "Another link to this peer ends first.",
    "Core Vol 6 Part B 4.5.1",
    "MARK: - Reading",
    "See `MetricsFactory`.",
]


def rules(text: str, path: str = "Sources/GAP/A.swift") -> set[str]:
    return {place.rule for place in english.in_swift(path, text)}


class Finding(unittest.TestCase):
    def test_wrong_comments(self) -> None:
        for text, expected in WRONG.items():
            self.assertEqual(rules(f"/// {text}\nlet a = 1"), expected, text)

    def test_right_comments(self) -> None:
        for text in RIGHT:
            self.assertEqual(rules(f"/// {text}\nlet a = 1"), set(), text)

    def test_the_line_of_a_sentence(self) -> None:
        (place,) = english.in_swift("Tests/GAPTests/A.swift", "let a = 1\n// The link has ended. The peer\n// is gone: ask\n// nobody.")
        self.assertEqual((place.rule, place.line, place.directory), ("somebody", 2, "Tests/GAPTests"))

    def test_columns(self) -> None:
        prose = "// " + "long prose " * 11
        self.assertEqual(rules(prose), {"columns"})
        self.assertEqual(rules(f"// https://example.com/{'a' * 120}"), set())
        self.assertEqual(rules("let a = 1 " + prose), {"columns"})

    def test_code_between_fences(self) -> None:
        self.assertEqual(rules("/// Runs the app:\n///\n/// ```\n/// whoever\n/// ```"), set())

    def test_messages(self) -> None:
        text = 'log("the link to \\(peer) is another one"); let a = "is another one"'
        self.assertEqual([place.rule for place in english.in_swift("Sources/GAP/A.swift", text)], ["another"])
        self.assertEqual(rules(text, "Tests/GAPTests/A.swift"), set())

    def test_documents(self) -> None:
        text = "# Who waits\n\nWhoever asks\nwaits.\n\n```sh\nwhoever\n```\n\n| a | told of it |\n\n- Nothing.\n- By lot, or by lot."
        self.assertEqual([(place.rule, place.line, place.directory) for place in english.in_markdown("README.md", text)],
                         [("who", 1, "README.md"), ("who", 3, "README.md"), ("somebody", 3, "README.md"),
                          ("told-of", 10, "README.md"), ("by-lot", 13, "README.md")])


class Ratchet(unittest.TestCase):
    def setUp(self) -> None:
        self.places = list(english.in_swift("Sources/GAP/A.swift", "/// Nothing.\nlet a = 1\n/// Zero.\nlet b = 2"))

    def test_a_planted_comment(self) -> None:
        self.assertEqual(english.complaints(english.parse("Sources/GAP: filler 2"), self.places, set()), [])
        found = english.complaints(english.parse("# why\nSources/GAP: filler 1, who 3"), self.places, {("Sources/GAP/A.swift", 3)})
        self.assertEqual(found[0].split(",")[0], "Sources/GAP: 2 places for the rule `filler`")
        self.assertEqual(found[1:], ["  Sources/GAP/A.swift:3: Zero."])
        self.assertEqual(len(english.complaints(english.parse(""), self.places, set())), 3, "all places without git")

    def test_what_is_written(self) -> None:
        numbers = english.counts(self.places)
        self.assertEqual(english.shown(numbers), "Sources/GAP: filler 2\n")
        self.assertEqual(english.parse(english.shown(numbers)), numbers)

    def test_counts_move_but_do_not_grow(self) -> None:
        allowed = Counter({("Sources/GAP", "filler"): 1, ("Sources/ATT", "filler"): 1})
        self.assertEqual(english.grown(allowed, english.counts(self.places)), [])
        self.assertEqual(english.grown(allowed - Counter({("Sources/ATT", "filler"): 1}), english.counts(self.places)), ["filler"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "--quiet"])
