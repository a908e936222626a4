"""Unit tests for Scripts/determinism."""
import argparse
import importlib.machinery
import importlib.util
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOADER = importlib.machinery.SourceFileLoader("determinism", str(ROOT / "Scripts" / "determinism"))
SPEC = importlib.util.spec_from_loader("determinism", LOADER)
determinism = importlib.util.module_from_spec(SPEC)
LOADER.exec_module(determinism)


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


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "--quiet"])
