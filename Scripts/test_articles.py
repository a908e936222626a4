#!/usr/bin/env python3
"""Tests articles.py. Run by Scripts/lint."""
import tempfile
import unittest
from pathlib import Path

import articles


class Repository(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.write("README.md", "# Harald\n\n## Quick starts\n")
        self.write("CHANGELOG.md", "# Changelog\n")
        self.write("Examples/README.md", "# Examples\n")
        self.write("Documentation/Rules.md", "# Rules\n\n## 9 Background execution, on iOS\n\n## The app's own `Timer`\n")

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def article(self, text: str, symbols: dict[str, str] | None = None) -> str:
        self.write("Documentation/Guide.md", text)
        self.written = articles.Articles(self.root, symbols)
        return self.written.article(Path("Documentation/Guide.md"))

    def test_names(self) -> None:
        names = {each.name for each in articles.Articles(self.root).all()}
        self.assertEqual(names, {"Readme", "Changelog", "Examples", "Rules"})

    def test_links_to_documents(self) -> None:
        self.assertEqual(self.article("[a](Rules.md), [b](../Examples/README.md), [c](../CHANGELOG.md)\n"),
                         "[a](doc:Rules), [b](doc:Examples), [c](doc:Changelog)\n")

    def test_links_to_headings(self) -> None:
        self.assertEqual(self.article("[a](Rules.md#9-background-execution-on-ios), [b](Rules.md#the-apps-own-timer)\n"),
                         "[a](doc:Rules#9-Background-execution-on-iOS), [b](doc:Rules#The-apps-own-Timer)\n")
        self.assertEqual(self.article("# Guide\n\n## Near by\n\n[a](#near-by) [b](../README.md#quick-starts)\n").splitlines()[-1],
                         "[a](doc:Guide#Near-by) [b](doc:Readme#Quick-starts)")

    def test_links_elsewhere(self) -> None:
        self.write("Tests/Some.swift", "")
        self.assertEqual(self.article("[web](https://example.org/a) [tests](../Tests/Some.swift) [Tests/Some.swift](../Tests/Some.swift)\n"),
                         "[web](https://example.org/a) tests (`Tests/Some.swift`) `Tests/Some.swift`\n")

    def test_broken_links(self) -> None:
        self.article("[a](None.md)\n[b](Rules.md#none)\n[c](/etc/none)\n")
        self.assertEqual(len(self.written.faults), 3)

    def test_images(self) -> None:
        self.write("Documentation/demo.svg", "")
        self.assertEqual(self.article("![A picture](demo.svg)\n"), "![A picture](demo.svg)\n")
        self.assertEqual(self.written.images, {Path("Documentation/demo.svg")})

    def test_code_stays(self) -> None:
        code = "```swift\n// [a](Rules.md) `Type`\n<!-- not a comment here -->\n# not a heading\n```\n"
        self.assertEqual(self.article(code, {"Type": "doc:/Module/Type"}), code)
        self.assertEqual(articles.headings(code), [])

    def test_comments_go(self) -> None:
        self.assertEqual(self.article("<!-- block: tests NAME -->\ntext\n"), "text\n")

    def test_types(self) -> None:
        self.assertEqual(self.article("# `Type`\n`Type`, `Type.a`, [`Type`](Rules.md)\n", {"Type": "doc:/Module/Type"}),
                         "# `Type`\n[`Type`](doc:/Module/Type), `Type.a`, [`Type`](doc:Rules)\n")

    def test_citations(self) -> None:
        chapters = articles.chapters("# Rules\n\n## Sources\n\n## 3 Connecting\n")
        self.assertEqual(chapters, {"3": "3-Connecting"})
        link = "[behaviours 3.1, 3.2](/documentation/guides/behaviours?rule=3.1#3-Connecting)"
        self.assertEqual(articles.cite("Connects (behaviours 3.1, 3.2).", chapters.get), f"Connects ({link}).")
        for same in ["behaviour 4.1", "`behaviour 3.1`", "[behaviour 3.1](x)", "behaviours"]:
            self.assertEqual(articles.cite(same, chapters.get), same)


if __name__ == "__main__":
    unittest.main()
