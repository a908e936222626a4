"""What the packages consist of, without building them."""
import datetime
import importlib.machinery
import importlib.util
import os
import re
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONTAINERFILE = ROOT / "Packaging/Containerfile"


def script(path: Path) -> object:
    loader = importlib.machinery.SourceFileLoader(path.name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(path.name, loader))
    loader.exec_module(module)
    return module


package = script(ROOT / "Packaging/build")


class PackageTests(unittest.TestCase):
    def test_versions_sort_by_time_and_before_the_release(self) -> None:
        noon = int(datetime.datetime(2026, 11, 26, 12, tzinfo=datetime.timezone.utc).timestamp())
        versions = [
            package.Version("0.1.0-dev", "ffffffffffff", noon, "6.3.1").of_debian,
            package.Version("0.1.0-dev", "000000000000-changed", noon + 1, "6.3.1").of_debian,
            package.Version("0.1.0", "aaaaaaaaaaaa", noon, "6.3.1").of_debian,
        ]
        self.assertEqual(versions[0], "0.1.0~dev20261126120000.ffffffffffff")
        for lower, higher in zip(versions, versions[1:]):
            subprocess.run(["dpkg", "--compare-versions", lower, "lt", higher], check=True)

    def test_tarballs_of_the_same_files_are_identical(self) -> None:
        version = package.Version("1.0.0", "0" * 12, 1_000_000_000, "6.3.1")
        octets = []
        for time, mask in ((1, 0o022), (2_000_000_000, 0o077)):
            with tempfile.TemporaryDirectory() as directory:
                before = os.umask(mask)
                package.OUTPUT = Path(directory)
                package.STAGE = Path(directory) / "stage"
                for path in ("harald", "man/b.1", "man/a.1", "units/x", "licences/y", "LICENSE", "INSTALL", *self.completions()):
                    file = package.STAGE / path
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(path)
                    os.utime(file, (time, time))
                made = package.tarball(None, version, "amd64")
                os.umask(before)
                octets.append(made.read_bytes())
                with tarfile.open(made) as packed:
                    modes = {each.name: each.mode for each in packed}
        self.assertEqual(octets[0], octets[1])
        self.assertEqual(modes["harald-1.0.0-linux-amd64/bin/harald"], 0o755)
        self.assertEqual(modes["harald-1.0.0-linux-amd64/share/man/man1/a.1"], 0o644)

    @staticmethod
    def completions() -> list[str]:
        return [f"completions/{name}" for name in package.COMPLETIONS.values()]

    def test_the_container_file_copies_what_exists(self) -> None:
        """There may be no container engine where this runs. Sources are files of the repository, or come from a stage."""
        stages, copied = set(), 0
        for line in CONTAINERFILE.read_text().splitlines():
            if match := re.fullmatch(r"FROM \S+ AS (\w+)", line):
                stages.add(match[1])
            if match := re.fullmatch(r"COPY (?:--from=(\w+) )?(\S+) (\S+)", line):
                copied += 1
                if match[1]:
                    self.assertIn(match[1], stages)
                    self.assertTrue(match[2].startswith(f"/source/{package.OUTPUT_NAME}/"), line)
                else:
                    self.assertTrue((ROOT / match[2]).exists(), line)
        self.assertEqual(copied, 2)

    def test_the_container_file_calls_scripts_that_exist(self) -> None:
        called = re.findall(r"(?<![\w/])((?:Packaging|Scripts|\.ci)/[a-z-]+)", CONTAINERFILE.read_text())
        self.assertEqual(called, [".ci/prepare", "Packaging/build"])
        for each in called:
            self.assertTrue(os.access(ROOT / each, os.X_OK), each)


if __name__ == "__main__":
    unittest.main()
