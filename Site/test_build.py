"""Tests the scripts that build the site and draw the demo, and what they make of documents and tutorials. Run by
Scripts/lint."""
import json
import os
import sys
import tempfile
import unittest
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from xml.etree import ElementTree

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), str(HERE.parent / "Scripts")]
import articles  # noqa: E402
import tutorials  # noqa: E402



def script(name: str) -> object:
    loader = SourceFileLoader(name.replace("-", "_"), str(HERE / name))
    module = module_from_spec(spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


site, demo_svg = script("build"), script("demo-svg")
PAGE = '@Code(name: "a", file: "One-01-Package.swift")\n@Code(name: "b", file: "One-02-App.swift")\n'


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


class Articles(unittest.TestCase):
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

    def test_links_over_two_lines(self) -> None:
        self.assertEqual(self.article("See [chapter\n9](Rules.md#9-background-execution-on-ios) for `Type`.\n\n[a `Type\nb` c](Rules.md)\n",
                                      {"Type": "doc:/Module/Type"}),
                         "See [chapter\n9](doc:Rules#9-Background-execution-on-iOS) for [`Type`](doc:/Module/Type).\n\n"
                         "[a `Type\nb` c](doc:Rules)\n")
        self.assertEqual(self.article("[chapter\n9](None.md)\n- [ ] open\n\n```\n[a\n```\nb](Rules.md)\n"),
                         "chapter\n9\n- [ ] open\n\n```\n[a\n```\nb](Rules.md)\n")
        self.assertEqual(len(self.written.faults), 1)

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


class Tutorials(unittest.TestCase):
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


class Picture(unittest.TestCase):
    def test_lines_of_the_demo(self) -> None:
        match = demo_svg.LINE.match("   0.511  app       Heart Rate (180D)")
        self.assertEqual((match[1], match[2].strip(), match[3]), ("0.511", "app", "  Heart Rate (180D)"))
        self.assertIsNone(demo_svg.LINE.match("14.827 s of simulated time"))

    def test_the_picture_is_xml_and_scrolls_in_the_time_of_the_demo(self) -> None:
        picture = demo_svg.draw([(0.0, "app", "a < b"), (0.0, "air", "c"), (6.0, "sensor", "d" * 200)])
        texts = ["".join(each.itertext()) for each in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]
        self.assertEqual(texts[0], "  0.000  app     a < b")
        self.assertTrue(texts[2].endswith("d…"))
        self.assertIn("animation: scroll 10.000s step-end infinite", picture)
        self.assertIn("0.00% { transform: translateY(-36px) }\n60.00% { transform: translateY(-54px) }", picture)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "--quiet"])
