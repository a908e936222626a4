#!/usr/bin/env python3
"""Writes the manual pages of `harald` in mdoc(7): one for the tool, and one for each of its commands.

    Packaging/manual.py --directory DIR DUMP      DUMP is the output of harald --experimental-dump-help; - reads it
    Packaging/manual.py --check DUMP              fails, and prints each option without a real placeholder and each
                                                  command without an example

The argument parser's dump has all that --help prints. From the discussion of a command, lines that begin with
"Exit status:" and "Example:" or "Examples:" become sections. --date sets the date of the pages, which is today's
otherwise.
"""
import argparse
import datetime
import json
import re
import sys
from pathlib import Path
from typing import Iterator, NamedTuple

SECTION = 1
# A name that stands for a value in help: <FILE>, <SECONDS>, <N>.
PLACEHOLDER = re.compile(r"[A-Z][A-Z-]*")
EXAMPLES = re.compile(r"Examples?:$")
EXIT_STATUS = "Exit status: "
STATUS = re.compile(r"(\d+) (.*)")
SENTENCE = re.compile(r"(?<=[.?!]) +(?=[A-Z\"(-])")
ENVIRONMENT = [
    ("HARALD_CONTROLLER", "The controller for programs that use Core Bluetooth without a service."),
    ("HARALD_SERVICE", "The socket of the Bluetooth service, for the tool and for programs."),
]


class Command(NamedTuple):
    """A command with the words that call it, such as harald bonds list."""
    words: list[str]
    info: dict
    root: dict

    @property
    def page(self) -> str:
        return "-".join(self.words)

    @property
    def subcommands(self) -> list["Command"]:
        return [
            Command([*self.words, each["commandName"]], each, self.root)
            for each in self.info.get("subcommands", []) if each.get("shouldDisplay", True) and each["commandName"] != "help"
        ]

    @property
    def arguments(self) -> list[dict]:
        return [each for each in self.info.get("arguments", []) if each.get("shouldDisplay", True)]


class Discussion(NamedTuple):
    """The parts of a discussion."""
    paragraphs: list[str]
    examples: list[str]
    # Numbers with their meanings; empty if it has none.
    statuses: list[tuple[str, str]]


def commands(root: dict) -> Iterator[Command]:
    """All commands, each before its subcommands."""
    pending = [Command([root["commandName"]], root, root)]
    while pending:
        command = pending.pop(0)
        yield command
        pending = command.subcommands + pending


def parts(text: str) -> Discussion:
    paragraphs: list[str] = []
    examples: list[str] = []
    statuses: list[tuple[str, str]] = []
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        lines = paragraph.splitlines()
        if lines and EXAMPLES.match(lines[0]):
            examples += [line.strip() for line in lines[1:]]
        elif paragraph.startswith(EXIT_STATUS):
            statuses += exit_statuses(paragraph.removeprefix(EXIT_STATUS))
        elif paragraph:
            paragraphs.append(paragraph)
    return Discussion(paragraphs, examples, statuses)


def exit_statuses(text: str) -> list[tuple[str, str]]:
    """Parses "0 success, 3 controller unreachable." and sorts the numbers."""
    found = [match.groups() for each in text.rstrip(".\n").split(", ") if (match := STATUS.fullmatch(" ".join(each.split())))]
    return sorted(((number, meaning) for number, meaning in found), key=lambda each: int(each[0]))


# --- mdoc -------------------------------------------------------------------------------------------------------------


def escaped(text: str) -> str:
    """Text of a line, or an argument of a macro."""
    return text.replace("\\", "\\e").replace("-", "\\-")


def line(text: str) -> str:
    """A line of text: a dot or quotation mark at its start would make it a request."""
    return ("\\&" if text[:1] in (".", "'") else "") + escaped(text)


def prose(text: str) -> list[str]:
    """A sentence a line, as mdoc(7) recommends."""
    joined = " ".join(text.split())
    return [line(each) for each in SENTENCE.split(joined)]


def flag(name: dict) -> str:
    """The name of an option as arguments of a macro: Fl adds the first hyphen."""
    return "Fl " + escaped(("-" if name["kind"] == "long" else "") + name["name"])


def value(argument: dict) -> str:
    return "Ar " + escaped(argument.get("valueName", "value"))


def synopsis(argument: dict) -> str:
    named = argument.get("names")
    first = argument.get("preferredName") or (named[0] if named else None)
    words = " ".join(([flag(first)] if first else []) + ([value(argument)] if argument["kind"] != "flag" else []))
    repeated = " ..." if argument["isRepeating"] else ""
    return f".Op {words}{repeated}" if argument["isOptional"] else f".{words}{repeated}"


def item(argument: dict) -> list[str]:
    """An entry of the list of options."""
    names = [flag(each) for each in argument.get("names", [])]
    if argument["kind"] != "flag":
        names = [f"{each} {value(argument)}" for each in names] or [value(argument)]
    text = prose(argument.get("abstract") or "") + prose(argument.get("discussion") or "")
    if values := argument.get("allValues") or argument.get("allValueStrings"):
        text += prose(f"The values are {', '.join(values)}.")
    if argument.get("defaultValue") is not None and "(default:" not in (argument.get("abstract") or ""):
        text += prose(f"The default is {argument['defaultValue']}.")
    return [".It " + " , ".join(names), *(each for each in text if each)]


def page(command: Command, date: datetime.date, version: str) -> str:
    """The manual page of a command."""
    abstract = command.info.get("abstract") or ""
    discussion = parts(command.info.get("discussion") or "")
    lines = [
        f".Dd {date:%B} {date.day}, {date.year}",
        f".Dt {command.page.upper()} {SECTION}",
        f".Os {escaped(version)}",
        ".Sh NAME",
        f".Nm {command.page}",
        f".Nd {escaped(abstract[:1].lower() + abstract[1:].rstrip('.'))}",
        ".Sh SYNOPSIS",
        f".Nm \"{' '.join(command.words)}\"",
    ]
    arguments = [each for each in command.arguments if not is_help(each)]
    lines += [synopsis(each) for each in arguments]
    lines += [".Ar command", ".Op Ar arguments"] if command.subcommands else []
    lines += [".Sh DESCRIPTION", *prose(abstract)]
    for paragraph in discussion.paragraphs:
        lines += [".Pp", *prose(paragraph)]
    lines += listed("COMMANDS", [[f".It Xr {each.page} {SECTION}", *prose(each.info.get("abstract") or "")] for each in command.subcommands])
    lines += listed("OPTIONS", [item(each) for each in command.arguments])
    if len(command.words) == 1:
        lines += listed("ENVIRONMENT", [[f".It Ev {name}", *prose(text)] for name, text in ENVIRONMENT])
    statuses = discussion.statuses or parts(command.root.get("discussion") or "").statuses
    lines += listed("EXIT STATUS", [[f".It {number}", *prose(meaning[:1].upper() + meaning[1:] + ".")] for number, meaning in statuses])
    if discussion.examples:
        lines += [".Sh EXAMPLES", ".Bd -literal -offset indent", *map(line, discussion.examples), ".Ed"]
    above = ["-".join(command.words[:count]) for count in range(1, len(command.words))]
    if above:
        lines += [".Sh SEE ALSO", *(f".Xr {name} {SECTION}{' ,' if name != above[-1] else ''}" for name in above)]
    return "\n".join(lines) + "\n"


def is_help(argument: dict) -> bool:
    return any(each["name"] in ("help", "version") for each in argument.get("names", []))


def listed(title: str, items: list[list[str]]) -> list[str]:
    """A section with a list; nothing if the list is empty."""
    if not items:
        return []
    return [f".Sh {title}", ".Bl -tag -width Ds", *(each for entry in items for each in entry), ".El"]


# --- the check --------------------------------------------------------------------------------------------------------


def complaints(root: dict) -> list[str]:
    """What the help of each command lacks."""
    found: list[str] = []
    for command in commands(root):
        name = " ".join(command.words)
        for argument in command.arguments:
            placeholder = argument.get("valueName", "")
            if argument["kind"] != "flag" and not PLACEHOLDER.fullmatch(placeholder):
                option = (argument.get("preferredName") or {}).get("name", "argument")
                found.append(f"{name}: the value of {option} is called <{placeholder}>, not in capitals")
        examples = parts(command.info.get("discussion") or "").examples
        if not examples:
            found.append(f"{name}: there is no example")
        found += [f"{name}: the example {each!r} does not call it" for each in examples if not calls(each, command)]
    return found


def calls(example: str, command: Command) -> bool:
    """Whether the example runs the command, by a path or not, or the help on it."""
    words = example.removeprefix("sudo ").split()
    if not words or words[0].rpartition("/")[2] != command.words[0]:
        return False
    return words[1:len(command.words)] == command.words[1:]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--directory", type=Path)
    parser.add_argument("--date", type=datetime.date.fromisoformat, default=datetime.date.today())
    parser.add_argument("--version", default="harald")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("dump")
    options = parser.parse_args()
    text = sys.stdin.read() if options.dump == "-" else Path(options.dump).read_text()
    root = json.loads(text)["command"]
    if options.directory:
        options.directory.mkdir(parents=True, exist_ok=True)
        for command in commands(root):
            path = options.directory / f"{command.page}.{SECTION}"
            path.write_text(page(command, options.date, options.version))
    found = complaints(root) if options.check else []
    for each in found:
        print(each)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
