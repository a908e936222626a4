#!/usr/bin/env python3
"""Tests the scripts that check documents and workflows: blocks.py, command_lines.py, walks.py, behaviours_by_name.py and
workflows.py. Run by Scripts/lint."""
import sys
import tempfile
import unittest
from pathlib import Path

import behaviours_by_name
import blocks
import command_lines
import walks
import workflows
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


class BlockReading(unittest.TestCase):
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


class BlockComplaints(unittest.TestCase):
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
        self.assertIn("there is no preamble a-phone", self.complaints("x", "swift", "in", "a-phone")[0])
        self.assertEqual(self.complaints("x", "swift", "in", "a-test"), [])
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


class CommandLines(unittest.TestCase):
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


class BlockOutputs(unittest.TestCase):
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


SWIFT = """
/// Not `class Comment`.
package final class Connector<T> {
    static let background = 1
    enum Event { case willRestore(Int), told, ended = 2 }
    func want(_ peer: Dictionary<Int, Int>, then done: @escaping (Int, Int) -> Void = { _, _ in }) {}
    func reset() {}
}
"""
FILES = ["Sources/Stack/GAP/Connecting/Connector.swift", "Scripts/test", "Documentation/Limits.md", "Interop/tests/test_usb.py"]


class Paths(unittest.TestCase):
    def setUp(self) -> None:
        self.directory = tempfile.TemporaryDirectory()
        self.root = Path(self.directory.name)
        for name in FILES:
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()

    def tearDown(self) -> None:
        self.directory.cleanup()

    def wrong(self, text: str) -> list[str]:
        return walks.wrong("A.md", text, self.root)

    def test_paths_that_exist(self) -> None:
        for path in ["Sources/Stack/GAP", "GAP/Connecting/Connector.swift", "Connector.swift", "Scripts/test unit", "Interop/",
                     "Interop/tests/test_usb.py"]:
            self.assertEqual(self.wrong(f"See `{path}`."), [], path)
        self.assertEqual(self.wrong("[limits](Documentation/Limits.md#scans), [site](https://example.com)"), [])

    def test_paths_that_lead_nowhere(self) -> None:
        for path in ["Sources/Stack/GATT", "GAP/Scanning", "GAP/Connecting/Scanner.swift", "Scanner.swift", "Scripts/soak --seconds 2",
                     "Interop/tests/test_air.py", "Other/README.md", "Connecting/Connector.swift"]:
            self.assertEqual(self.wrong(f"# Walks\n\nSee `{path}`."), [f"A.md:3: there is no {path.split()[0]}"], path)
        self.assertEqual(self.wrong("[limits](Limits.md)"), ["A.md:1: there is no Limits.md"])

    def test_names_of_two_files(self) -> None:
        (self.root / "Sources/Stack/GAP/Connector.swift").touch()
        self.assertEqual(self.wrong("See `Connector.swift`."), ["A.md:1: 2 files are called Connector.swift"])
        self.assertEqual(self.wrong("See `GAP/Connecting/Connector.swift`."), [])

    def test_what_is_no_path(self) -> None:
        for text in ["`/proc/PID/exe`", "`GAP/SEC/SEM/BV-57`", "`.poweredOn`", "`tcp:127.0.0.1:6402`", "Sources/Stack/GATT", "`a / b`",
                     "```sh\ncat `Sources/Stack/GATT`\n```"]:
            self.assertEqual(self.wrong(text), [], text)

    def test_links_of_other_documents(self) -> None:
        self.assertEqual(walks.broken("A.md", "`Sources/Stack/GATT`, [limits](Limits.md#scans)", self.root), ["A.md:1: there is no Limits.md"])

    def test_links_are_relative_to_the_document(self) -> None:
        self.assertEqual(walks.wrong("Documentation/A.md", "[limits](Limits.md), [file](../Scripts/test)", self.root), [])
        self.assertEqual(len(walks.wrong("Documentation/A.md", "[limits](Documentation/Limits.md)", self.root)), 1)

    def test_anchors(self) -> None:
        text = "# A\n\n## What is kept, and `why`\n\n[here](#what-is-kept-and-why) [there](Documentation/Limits.md#scans)"
        (self.root / "A.md").write_text(text)
        self.assertEqual(walks.dangling("A.md", text, self.root), ["A.md:5: there is no heading Documentation/Limits.md#scans"])
        (self.root / "Documentation/Limits.md").write_text("# Limits\n\n```\n# no heading\n```\n\n## Scans\n")
        self.assertEqual(walks.dangling("A.md", text, self.root), [])
        self.assertEqual(len(walks.dangling("A.md", "[it](Documentation/Limits.md#no-heading) [us](#us)", self.root)), 2)


class NamesOfCode(unittest.TestCase):
    def setUp(self) -> None:
        self.directory = tempfile.TemporaryDirectory()
        root = Path(self.directory.name)
        (root / "Sources/Stack/GAP").mkdir(parents=True)
        (root / "Sources/Stack/GAP/Connector.swift").write_text(SWIFT)
        (root / "Sources/Stack/GAP/Observer.swift").write_text("extension Observer { var isSilent: Bool { true } }\nstruct Observer {}")
        (root / "Package.swift").write_text('room("EventLoops"), .trait(name: "Controllers")')
        self.names = walks.declared(root)

    def tearDown(self) -> None:
        self.directory.cleanup()

    def unknown(self, text: str) -> list[str]:
        return walks.unknown("A.md", text, self.names)

    def test_names_that_are_declared(self) -> None:
        for name in ["Connector", "Controllers", "EventLoops", "ByteBuffer", "Connector.background", ".willRestore", ".ended",
                     "want(_:then:)", "Connector.reset()", "willRestore", "Connector.Event", "Connector.Event.told",
                     "Observer.isSilent"]:
            self.assertEqual(self.unknown(f"See `{name}`."), [], name)

    def test_names_that_nothing_declares(self) -> None:
        for name in ["Scanner", "Comment", "Connector.foreground", "Scanner.background", ".willVanish", "want(_:)", "want()",
                     "Scanner.reset()", "isBusy", "Connector.State", "State.Event", "Connector.Event.asked",
                     "Connector.isSilent", "Connector.Observer"]:
            self.assertEqual(self.unknown(f"See\n`{name}`."), [f"A.md:2: nothing declares {name}"], name)

    def test_commands_run_tests_that_exist(self) -> None:
        self.assertEqual(walks.without_test("A.md", "`A=1 swift test --filter Observer`, `swift test --filter reset`", self.names), [])
        self.assertEqual(walks.without_test("A.md", "`swift test --filter resets`", self.names), ["A.md:1: there is no test resets"])

    def test_what_is_no_name(self) -> None:
        for text in ["`HARALD_SERVICE`", "`hci0`", "`harald service --all`", "`Scanner.swift`", "`0x05`", "Scanner", "```\n`Scanner`\n```"]:
            self.assertEqual(self.unknown(text), [], text)

    def test_sequence_diagrams(self) -> None:
        def diagram(message: str) -> str:
            return f"```mermaid\nsequenceDiagram\n    {message}\n```"

        self.assertEqual(self.unknown(diagram("Connector->>Event: reset(), want(_:then:), .told, isSilent: LE Create Connection for the EventLoops")), [])
        for message, word in [("Scanner->>Event: go", "Scanner"), ("Event->>Scanner: go", "Scanner"),
                              ("Event->>Event: halt()", "halt()"),
                              ("Event->>Event: an Event .asked", ".asked"), ("Event->>Event: isBusy, or not", "isBusy"), ("Event->>Event: the HCIScanner", "HCIScanner"),
                              ("Event->>Event: by ScannerMachine", "ScannerMachine")]:
            self.assertEqual(self.unknown(diagram(message)), [f"A.md:3: nothing declares {word}"], message)


class Size(unittest.TestCase):
    def test_bounds(self) -> None:
        self.assertEqual(walks.too_wide("A.md", ("x" * 120 + "\n") * 300), [])
        self.assertEqual(walks.too_wide("A.md", "x\n" + "x" * 121), ["A.md:2: 121 columns, at most 120"])


CHECKLIST = '''symbol,kind,since,status
CBManager,class,10.0,expected
CBManager.state: CBManagerState,property,10.0,expected
CBPeer.identifier: UUID,property,7.0,expected
"CBCentralManager.connect(_: CBPeripheral, options: [String: Any]?)",method,5.0,expected
"CBCentralManagerDelegate.centralManager(_: CBCentralManager, didConnect: CBPeripheral)",delegate,5.0,expected
CBCentralManagerDelegate.centralManagerDidUpdateState(_: CBCentralManager),delegate,5.0,expected
CBPeripheralDelegate.peripheralIsReady(toSendWriteWithoutResponse: CBPeripheral),delegate,11.0,expected
CBPeripheralManagerDelegate.peripheralManagerIsReady(toUpdateSubscribers: CBPeripheralManager),delegate,6.0,expected
'''
RULES = '''
## Index by API

| symbol | rules |
| --- | --- |
| `CBManager.state`, `…DidUpdateState` | 1.1–1.3 |

## 1 States

- **1.1** `state` is unknown
  at first. — HDR
- **1.2** Then comes another. — HDR
- **1.3** A call of `connect(_:options:)` fails. — HDR

## 2 Others

- **2.1** `CBPeripheral.identifier` and `didConnect`; `reconnect` is no name. — HDR
'''


class Index(unittest.TestCase):
    def setUp(self) -> None:
        self.symbols = behaviours_by_name.symbols(CHECKLIST)

    def named(self, quoted: str) -> list[str]:
        return sorted(each.name for each in behaviours_by_name.meant(quoted, self.symbols))

    def test_names(self) -> None:
        for quoted, found in {
            "connect(_:options:)": ["connect"], "connect": ["connect"], "CBManager.state": ["state"], "CBError.state": [],
            "CBPeripheral.identifier": ["identifier"], "…DidUpdateState": ["centralManagerDidUpdateState"],
            "…IsReady(toUpdateSubscribers:)": ["peripheralManagerIsReady"], "centralManager(_:didConnect:)": ["didConnect"],
            "a b": [], "180D": [],
        }.items():
            self.assertEqual(self.named(quoted), found, quoted)

    def test_the_document(self) -> None:
        rows = behaviours_by_name.index(RULES, CHECKLIST).removeprefix(behaviours_by_name.HEAD).splitlines()
        self.assertEqual(rows, [
            "| `centralManagerDidUpdateState` | `CBCentralManagerDelegate` | 1.1–1.3 |",
            "| `connect` | `CBCentralManager` | 1.3 |",
            "| `didConnect` | `CBCentralManagerDelegate` | 2.1 |",
            "| `identifier` | `CBPeer` | 2.1 |",
            "| `state` | `CBManager` | 1.1–1.3 |",
        ])


class Workflows(unittest.TestCase):
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
