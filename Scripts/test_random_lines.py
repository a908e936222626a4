#!/usr/bin/env python3
"""Tests that random-lines finds what it looks for, with tools that trap, hang and more. Run by Scripts/lint."""
import contextlib
import io
import json
import subprocess
import sys
import tempfile
import unittest
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

sys.dont_write_bytecode = True
loader = SourceFileLoader("random_lines", str(Path(__file__).with_name("random-lines")))
random_lines = module_from_spec(spec_from_loader("random_lines", loader))
sys.modules["random_lines"] = random_lines  # for dataclasses
loader.exec_module(random_lines)
End, Line, Maker, faults = random_lines.End, random_lines.Line, random_lines.Maker, random_lines.faults

SENTENCE = "A command.\n\nExit status: 0 success, 1 any other failure, 5 device not found in time, or several fit, 64 usage error."


def option(name: str, value: str = "", **more: object) -> dict:
    kind = "option" if value else "flag"
    return {"kind": kind, "names": [{"kind": "long", "name": name}], "valueName": value or name, "isOptional": True, **more}


def command(name: str, *arguments: dict) -> dict:
    return {"commandName": name, "discussion": SENTENCE, "arguments": [*arguments, option("help"), option("version")]}


def description(*subcommands: dict) -> dict:
    return {"commandName": "harald", "subcommands": list(subcommands)}


DEVICE = {"kind": "positional", "names": None, "valueName": "DEVICE", "isOptional": False, "isRepeating": False}
TOOL = description(
    command("scan", option("json"), option("controller", "CONTROLLER"), option("service", "SOCKET"), option("timeout", "SECONDS"), DEVICE),
    command("install", option("print"), option("directory", "DIRECTORY"), option("controller", "CONTROLLER")),
    command("controllers", option("dongle"), option("vhci"), option("listen", "PORT"), option("json")),
    {"commandName": "bonds", "subcommands": [command("adopt", option("store", "DIRECTORY"), option("controller", "CONTROLLER"))]},
)


def line(**changes: object) -> Line:
    whole = {"words": [b"x"], "variables": {}, "stdin": "null", "stdout": "kept", "stderr": "kept", "moment": 1.0, "statuses": {0, 1, 64}}
    return Line(**{**whole, **changes})


class Lines(unittest.TestCase):
    def setUp(self) -> None:
        self.maker = Maker(TOOL, 3)

    def test_a_seed_gives_the_same_lines(self) -> None:
        self.assertEqual(self.maker.line(7), Maker(TOOL, 3).line(7))
        self.assertNotEqual([self.maker.line(each) for each in range(9)], [Maker(TOOL, 4).line(each) for each in range(9)])

    def test_nothing_changes_the_machine(self) -> None:
        for number in range(3000):
            made = self.maker.line(number)
            self.assertFalse({b"--dongle", b"--vhci"} & set(made.words), made)
            if made.words[0] == b"install":
                self.assertIn(b"--print", made.words[1:2], made)
            self.assertFalse([each for each in made.words if each.startswith((b"/", b"..", b"~"))], made)
            for name, value in made.variables.items():
                self.assertFalse(value.startswith((b"/", b"..")) and name != b"PATH", made)

    def test_neither_the_service_nor_the_bonds_of_the_user_are_used(self) -> None:
        for number in range(3000):
            made = self.maker.line(number)
            if made.words[:1] == [b"scan"]:
                self.assertTrue(made.variables.get(b"HARALD_SERVICE") or made.variables.get(b"HARALD_CONTROLLER"), made)
            if not made.variables.get(b"HOME"):
                self.assertEqual(made.variables[b"XDG_STATE_HOME"], b"FOLDER/state")

    def test_an_adapter_of_the_machine_is_not_taken(self) -> None:
        maker = Maker(TOOL, 3, has_adapters=True)
        for number in range(3000):
            made = maker.line(number)
            named = [each for each in [*made.words, *made.variables.values()] if each.rpartition(b"=")[2].startswith(b"hci")]
            self.assertEqual(named, [])
            if made.words[:1] == [b"scan"]:
                self.assertTrue(made.variables.get(b"HARALD_SERVICE") or made.variables.get(b"HARALD_CONTROLLER"), made)

    def test_the_statuses_are_those_of_the_help(self) -> None:
        found = {tuple(each.path): each.statuses for each in random_lines.commands(TOOL)}
        self.assertEqual(found["scan",], {0, 1, 5, 64})
        self.assertEqual(found["bonds",], {0, 64})
        doctor = {"discussion": "Checks 3 things. The exit status is 0 if there is no problem, and 1 if there is one.\n\nExample:\n  x 7"}
        self.assertEqual(random_lines.statuses(doctor), {0, 1, 64})

    def test_json_is_expected_of_lines_that_ask_for_it(self) -> None:
        made = [self.maker.line(each) for each in range(1000)]
        self.assertGreater(sum(each.is_json for each in made), 50)
        for each in made:
            if each.is_json:
                self.assertIn(b"--json", each.words)
                self.assertNotIn(b"--help", each.words)

    def test_a_line_can_be_pasted(self) -> None:
        words = [b"", b"a b", b"it's", b"\xff\x1b[31m\n", b"$(true)", b"\\", "é".encode(), b"a'\xffb"]
        with tempfile.TemporaryDirectory() as folder:
            shell = line(words=[b"%s|", *words], variables={b"A": b"\xffx y"}).in_shell("/usr/bin/printf", Path(folder))
            ran = subprocess.run(["bash", "-c", shell], capture_output=True, check=True)
        self.assertEqual(ran.stdout, b"".join(each + b"|" for each in words))


class Faults(unittest.TestCase):
    def assert_fault(self, text: str, end: object, **changes: object) -> None:
        self.assertIn(text, "; ".join(faults(line(**changes), end)))

    def assert_none(self, end: object, **changes: object) -> None:
        self.assertEqual(list(faults(line(**changes), end)), [])

    def test_signals(self) -> None:
        self.assert_fault("SIGILL", End(-4))
        self.assert_fault("SIGKILL", End(-9, sent=[2, 15]))
        self.assert_none(End(-2, sent=[2]))
        self.assert_none(End(-13))
        self.assert_fault("still runs", End(-9, is_hung=True))

    def test_statuses(self) -> None:
        self.assert_fault("99", End(99, err=b"no"))
        self.assert_fault("130", End(130, sent=[2]))
        self.assert_none(End(130, sent=[2]), statuses={0, 130})
        self.assert_none(End(143, sent=[2, 15]))
        self.assert_fault("143", End(143, sent=[2]))
        # A group of commands that prints its help.
        self.assert_fault("1", End(1, err=b"harald: no"), statuses={0, 64})
        self.assert_none(End(1, err=b"harald: no"), statuses={0, 64}, stdout="full")

    def test_traces(self) -> None:
        for text in (
            b"Foo/Bar.swift:7: Fatal error: Index out of range", b"*** Program crashed: Illegal instruction", b"0 f() in harald at /x/A.swift:88:9",
            b"Error Domain=NSCocoaErrorDomain Code=4", b"harald: cannot use it: unixDomainSocketPathTooLong; start it",
        ):  # fmt: skip
            self.assert_fault("printed", End(1, err=text))

    def test_messages(self) -> None:
        self.assert_fault("without a message", End(1))
        self.assert_fault("without a message", End(1, err=b"harald: \n"))
        self.assert_fault("without a message", End(64, err=b"Error:\nUsage: harald\n"))
        self.assert_none(End(1, err=b"harald: no bond"))
        # Nobody can read it.
        self.assert_none(End(1), stderr="gone")

    def test_json(self) -> None:
        self.assert_fault("not JSON", End(0, out=b'{"a":\n'), is_json=True)
        self.assert_fault("without a document", End(1, err=b"harald: no"), is_json=True)
        self.assert_none(End(1, out=b'{"a":1}\n[]\n', err=b"harald: no"), is_json=True)
        self.assert_none(End(64, err=b"Error: what"), is_json=True)
        self.assert_none(End(0, out=b"hello"))


class Runs(unittest.TestCase):
    """Whole runs, with a tool that does the same on each line."""

    def run_lines(self, does: str, count: int = 8) -> tuple[int, str]:
        with tempfile.TemporaryDirectory() as folder:
            tool = Path(folder, "tool")
            Path(folder, "help").write_text(json.dumps({"command": description(command("scan", option("json"), DEVICE))}))
            tool.write_text(f'#!/bin/sh\n[ "$1" = --experimental-dump-help ] && exec cat {folder}/help\ncase "$1" in controllers | serve | service) exit ;; esac\n{does}\n')
            tool.chmod(0o755)
            told = io.StringIO()
            with contextlib.redirect_stdout(told):
                status = random_lines.main(["--tool", str(tool), "--count", str(count), "--patience", "0.2", "--pace", "0.1"])
            for each in Path(tempfile.gettempdir()).glob("harald-line-*"):
                random_lines.remove(each) if f" {each} " in told.getvalue() else None
        return status, told.getvalue()

    def assert_fails(self, does: str, text: str, count: int = 8) -> None:
        status, told = self.run_lines(does, count)
        self.assertEqual(status, 1, told)
        self.assertIn(text, told)
        self.assertIn("seed 1", told)
        self.assertIn("env -i PATH=/usr/bin:/bin", told)

    def test_a_tool_without_faults(self) -> None:
        self.assertEqual(self.run_lines("echo '{}'; echo no such device >&2; exit 5")[0], 0)
        self.assertEqual(self.run_lines("echo '{}'; exec sleep 5")[0], 0)

    def test_a_tool_that_traps(self) -> None:
        self.assert_fails("kill -ILL $$", "ended by SIGILL")

    def test_a_tool_that_hangs(self) -> None:
        self.assert_fails("trap '' INT TERM; sleep 20; exit 0", "still runs after SIGTERM", count=4)

    def test_a_tool_that_prints_a_trace(self) -> None:
        self.assert_fails("echo '{}'; echo 'A.swift:1: Fatal error: oh' >&2; exit 1", "printed 'Fatal error'")

    def test_a_tool_with_another_status(self) -> None:
        self.assert_fails("echo '{}'; echo no >&2; exit 99", "status 99")

    def test_a_tool_without_a_message(self) -> None:
        self.assert_fails("exit 1", "failed without a message")

    def test_a_tool_without_json(self) -> None:
        self.assert_fails("""echo '{"a":'""", "not JSON", count=16)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "--quiet"])
