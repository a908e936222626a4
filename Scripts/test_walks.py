#!/usr/bin/env python3
"""Tests what walks.py complains about, and what it accepts. Run by Scripts/lint."""
import sys
import tempfile
import unittest
from pathlib import Path

import walks

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
        self.assertEqual(walks.too_long("A.md", ("x" * 120 + "\n") * 150), [])
        self.assertEqual(walks.too_long("A.md", "x\n" * 201), ["A.md: 201 lines, at most 200"])
        self.assertEqual(walks.too_long("A.md", "x\n" + "x" * 121), ["A.md:2: 121 columns, at most 120"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "--quiet"])
