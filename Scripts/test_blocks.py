#!/usr/bin/env python3
"""Tests how blocks.py reads documents, and how their command lines and outputs are compared. Run by Scripts/lint."""
import sys
import tempfile
import unittest
from pathlib import Path

import blocks
import command_lines
from blocks import Block

HELP = {"kind": "flag", "names": [{"kind": "long", "name": "help"}, {"kind": "short", "name": "h"}], "isOptional": True}
NAME = {"kind": "positional", "names": None, "valueName": "name", "isOptional": False, "isRepeating": False}
MODE = {"kind": "option", "names": [{"kind": "long", "name": "mode"}], "allValues": ["a", "b"], "isOptional": True}
FAST = {"kind": "flag", "names": [{"kind": "long", "name": "fast"}], "isOptional": True}
TOOL = {
    "commandName": "harald",
    "subcommands": [
        {"commandName": "explore", "arguments": [MODE, FAST, NAME, HELP]},
        {"commandName": "demo", "defaultSubcommand": "heart", "subcommands": [{"commandName": "heart", "arguments": [FAST]}]},
        {"commandName": "app", "subcommands": [{"commandName": "launch", "arguments": [NAME]}]},
    ],
}


def block(text: str, language: str = "sh", kind: str = "", name: str = "") -> Block:
    return Block("A.md", 1, language, kind, name, text)


class Reading(unittest.TestCase):
    def test_comments_belong_to_the_next_line(self) -> None:
        text = "<!-- block: output of harald demo -->\n```text\na\n```\n\n  ```sh\n  b\n  ```\n"
        found = blocks.read("A.md", text)
        self.assertEqual(found.found, [])
        self.assertEqual(found.blocks, [
            Block("A.md", 2, "text", "output", "harald demo", "a\n"), Block("A.md", 6, "sh", "", "", "b\n"),
        ])

    def test_complaints_about_a_document(self) -> None:
        self.assertEqual(blocks.read("A.md", "<!-- block: manifest -->\n\n```sh\n").found, [
            "A.md:1: a comment for a block, and no block after it", "A.md:3: the block does not end",
        ])


class Complaints(unittest.TestCase):
    def setUp(self) -> None:
        self.directory = tempfile.TemporaryDirectory()
        self.root = Path(self.directory.name)

    def tearDown(self) -> None:
        self.directory.cleanup()

    def complaints(self, *arguments: str) -> list[str]:
        return list(blocks.complaints(block(*arguments), self.root))

    def test_languages_and_kinds(self) -> None:
        self.assertIn("the language is missing", self.complaints("x", "")[0])
        self.assertEqual(self.complaints("x", "sh", "program", "a"), ['"program" is for swift blocks'])
        self.assertEqual(self.complaints("x", "swift", "program"), ['"program" needs a name, or a reason'])
        self.assertIn("is no comment", self.complaints("x", "swift", "progam a")[0])
        self.assertEqual(self.complaints("x", "swift", "in", "a-test"), ["there is no Scripts/preambles/a-test.swift"])
        self.assertEqual(self.complaints("x", "swift", "manifest"), [])

    def test_syntax(self) -> None:
        for text, language in [("if", "sh"), ("{", "json"), ("<plist>", "xml"), ("a = 1", "ini"), ("def", "python")]:
            self.assertEqual(len(self.complaints(text, language)), 1, language)
        for text, language in [("a | b", "sh"), ('{"a": 1}\n{"b": 2}', "json"), ("[A]\nb = 1", "ini"), ("a = 1", "python")]:
            self.assertEqual(self.complaints(text, language), [], language)

    def test_scripts_of_the_repository_exist(self) -> None:
        self.assertEqual(self.complaints("Scripts/tset unit"), ["there is no Scripts/tset"])

    def test_every_output_has_a_script(self) -> None:
        (self.root / "A.md").write_text("<!-- block: output of a -->\n```text\n```\n<!-- block: output of harald demo -->\n```text\n```\n")
        self.assertEqual(blocks.check(self.root), ["A.md:2: there is no script a"])


class Commands(unittest.TestCase):
    def test_simple_commands(self) -> None:
        script = "A=1 b 'c d' &  # e\nf | g --h=1 > i 2>&1; j"
        self.assertEqual(list(blocks.commands(script)), [["b", "c d"], ["f"], ["g", "--h=1"], ["j"]])

    def faults(self, line: str, partial: bool = False) -> list[str]:
        arguments = command_lines.of_tool(line.split())
        assert arguments is not None
        return list(command_lines.faults(arguments, TOOL, partial))

    def test_what_is_no_command_of_the_tool(self) -> None:
        self.assertIsNone(command_lines.of_tool(["swift", "run", "heart"]))
        self.assertEqual(command_lines.of_tool(["sudo", "/usr/bin/harald", "x"]), ["x"])

    def test_right_ones(self) -> None:
        for line in ["harald explore --mode a --fast Belt", "swift run harald demo", "harald demo --fast", "harald help app",
                     "harald app --help", "harald explore --mode=b Belt", ".build/debug/harald app launch a"]:
            self.assertEqual(self.faults(line), [], line)
        self.assertEqual(self.faults("harald explore", partial=True), [])

    def test_wrong_ones(self) -> None:
        for line, fault in {
            "harald scan": "harald has no command scan", "harald app": "app needs a command", "harald explore": "needs name",
            "harald explore --mode c Belt": "--mode is one of a, b", "harald explore --slow Belt": "has no option --slow",
            "harald explore Belt Strap": "does not take Strap", "harald explore Belt --mode": "--mode needs a value",
        }.items():
            found = self.faults(line)
            self.assertEqual(len(found), 1, line)
            self.assertIn(fault, found[0])


WORKFLOW = """
jobs:
  search:
    strategy: {fail-fast: false, matrix: {part: [1, 2, 3]}}
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: swift test --filter search
        env: {HARALD_SEARCH_SEEDS: 1-8000, HARALD_SEARCH_SHARD: "${{ matrix.part }}/3"}
"""
JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: search}
spec:
  completions: 2
  completionMode: Indexed
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: search
          image: tests
          command: [sh, -c]
          args: ["HARALD_SEARCH_SHARD=$((JOB_COMPLETION_INDEX + 1))/2 HARALD_SEARCH_SEEDS=1-900 /tests/A.xctest --filter a"]
"""


class Recipes(unittest.TestCase):
    def test_a_matrix(self) -> None:
        parts = blocks.recipe_parts(WORKFLOW)
        self.assertEqual([part.number for part in parts], [1, 2, 3])
        self.assertEqual(parts[1].here("x").environment,
                         {"HARALD_SEARCH_SEEDS": "1-3", "HARALD_SEARCH_SHARD": "2/3"})
        self.assertEqual(parts[1].command, ["sh", "-e", "-c", "swift test --filter search"])

    def test_a_job(self) -> None:
        part = blocks.recipe_parts(JOB)[1].here("/bin/tests")
        self.assertEqual(part.environment, {"JOB_COMPLETION_INDEX": "1"})
        text = "HARALD_SEARCH_SHARD=$((JOB_COMPLETION_INDEX + 1))/2 HARALD_SEARCH_SEEDS=1-2 /bin/tests --filter a"
        self.assertEqual(part.command, ["sh", "-c", text])

    def test_wrong_shapes(self) -> None:
        for text, old, new, fault in [
            (WORKFLOW, "fail-fast: false", "fail-fast: true", "fail-fast"),
            (WORKFLOW, "[1, 2, 3]", "[0, 1, 2]", "part does not count"),
            (WORKFLOW, "matrix.part", "matrix.shard", "is unknown"),
            (WORKFLOW, "runs-on", "run-on", "lacks runs-on"),
            (JOB, "Indexed", "NonIndexed", "no index"),
            (JOB, "completions: 2", "completions: 2\n  maxFailedIndexes: 1", "needs backoffLimitPerIndex"),
            (JOB, "restartPolicy: Never", "restartPolicy: Always", "needs restartPolicy"),
            (JOB, "batch/v1", "v1", "batch/v1"),
            (JOB, "          image: tests\n", "", "lacks image"),
            (JOB, "{name: search}", "{name: search", "does not parse"),
        ]:
            with self.assertRaisesRegex(blocks.RecipeError, fault):
                blocks.recipe_parts(text.replace(old, new))

    def test_reports(self) -> None:
        part = blocks.recipe_parts(WORKFLOW)[1]
        report = {"shard": "2/3", "seeds": [1, 3], "worlds": 1, "isComplete": True, "found": []}
        self.assertIsNone(part.fault(report))
        self.assertIn("'shard': '1/1'", part.fault(report | {"shard": "1/1"}) or "")
        self.assertIn("'worlds': 0", part.fault(report | {"worlds": 0}) or "")


class Outputs(unittest.TestCase):
    def differs(self, wanted: str, output: str, kind: str = "output") -> bool:
        return bool(blocks.difference(block(wanted, "text", kind), output))

    def test_the_same(self) -> None:
        self.assertFalse(self.differs("a\nb\n", "a\nb\n"))
        self.assertFalse(self.differs("a after 0.1 seconds\n", "a after 2.345 seconds\n"))
        self.assertFalse(self.differs("a\n…\nd\n", "a\nb\nc\nd\n"))
        self.assertFalse(self.differs("…\nb\n…\n", "a\nb\nc\nd\n"))
        self.assertFalse(self.differs("C0:FF:EE:00:00:01 at -41 dBm\n", "C0:FF:EE:00:00:02 at -5 dBm\n", "shape"))

    def test_others(self) -> None:
        self.assertTrue(self.differs("a\nb\n", "a\nb\nc\n"))
        self.assertTrue(self.differs("a\nc\n", "a\nb\nc\n"))
        self.assertTrue(self.differs("a\n…\nc\n", "a\nb\nc\nd\n"))
        self.assertTrue(self.differs("…\nc\nb\n…\n", "a\nb\nc\n"))
        self.assertTrue(self.differs("at 41\n", "at 42\n"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "--quiet"])
