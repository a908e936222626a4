"""Compiles the code of the tutorials, runs it, and compares its outputs. See Site/build.

The code of a step is a whole file, named TUTORIAL-STEP-FILE: `TestReconnecting-03-Follower.swift`. Each step replaces
the file of the same name in the steps before it. A file `output.txt` is the output of the program, or the tests, of
the steps so far, started by the commands in the files `.sh` so far. In an output numbers vary, and a line with only
`…` stands for any number of lines.
"""
import re
from pathlib import Path
from typing import NamedTuple

from blocks import Block

RESOURCES = Path("Site/Guides.docc/Resources")
TUTORIALS = Path("Site/Guides.docc/Tutorials")
NAME = re.compile(r"^(\w+)-(\d\d)-([\w.]+)$")
USED = re.compile(r'@Code\(name: "[^"]+", file: "([^"]+)"\)')


class Step(NamedTuple):
    path: Path
    tutorial: str
    number: str
    file: str


def steps(root: Path = Path()) -> dict[str, list[Step]]:
    """The files of each tutorial, in order."""
    found: dict[str, list[Step]] = {}
    for path in sorted((root / RESOURCES).iterdir()):
        if match := NAME.match(path.name):
            found.setdefault(match[1], []).append(Step(path, *match.groups()))
    return found


def faults(root: Path = Path()) -> list[str]:
    """Files of steps that a tutorial shows in another order than that of their names, or not at all."""
    found = []
    for tutorial, all_steps in steps(root).items():
        page = root / TUTORIALS / f"{tutorial}.tutorial"
        used = USED.findall(page.read_text()) if page.exists() else []
        if used != [step.path.name for step in all_steps]:
            found.append(f"{TUTORIALS / page.name}: its code is not that of {RESOURCES}/{tutorial}-*, in the same order")
    return found


def blocks(root: Path = Path()) -> list[Block]:
    """The steps as blocks for Scripts/blocks.py."""
    return [block for each in steps(root).values() for block in of_tutorial(each)]


def of_tutorial(all_steps: list[Step]) -> list[Block]:
    found: list[Block] = []
    sources: dict[str, str] = {}
    commands = ""
    for step in all_steps:
        text = step.path.read_text()
        name = f"{step.tutorial}-{step.number}"
        if step.file.endswith(".sh"):
            commands += text
        elif step.file == "output.txt":
            found += run(step, name, sources, commands, text)
        elif step.file == "Package.swift":
            found.append(Block(str(step.path), 0, "swift", "manifest", "", text))
        else:
            sources[step.file] = text
            # The end of a line above moves into the same file, so the line of an error counts from there.
            found.append(Block(str(step.path), 0, "swift", *kind(step, name), text if "main" in step.file else joined(sources)))
    return found


def kind(step: Step, name: str) -> tuple[str, str]:
    return ("program", name) if step.file == "main.swift" else ("", "")


def run(step: Step, name: str, sources: dict[str, str], commands: str, output: str) -> list[Block]:
    path = str(step.path)
    if program := sources.get("main.swift"):
        # In the commands the program has its own name.
        script = re.sub(r"swift run \w+", f"swift run {name}-run", commands)
        first = Block(path, 1, "swift", "program", f"{name}-run", program)
    else:
        # A failing test is what some steps show.
        script = "swift test || true\n"
        first = Block(path, 1, "swift", "tests", name, joined(sources))
    return [first, Block(path, 2, "sh", "script", name, script), Block(path, 3, "text", "shape", name, output)]


def joined(sources: dict[str, str]) -> str:
    """All files as one: the package's own modules are not there to be imported."""
    own = {Path(each).stem for each in sources} | {"Heart"}
    lines = [line for text in sources.values() for line in text.splitlines()
             if not (re.match(r"(@testable )?import ", line) and line.split()[-1] in own)]
    return "\n".join(lines) + "\n"
