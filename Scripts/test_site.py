#!/usr/bin/env python3
"""Tests site. Run by Scripts/lint."""
import importlib.machinery
import importlib.util
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

PATH = Path(__file__).resolve().parent / "site"
loader = importlib.machinery.SourceFileLoader("site_script", str(PATH))
site = importlib.util.module_from_spec(importlib.util.spec_from_loader("site_script", loader))
sys.dont_write_bytecode = True
loader.exec_module(site)


class Site(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def test_links_to_guides(self) -> None:
        text = "## Topics\n\n<!-- guides: Testing Tool -->\n<!-- module: ServiceMessages -->\n"
        self.assertEqual(site.ADDED.sub(site.added, text),
                         "## Topics\n\n### Related guides\n\n- <doc:/Guides/Testing>\n- <doc:/Guides/Tool>\n"
                         "### Messages\n\n- <doc:/ServiceMessages>\n")

    def test_summaries_without_links(self) -> None:
        link = {"type": "reference", "identifier": "doc://a/documentation/A/B", "isActive": True}
        path = Path("entities.json")
        path.write_text(json.dumps([{"abstract": [{"type": "text", "text": "See "}, link, link | {"overridingTitle": "there"}]}, {}]))
        site.flatten(path)
        self.assertEqual([each["text"] for each in json.loads(path.read_text())[0]["abstract"]], ["See ", "B", "there"])

    def test_types_under_no_topic(self) -> None:
        folder = site.ARCHIVES / "Guides.doccarchive/data/documentation"
        folder.mkdir(parents=True)
        groups = [{"title": "Use it", "identifiers": ["a"]}, {"title": "Articles", "generated": True, "identifiers": ["b"]}]
        (folder / "guides.json").write_text(json.dumps(
            {"topicSections": groups, "references": {"a": {"title": "Listed"}, "b": {"title": "Forgotten"}}}))
        self.assertEqual(site.left_over("Guides"), ["Site/Guides.docc/Guides.md: Forgotten is under no topic"])

    def test_commands_of_the_first_page(self) -> None:
        Path("Site").mkdir()
        Path("Site/index.html").write_text("<pre><!-- commands --></pre>")
        Path("README.md").write_text("# A\n\n```sh\nswift run a     # builds\nb && c\n```\n\n```sh\nd\n```\n")
        self.assertEqual(site.home(), "<pre>swift run a\nb &amp;&amp; c</pre>")


if __name__ == "__main__":
    unittest.main()
