#!/usr/bin/env python3
"""Tests what workflows.py complains of, and what it lets pass. Run by Scripts/lint."""
import sys
import tempfile
import unittest
from pathlib import Path

import workflows


class Steps(unittest.TestCase):
    def setUp(self) -> None:
        self.directory = tempfile.TemporaryDirectory()
        self.root = Path(self.directory.name)
        for name, mode in [("Scripts/test", 0o755), ("Scripts/data", 0o644)]:
            (self.root / name).parent.mkdir(exist_ok=True)
            (self.root / name).touch()
            (self.root / name).chmod(mode)

    def tearDown(self) -> None:
        self.directory.cleanup()

    def faults(self, text: str) -> list[str]:
        return [fault.split(": ", 1)[1] for fault in workflows.wrong("a.yml", text, self.root)]

    def test_calls_of_scripts(self) -> None:
        for run in ["Scripts/test", "Scripts/test unit", "./Scripts/test --seed=7 a/b:c", "Scripts/test  # why"]:
            for line in [f"      - run: {run}", f"        run: {run}"]:
                self.assertEqual(self.faults(line), [], line)

    def test_calls_that_are_not_plain(self) -> None:
        for run in ["|", ">-", "Scripts/test && Scripts/test", "Scripts/test; ls", "Scripts/test | tee log", "Scripts/test > log",
                    "Scripts/test ${{ github.head_ref }}", "Scripts/test $HOME", "Scripts/test `ls`", "Scripts/test *",
                    "'Scripts/test'", "Scripts/test  unit", "A=b Scripts/test 'c d'"]:
            self.assertEqual(len(self.faults(f"      - run: {run}")), 1, run)
        self.assertEqual(self.faults("      - run:"), ["run: is not a plain call of a script"])
        self.assertEqual(self.faults("      - run: Scripts/test\n          && curl example.com"),
                         ["this check cannot read the line"])
        for more in ["- && curl example.com", "b: c", "- b"]:
            for line in ["- run: Scripts/test", "- a", "a: b"]:
                self.assertEqual(self.faults(f"  {line}\n      {more}"), ["this check cannot read the line"], (line, more))

    def test_scripts_that_cannot_be_called(self) -> None:
        self.assertEqual(self.faults("run: Scripts/other"), ["there is no Scripts/other"])
        self.assertEqual(self.faults("run: Scripts"), ["there is no Scripts"])
        self.assertEqual(self.faults("run: Scripts/data"), ["Scripts/data is not executable"])
        self.assertEqual(self.faults("run: swift build"), ["there is no swift"])
        for path in ["/bin/ls", "../ls", "Scripts/../../ls", "A=b"]:
            self.assertEqual(self.faults(f"run: {path}"), [f"{path} is no path within the repository"])

    def test_actions(self) -> None:
        self.assertEqual(self.faults("      - uses: actions/checkout@v7"), [])
        for action in ["actions/cache@v5", "actions/checkout@main", "docker://swift:6.3", "./.github/actions/a"]:
            self.assertEqual(self.faults(f"      - uses: {action}"), [f"the action {action} is not allowed"])

    def test_keys_that_change_what_a_call_means(self) -> None:
        for line in ["shell: bash", "working-directory: Scripts", "defaults:", "          args: -c ls"]:
            self.assertEqual(len(self.faults(line)), 1, line)

    def test_calls_in_other_forms_of_yaml(self) -> None:
        for line in ['"run": ls', "{ run: ls }", "- {run: ls}", "- [run: ls]", "? run", "run : ls", "- - run: ls",
                     "key: &a ls", "key: *a", "<<: *a", "!!str run: ls", "\trun: ls", 'name: "a', "---", "key: [{run: ls}]",
                     "name: a run: ls", "key: {run: ls}", 'key: "a\\nrun: ls"', "- 'run': ls", "name: |"]:
            self.assertEqual(self.faults(line), ["this check cannot read the line"], line)

    def test_what_does_not_run(self) -> None:
        for line in ["", "# run: ls", "name: checks", "on:", "    branches: [main, next]", "    - cron: '23 3 * * 1'",
                     "          - swift:6.2-bookworm", "    container: swiftlang/swift:nightly-main-noble",
                     "    name: ${{ matrix.image }} on ${{ matrix.runner }}", "      URL: https://example.com/a#b",
                     "      options: --privileged", "          - ubuntu-24.04  # x86-64"]:
            self.assertEqual(self.faults(line), [], line)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "--quiet"])
