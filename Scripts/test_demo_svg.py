#!/usr/bin/env python3
"""Tests the picture that demo-svg draws. Run by Scripts/lint."""
import sys
import unittest
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from xml.etree import ElementTree

loader = SourceFileLoader("demo_svg", str(Path(__file__).with_name("demo-svg")))
demo_svg = module_from_spec(spec_from_loader("demo_svg", loader))
sys.dont_write_bytecode = True
loader.exec_module(demo_svg)


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
