"""Tests the scripts that look for races, without a build. Run by Scripts/lint."""
import argparse
import os
import subprocess
import sys
import tempfile
import unittest
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import preload

sys.dont_write_bytecode = True
loader = SourceFileLoader("determinism", str(Path(__file__).with_name("determinism")))
determinism = module_from_spec(spec_from_loader(loader.name, loader))
loader.exec_module(determinism)


class DeterminismTests(unittest.TestCase):
    def test_equal_stories_do_not_differ(self):
        """Runs with the same lines are the same."""
        self.assertIsNone(determinism.difference({"one-core": "a\nb\n", "busy": "a\nb\n"}))

    def test_the_first_difference_is_shown(self):
        """Also if a story ends early."""
        self.assertEqual(determinism.difference({"one-core": "a\nb\nc", "busy": "a\nd"}), {"one-core": "b", "busy": "d"})
        self.assertEqual(determinism.difference({"one-core": "a\nb", "busy": "a"}), {"one-core": "b", "busy": "(the end)"})

    def test_the_search_has_all_seeds(self):
        """The settings are those of a search in one process."""
        options = argparse.Namespace(first=345, worlds=2)
        found = determinism.environment(options, Path("/tmp/stories"))
        self.assertEqual(found["HARALD_SEARCH_SEEDS"], "345-346")
        self.assertEqual(found["HARALD_SEARCH_STORIES"], "/tmp/stories")
        self.assertEqual(found["HARALD_SEARCH_WORKERS"], "0")


class PreloadTests(unittest.TestCase):
    def test_a_path_that_fits_stays(self) -> None:
        self.assertEqual(preload.listable(Path("/a/ä/b.so")), "/a/ä/b.so")

    def test_a_path_with_separators_is_loaded_by_a_link(self) -> None:
        for name in ("a b", "a:b"):
            with tempfile.TemporaryDirectory() as directory:
                library = Path(directory) / name / "nothing.so"
                library.parent.mkdir()
                source = library.with_suffix(".c")
                source.write_text("int nothing;\n")
                subprocess.run(["clang", "-shared", "-fPIC", source, "-o", library], check=True)
                environment = os.environ | {"LD_PRELOAD": preload.listable(library)}
                run = subprocess.run(["cat", "/proc/self/maps"], env=environment, capture_output=True, text=True)
                self.assertEqual(run.stderr, "")
                self.assertIn("nothing.so", run.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "--quiet"])
