"""Compares command lines of the tool in documents with the tool's own description of its options.

The description is what `harald --experimental-dump-help` prints, from which the tool also makes completions.
"""
import json
import subprocess
from pathlib import Path
from typing import Any, Iterator

# Options that every command has.
COMMON = {"--help", "-h", "--version", "--generate-completion-script"}


def description(tool: Path) -> dict[str, Any]:
    dump = subprocess.run([tool, "--experimental-dump-help"], capture_output=True, text=True, check=True)
    return json.loads(dump.stdout)["command"]


def of_tool(command: list[str]) -> list[str] | None:
    """The arguments of the tool, or None if the command runs another program."""
    words = list(command)
    if words and words[0] == "sudo":
        words = words[1:]
    if words[:2] == ["swift", "run"]:
        words = words[2:]
    return words[1:] if words and words[0].rsplit("/", 1)[-1] == "harald" else None


def faults(arguments: list[str], command: dict[str, Any], partial: bool = False) -> Iterator[str]:
    """What the tool would refuse. A partial command line, as prose names it, may lack arguments."""
    words = list(arguments)
    path = command["commandName"]
    if words[:1] == ["help"]:
        words, partial = words[1:], True
    while command.get("subcommands"):
        named = {each["commandName"]: each for each in command["subcommands"]}
        if words and words[0] in named:
            command = named[words.pop(0)]
        elif words and words[0].isupper():
            # A placeholder.
            return
        elif words and not words[0].startswith("-"):
            yield f"{path} has no command {words[0]}"
            return
        elif command.get("defaultSubcommand"):
            command = named[command["defaultSubcommand"]]
        else:
            if not partial and not COMMON & set(words):
                yield f"{path} needs a command"
            return
        path += " " + command["commandName"]
    yield from options(words, command.get("arguments", []), path, partial)


def options(words: list[str], arguments: list[dict[str, Any]], path: str, partial: bool) -> Iterator[str]:
    named = {("--" if name["kind"] == "long" else "-") + name["name"]: each for each in arguments for name in each.get("names") or []}
    positional = [each for each in arguments if each["kind"] == "positional"]
    given = 0
    while words:
        word = words.pop(0)
        if word == "--":
            return
        if not word.startswith("-") or word == "-":
            given += 1
            if given > len(positional) and not (positional and positional[-1]["isRepeating"]):
                yield f"{path} does not take {word}"
            continue
        name, equals, value = word.partition("=")
        option = named.get(name)
        if option is None:
            if name not in COMMON:
                yield f"{path} has no option {name}"
        elif option["kind"] == "option":
            if not equals:
                if not words:
                    if not partial:
                        yield f"{path}: {name} needs a value"
                    return
                value = words.pop(0)
            allowed = option.get("allValues")
            if allowed and not set(value.split("|")) <= set(allowed) and not value.isupper():
                yield f"{path}: {name} is one of {', '.join(allowed)}"
    required = [each for each in positional if not each["isOptional"]]
    if given < len(required) and not partial:
        yield f"{path} needs {required[given]['valueName']}"
