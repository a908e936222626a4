import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import preload


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
    unittest.main()
