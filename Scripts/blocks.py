#!/usr/bin/env python3
"""Checks the code blocks of the documents, and runs them.

    Scripts/blocks.py --check      needs no build: languages, comments, names, syntax, paths
    Scripts/blocks.py --run        also compiles the Swift blocks, runs programs and scripts, and compares their output;
                                   needs swift build --build-tests
    Scripts/blocks.py --run NAME   only the blocks of that document, for example README.md

Each block has a language. An HTML comment in the line above the block says more about it:

    <!-- block: program NAME -->         swift: a whole main.swift, which `swift run NAME` in a script runs
    <!-- block: tests NAME -->           swift: a whole file of tests, which `swift test` in the script NAME
                                         runs; blocks of the same name are one file
    <!-- block: manifest -->             swift: a whole Package.swift
    <!-- block: in NAME -->              swift: a fragment, which Scripts/preambles/NAME.swift has in place of `// BLOCK`
    <!-- block: script NAME -->          sh: commands that are run, not only checked; `swift` runs the blocks above
    <!-- block: output of NAME -->       text: the output of a script, or of a command that begins with harald
    <!-- block: shape of NAME -->        text: the same, but numbers and addresses vary
    <!-- block: recipe NAME -->          yaml: a workflow of GitHub or a Job of Kubernetes that spreads a search in the
                                         tests NAME; some of its parts are run, with one seed each
    <!-- block: not checked: REASON -->  neither compiled nor run

Without a comment a swift block is a whole file of a library, and a sh block is parsed: its options are compared with
those of the tool. A line with only `…` in an output stands for any number of lines.
"""
import argparse
import ast
import configparser
import json
import plistlib
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Iterator, NamedTuple

import recipes

PATTERNS = ["*.md", "*/README.md", "Documentation/*.md", "Sources/*/*/*.docc/*.md"]
PREAMBLES = Path("Scripts/preambles")
LANGUAGES = {"swift", "sh", "text", "mermaid", "json", "xml", "ini", "python", "dockerfile", "yaml"}
# Comments and the languages that they belong to.
KINDS = {
    "program": "swift", "tests": "swift", "manifest": "swift", "in": "swift", "script": "sh", "output": "text",
    "shape": "text", "recipe": "yaml", "not checked": None,
}
NAMELESS = {"manifest"}
FENCE = re.compile(r"^(\s*)```(.*)$")
COMMENT = re.compile(r"^\s*<!-- block: (.*?) -->$")
NOTE = re.compile(r"^(not checked|program|tests|manifest|in|script|output|shape|recipe)(?: of)?:?(?: (.+))?$")
OMITTED = "…"
# Commands may only name scripts of the repository that exist.
OWN = re.compile(r"^(?:Scripts|Interop|Fuzzing|Mutation|Benchmarks|Races|Compatibility|\.ci)/[\w./-]+$")
INLINE = re.compile(r"(?<!`)`((?:sudo )?harald [^`]+)`(?!`)")


class Block(NamedTuple):
    path: str
    # The line of the fence.
    line: int
    language: str
    # The kind in the comment and the rest of it; empty without a comment.
    kind: str
    name: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"


class Faults(NamedTuple):
    """A document's blocks, and complaints about its fences and comments."""
    blocks: list[Block]
    found: list[str]


def documents(root: Path = Path()) -> list[Path]:
    return sorted({path for pattern in PATTERNS for path in root.glob(pattern)})


def read(path: str, text: str) -> Faults:
    blocks: list[Block] = []
    found: list[str] = []
    opened: tuple[int, str, str, str] | None = None
    lines: list[str] = []
    comment = ""
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if opened and fence and not fence[2]:
            indentation = opened[3]
            body = "".join(each.removeprefix(indentation) + "\n" for each in lines)
            kind, name = note(opened[2])
            blocks.append(Block(path, opened[0], opened[1], kind, name, body))
            opened, lines, comment = None, [], ""
        elif opened:
            lines.append(line)
        elif fence:
            opened = (number, fence[2].strip(), comment, fence[1])
        else:
            if comment:
                found.append(f"{path}:{number - 1}: a comment for a block, and no block after it")
            match = COMMENT.match(line)
            comment = match[1] if match else ""
    if opened:
        found.append(f"{path}:{opened[0]}: the block does not end")
    return Faults(blocks, found)


def note(comment: str) -> tuple[str, str]:
    """The kind in a comment, and the name after it. A comment that is none of the known ones is its own kind."""
    match = NOTE.match(comment)
    return (match[1], match[2] or "") if match else (comment, "")


def all_blocks(root: Path = Path()) -> Faults:
    read_all = [read(str(path.relative_to(root)), path.read_text()) for path in documents(root)]
    return Faults([block for each in read_all for block in each.blocks], [line for each in read_all for line in each.found])


def complaints(block: Block, root: Path) -> Iterator[str]:
    """What is wrong with a block by itself."""
    if block.language not in LANGUAGES:
        yield f"the language is {block.language or 'missing'}; write one of {', '.join(sorted(LANGUAGES))}"
    if block.kind and block.kind not in KINDS:
        yield f"\"{block.kind}\" is no comment for a block; see Scripts/blocks.py --help"
    elif block.kind:
        language = KINDS[block.kind]
        if language and language != block.language:
            yield f"\"{block.kind}\" is for {language} blocks"
        if not block.name and block.kind not in NAMELESS:
            yield f"\"{block.kind}\" needs a name, or a reason"
    if block.kind == "in" and not (root / PREAMBLES / f"{block.name}.swift").exists():
        yield f"there is no {PREAMBLES}/{block.name}.swift"
    if fault := syntax(block):
        yield fault
    if block.language == "sh":
        for command in commands(block.text):
            for word in command:
                if OWN.match(word) and not (root / word).exists():
                    yield f"there is no {word}"


def syntax(block: Block) -> str | None:
    """Parses what Python and the shell can parse."""
    try:
        match block.language:
            case "json":
                for line in [block.text] if block.text.lstrip().startswith(("{\n", "[\n")) else block.text.splitlines():
                    json.loads(line)
            case "xml":
                plistlib.loads(block.text.encode())
            case "ini":
                configparser.RawConfigParser(strict=False).read_string(block.text)
            case "yaml" if block.kind == "recipe":
                recipes.parts(block.text)
            case "yaml":
                recipes.parsed(block.text)
            case "python":
                ast.parse(block.text)
            case "sh":
                shell = subprocess.run(["bash", "-n"], input=block.text, capture_output=True, text=True, check=False)
                return shell.stderr.strip() or None
    except Exception as error:  # Every parser has errors of its own.
        return f"it does not parse: {error}"
    return None


def commands(script: str) -> Iterator[list[str]]:
    """The simple commands of a script, without redirections, assignments and comments."""
    for line in script.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|<>")
        lexer.whitespace_split = True
        try:
            words = list(lexer)
        except ValueError:
            # Text over several lines, such as a here-document.
            continue
        command: list[str] = []
        skips = False
        for word in [*words, ";"]:
            if skips:
                skips = False
            elif set(word) <= set(";&|"):
                if command:
                    yield command
                command = []
            elif set(word) <= set("<>&|"):
                skips = True
                if command and command[-1] in ("1", "2"):
                    command.pop()
            elif command or not re.match(r"^\w+=", word):
                command.append(word)


def check(root: Path = Path()) -> list[str]:
    blocks, found = all_blocks(root)
    found += [f"{block.place}: {fault}" for block in blocks for fault in complaints(block, root)]
    runnable = {(block.kind, block.name) for block in blocks}
    for block in blocks:
        if block.kind in ("output", "shape") and not block.name.startswith("harald ") and ("script", block.name) not in runnable:
            found.append(f"{block.place}: there is no script {block.name}")
    seen: dict[tuple[bool, str], str] = {}
    for block in blocks:
        if block.kind in ("program", "script"):
            key = (block.kind == "script", block.name)
            if key in seen:
                found.append(f"{block.place}: {block.name} is also the name of the block at {seen[key]}")
            seen[key] = block.place
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--run", nargs="?", const="", metavar="DOCUMENT")
    options = parser.parse_args()
    found = check()
    if options.run is not None and not found:
        import block_runner
        every = all_blocks().blocks
        chosen = [each for each in every if options.run in ("", each.path)]
        # The tests of a recipe may be those of another document.
        needed = {each.name for each in chosen if each.kind == "recipe"}
        chosen += [each for each in every if each.kind == "tests" and each.name in needed and each not in chosen]
        found = block_runner.run(chosen, options.run)
    for line in found:
        print(line)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
