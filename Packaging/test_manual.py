import datetime
import re
import subprocess
import tempfile
import unittest
from pathlib import Path
from shutil import which

import manual

FILE = {
    "kind": "option", "names": [{"kind": "long", "name": "capture"}], "preferredName": {"kind": "long", "name": "capture"}, "valueName": "FILE",
    "abstract": "Write to this file. It has keys.", "isOptional": True, "isRepeating": True, "shouldDisplay": True, "defaultValue": "a-b",
}  # fmt: skip
HELP = {"kind": "flag", "names": [{"kind": "short", "name": "h"}, {"kind": "long", "name": "help"}], "abstract": "Show help.",
        "isOptional": True, "isRepeating": False, "shouldDisplay": True}  # fmt: skip
NAME = {"kind": "positional", "valueName": "NAME", "abstract": ".dotted", "isOptional": False, "isRepeating": False, "shouldDisplay": True}
SCAN = {
    "commandName": "scan", "abstract": "Print a\\b.", "arguments": [FILE, NAME, HELP],
    "discussion": "It scans. It -prints.\n\nExamples:\n  tool scan --capture x y\n  sudo /bin/tool scan z",
}
ROOT = {
    "commandName": "tool", "abstract": "A tool.", "arguments": [HELP], "subcommands": [SCAN, {"commandName": "help"}],
    "discussion": "Exit status: 0 success, 5 device not found in\ntime, 1 any other failure.\n\nExample:\n  tool scan x",
}
DATE = datetime.date(2026, 11, 6)


class ManualTests(unittest.TestCase):
    def test_a_page_has_all_sections(self) -> None:
        _, scan = manual.commands(ROOT)
        text = manual.page(scan, DATE, "tool 1")
        self.assertIn(".Dd November 6, 2026\n.Dt TOOL-SCAN 1\n", text)
        self.assertEqual(re.findall(r"^\.Sh (.*)", text, re.M), ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "EXAMPLES", "SEE ALSO"])
        self.assertIn(".Op Fl \\-capture Ar FILE ...\n.Ar NAME\n.Sh", text)
        self.assertIn(".It Fl \\-capture Ar FILE\nWrite to this file.\nIt has keys.\nThe default is a\\-b.\n", text)
        self.assertIn("\\&.dotted", text)
        self.assertIn("Print a\\eb.", text)
        self.assertIn("tool scan \\-\\-capture x y\nsudo /bin/tool scan z\n.Ed", text)
        self.assertIn(".It 1\nAny other failure.\n.It 5\nDevice not found in time.", text)

    def test_the_page_of_the_tool_names_its_commands(self) -> None:
        tool, _ = manual.commands(ROOT)
        text = manual.page(tool, DATE, "tool 1")
        self.assertIn(".It Xr tool-scan 1\nPrint a\\eb.", text)
        self.assertNotIn("Xr tool-help", text)
        self.assertNotIn("Exit status:", text)

    @unittest.skipUnless(which("groff"), "there is no groff")
    def test_pages_render_without_warnings(self) -> None:
        for command in manual.commands(ROOT):
            text = manual.page(command, DATE, "tool 1")
            rendered = subprocess.run(["groff", "-mandoc", "-ww", "-Tutf8", "-P-c"], input=text, capture_output=True, text=True)
            self.assertEqual(rendered.stderr, "")
            self.assertIn("TOOL", rendered.stdout)

    def test_files_are_named_after_commands(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            dump = Path(directory) / "dump"
            dump.write_text('{"command": {"commandName": "tool", "abstract": "A tool."}}')
            command = ["python3", manual.__file__, "--directory", f"{directory}/man", "--date", "2026-11-06", str(dump)]
            subprocess.run(command, check=True)
            self.assertEqual([each.name for each in Path(directory, "man").iterdir()], ["tool.1"])

    def test_missing_examples_and_placeholders_are_found(self) -> None:
        self.assertEqual(manual.complaints(ROOT), [])
        option = FILE | {"valueName": "capture"}
        scan = SCAN | {"arguments": [option, NAME | {"valueName": "name"}], "discussion": "Examples:\n  tool scam"}
        found = manual.complaints(ROOT | {"subcommands": [scan, SCAN | {"discussion": ""}]})
        self.assertEqual(found, [
            "tool scan: the value of capture is called <capture>, not in capitals",
            "tool scan: the value of argument is called <name>, not in capitals",
            "tool scan: the example 'tool scam' does not call it",
            "tool scan: there is no example",
        ])


if __name__ == "__main__":
    unittest.main()
