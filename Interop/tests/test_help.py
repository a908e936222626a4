"""The command line itself: the version, the help, and what a mistyped command gets."""
from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGING = Path(__file__).parents[2] / "Packaging"


def ran(binary: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([binary, *arguments], capture_output=True, text=True, env={**os.environ, "COLUMNS": "80"}, timeout=20)


def test_the_version_is_told(binary: str) -> None:
    """A build that is not packaged does not name a commit."""
    told = ran(binary, "--version")
    assert told.returncode == 0 and told.stderr == ""
    assert re.fullmatch(r"harald \d+\.\d+\.\d+(-dev)?, (development build|commit [0-9a-f]{12}(-changed)?), Swift \d[\w. ]+\n", told.stdout)


@pytest.mark.parametrize("line, meant", [
    ("scna", "harald scan"), ("bond list", "harald bonds"), ("device list", "harald devices"), ("version", "harald --version"),
    ("-v", "harald --version"), ("help scna", "harald scan"), ("bonds forgt X", "harald bonds forget"), ("demo backgruond", "harald demo background"),
    ("help bonds lst", "harald bonds list"), ("bonds help", "harald bonds --help"), ("controler --json", "harald controllers"),
    ("MONITOR", "harald monitor"),
])  # fmt: skip
def test_a_mistyped_command_is_recognised(binary: str, line: str, meant: str) -> None:
    told = ran(binary, *line.split())
    assert told.returncode == 64 and told.stdout == ""
    assert f"did you mean `{meant}`?" in told.stderr and told.stderr.count("\n") == 1


def test_a_word_without_resemblance_leads_to_the_help(binary: str) -> None:
    told = ran(binary, "frobnicate\x1b[31m")
    assert told.returncode == 64 and "`harald --help` lists the commands" in told.stderr and "\x1b" not in told.stderr
    # Words that are not commands are the argument parser's.
    assert "Unexpected argument 'frobnicate'" in ran(binary, "demo", "frobnicate").stderr
    assert "Unexpected argument 'x'" in ran(binary, "status", "x").stderr


def test_the_commands_are_grouped(binary: str) -> None:
    told = ran(binary, "--help").stdout
    assert told == ran(binary, "help").stdout
    groups = re.findall(r"^([A-Z ]+) SUBCOMMANDS:$", told, re.MULTILINE)
    assert groups == ["TRY", "TALK TO DEVICES", "SERVICE", "CAPTURES", "MACHINE", "DEVELOP"]


def test_each_command_has_an_example_and_each_option_a_placeholder(binary: str) -> None:
    dump = ran(binary, "--experimental-dump-help").stdout
    checked = subprocess.run([sys.executable, PACKAGING / "manual.py", "--check", "-"], input=dump, capture_output=True, text=True)
    assert checked.stderr == ""
    assert checked.stdout == ""
    assert len(json.loads(dump)["command"]["subcommands"]) > 10


def test_each_example_of_the_help_is_understood(binary: str) -> None:
    """The options in the examples exist, as the parser itself finds."""
    dump = json.loads(ran(binary, "--experimental-dump-help").stdout)["command"]
    checked = 0
    for words, example in examples(dump, []):
        arguments = shlex.split(example.removeprefix("sudo "))[1:]
        # What follows is another program's.
        own = arguments[:arguments.index("--")] if "--" in arguments else arguments
        told = ran(binary, *own, "--help")
        assert told.returncode == 0 and told.stdout.startswith("OVERVIEW"), example
        missing = [each for each in own if each.startswith("--") and each not in told.stdout]
        assert not missing, f"{' '.join(words)}: {example} uses {missing}"
        checked += 1
    assert checked > 40


def examples(command: dict, above: list[str]) -> list[tuple[list[str], str]]:
    words = [*above, command["commandName"]]
    lines = re.findall(r"^  ((?:sudo )?\S*harald .*)$", command.get("discussion") or "", re.MULTILINE)
    below = [each for subcommand in command.get("subcommands", []) for each in examples(subcommand, words)]
    return [(words, each) for each in lines] + below


@pytest.mark.parametrize("command", ["--version", "--help", "help scan", "demo --virtual-time", "demo background"])
def test_output_that_cannot_be_written_is_an_error(binary: str, command: str) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        told = subprocess.run([binary, *command.split()], stdout=full, stderr=subprocess.PIPE, text=True, timeout=30)
    assert told.stderr == "harald: the output cannot be written: No space left on device\n"
    assert told.returncode == 1
