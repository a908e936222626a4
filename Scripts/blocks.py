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
    <!-- block: in NAME -->              swift: a fragment, to be compiled within the code that PREAMBLES has under NAME
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
import difflib
import json
import os
import plistlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Iterator, NamedTuple

import command_lines

PATTERNS = ["*.md", "*/README.md", "Documentation/*.md", "Sources/*/*/*.docc/*.md"]
# The code around a fragment, which replaces the line `// BLOCK`.
PREAMBLES = {
    "a-file": """\
import CoreBluetooth
import CoreBluetoothExtras
import Foundation

// BLOCK
""",
    "a-test": """\
import BluetoothService
import BluetoothSimulation
import CoreBluetooth
import Foundation
import ServiceMessages
import Testing

/// An app in the central role.
private final class Finder: NSObject, Sendable {}
/// An app in the peripheral role.
private final class Sensor: NSObject, Sendable {}

private func test() async throws {
    // BLOCK
}
""",
    "a-world": """\
import BluetoothService
import BluetoothTesting
import CoreBluetooth
import Foundation
import ServiceMessages
import Testing

/// An app in the central role.
private final class Finder: NSObject, Sendable {}

private func test(world: TestWorld, phone: SimulatedDevice, sensor: SimulatedDevice, app: SimulatedApp) async throws {
    // BLOCK
}
""",
}
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
OWN = re.compile(r"^(?:Scripts|Interop|Fuzzing|Mutation|Benchmarks|Races|Compatibility|Examples|Packaging|Site|\.ci)/[\w./-]+$")
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
    if block.kind == "in" and block.name not in PREAMBLES:
        yield f"there is no preamble {block.name}; write one of {', '.join(PREAMBLES)}"
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
                recipe_parts(block.text)
            case "yaml":
                parsed(block.text)
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


# --- Recipes: a workflow of GitHub with a matrix, or an indexed Job of Kubernetes -------------------------------------


# Each part of a recipe becomes a command that this machine can run, with the environment that the part would have there.

SEEDS = re.compile(r"(?<=HARALD_SEARCH_SEEDS=)1-\d+")
PROGRAM = re.compile(r"/\S+\.xctest")
EXPRESSION = re.compile(r"\$\{\{ *([\w.]+) *\}\}")


class Part(NamedTuple):
    """One of the machines' share."""
    # From 1 on.
    number: int
    count: int
    environment: dict[str, str]
    # The arguments of a process.
    command: list[str]

    def here(self, program: str) -> "Part":
        """The part with a test program of this machine, and with one seed."""
        environment = {name: f"1-{self.count}" if name == "HARALD_SEARCH_SEEDS" else value
                       for name, value in self.environment.items()}
        command = [PROGRAM.sub(program, SEEDS.sub(f"1-{self.count}", word)) for word in self.command]
        return self._replace(environment=environment, command=command)

    def fault(self, report: dict) -> str | None:
        """What is wrong with the report of this part with one seed."""
        expected = {"shard": f"{self.number}/{self.count}", "seeds": [1, self.count], "worlds": 1, "isComplete": True}
        wrong = {name: report.get(name) for name, value in expected.items() if report.get(name) != value}
        return f"its report has {wrong}" if wrong else None


class RecipeError(Exception):
    pass


def need(condition: Any, text: str) -> None:
    if not condition:
        raise RecipeError(text)


def parsed(text: str) -> dict:
    """Reads YAML, with a parser that is installed if there is none."""
    try:
        import yaml
    except ImportError:
        subprocess.run(["apt-get", "install", "-y", "-qq", "python3-yaml"], stdout=subprocess.DEVNULL, check=True)
        import yaml
    try:
        tree = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise RecipeError(f"it does not parse: {error}") from error
    need(isinstance(tree, dict), "it is no mapping")
    return tree


def recipe_parts(text: str) -> list[Part]:
    """All parts of a recipe; fails if it has not the shape that its engine expects."""
    tree = parsed(text)
    return of_workflow(tree) if "jobs" in tree else of_job(tree)


def keys(tree: Any, place: str, required: set[str], optional: frozenset[str] | set[str] = frozenset()) -> dict:
    """A mapping with these keys and no others: an engine ignores or refuses a misspelt one."""
    need(isinstance(tree, dict), f"{place} is no mapping")
    need(required <= set(tree), f"{place} lacks {', '.join(sorted(required - set(tree)))}")
    unknown = set(tree) - required - optional
    need(not unknown, f"{place} has unknown keys: {', '.join(map(str, sorted(unknown)))}")
    return tree


def of_workflow(tree: dict) -> list[Part]:
    """The jobs of a matrix with one axis."""
    jobs = keys(tree, "the workflow", {"jobs"})["jobs"]
    need(isinstance(jobs, dict) and len(jobs) == 1, "jobs has not one job")
    [(name, tree)] = jobs.items()
    job = keys(tree, name, {"strategy", "runs-on", "steps"}, {"container"})
    strategy = keys(job["strategy"], "strategy", {"matrix"}, {"fail-fast", "max-parallel"})
    need(strategy.get("fail-fast") is False, "fail-fast would end the other parts with the first that finds something")
    need(isinstance(strategy["matrix"], dict) and len(strategy["matrix"]) == 1, "matrix has not one axis")
    [(axis, numbers)] = strategy["matrix"].items()
    need(numbers == list(range(1, len(numbers) + 1)), f"{axis} does not count the parts")
    need(isinstance(job["steps"], list), "steps is no list")
    for step in job["steps"]:
        keys(step, "a step", set(), {"uses", "run", "env", "with", "name"})
        need(("uses" in step) != ("run" in step), "a step has to have one of uses and run")
    runs = [step for step in job["steps"] if "run" in step]
    need(len(runs) == 1, "not one step runs a command")
    return [part_of_matrix(runs[0], axis, number, len(numbers)) for number in numbers]


def part_of_matrix(step: dict, axis: str, number: int, count: int) -> Part:
    def value(match: re.Match) -> str:
        need(match[1] == f"matrix.{axis}", f"{match[0]} is unknown")
        return str(number)

    for name, text in step.get("env", {}).items():
        need(isinstance(text, (str, int)) and not isinstance(text, bool), f"{name} is no text")
    environment = {name: EXPRESSION.sub(value, str(text)) for name, text in step.get("env", {}).items()}
    # The shell of a step without `shell:` in a container.
    return Part(number, count, environment, ["sh", "-e", "-c", EXPRESSION.sub(value, step["run"])])


def of_job(tree: dict) -> list[Part]:
    """The pods of an indexed Job of batch/v1."""
    keys(tree, "the manifest", {"apiVersion", "kind", "metadata", "spec"})
    need((tree["apiVersion"], tree["kind"]) == ("batch/v1", "Job"), "the manifest is not that of a Job of batch/v1")
    name = keys(tree["metadata"], "metadata", {"name"})["name"]
    need(re.fullmatch(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", name), "the name is no DNS label")
    allowed = {"parallelism", "backoffLimitPerIndex", "maxFailedIndexes"}
    spec = keys(tree["spec"], "spec", {"completions", "completionMode", "template"}, allowed)
    need(spec["completionMode"] == "Indexed", "without Indexed there is no index")
    for key in {"completions"} | allowed & set(spec):
        need(type(spec[key]) is int and spec[key] >= 0, f"{key} is no number")
    count = spec["completions"]
    # With backoffLimitPerIndex, Kubernetes refuses other policies and more failures than indexes.
    need(spec.get("maxFailedIndexes", 0) <= count, "maxFailedIndexes is larger than completions")
    need("maxFailedIndexes" not in spec or "backoffLimitPerIndex" in spec, "maxFailedIndexes needs backoffLimitPerIndex")
    pod = keys(keys(spec["template"], "template", {"spec"})["spec"], "the pod", {"restartPolicy", "containers"})
    need(pod["restartPolicy"] == "Never", "backoffLimitPerIndex needs restartPolicy Never")
    need(isinstance(pod["containers"], list) and len(pod["containers"]) == 1, "the pod has not one container")
    container = keys(pod["containers"][0], "the container", {"name", "image", "command", "args"})
    command = container["command"] + container["args"]
    need(all(isinstance(word, str) for word in command), "command and args are not all text")
    return [Part(index + 1, count, {"JOB_COMPLETION_INDEX": str(index)}, command) for index in range(count)]


# --- Running, against the modules and the tool in .build/debug --------------------------------------------------------


BUILD = Path(".build/debug")
WORK = Path(".build/blocks")
TOOL = BUILD / "harald"
# Both lists together have the objects of all products.
LINKED = ["harald", "interop-app"]
TESTING = ["AccessorySetupKit", "ActivityKit", "BluetoothTesting", "VirtualAppTime", "CAppTime"]
SETTINGS = ["-swift-version", "6", "-enable-upcoming-feature", "MemberImportVisibility"]
SECONDS = 120
RUNNER = """import Testing
@main struct Runner {
    static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
"""
# Takes the place of swift in scripts: what it would build is there already.
SWIFT = """#!/bin/sh
case $1 in
run) shift; name=$1; shift; exec "{bin}/$name" "$@" ;;
test) shift; exec "{bin}/tests-${{BLOCKS_TESTS:?}}" ;;
*) echo "swift $1 is not available in documents" >&2; exit 64 ;;
esac
"""
DURATION = re.compile(r"\b\d+\.\d+ seconds")
VARYING = re.compile(r"(?:[0-9A-F]{2}:){5}[0-9A-F]{2}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|-?\d+(?:\.\d+)?", re.I)


def run(chosen: list[Block], document: str) -> list[str]:
    if not TOOL.exists():
        return [f"{TOOL} is missing; run swift build --build-tests"]
    shutil.rmtree(WORK, ignore_errors=True)
    (WORK / "bin").mkdir(parents=True)
    begin = time.monotonic()
    found = parse_commands(chosen, document)
    jobs = compilations(chosen)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found += [line for lines in pool.map(lambda job: job(), jobs) for line in lines]
    found += outputs(chosen)
    found += [line for block in chosen if block.kind == "recipe" for line in run_recipe(block)]
    count = sum(block.kind != "not checked" for block in chosen)
    print(f"blocks: {count} blocks, {len(jobs)} compilations, {time.monotonic() - begin:.0f} s", file=sys.stderr)
    return found


def parse_commands(chosen: list[Block], document: str) -> list[str]:
    """Compares the options of command lines, in blocks and in prose, with those of the tool."""
    described = command_lines.description(TOOL)
    found = []
    for block in chosen:
        if block.language == "sh" and block.kind != "not checked":
            for command in commands(block.text):
                arguments = command_lines.of_tool(command)
                if arguments is not None:
                    found += [f"{block.place}: {fault}" for fault in command_lines.faults(arguments, described)]
    for path in documents():
        if document in ("", str(path)):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                for match in INLINE.finditer(line):
                    for command in commands(match[1]):
                        arguments = command_lines.of_tool(command)
                        if arguments is not None:
                            faults = command_lines.faults(arguments, described, partial=True)
                            found += [f"{path}:{number}: {fault}" for fault in faults]
    return found


def compilations(chosen: list[Block]) -> list:
    swift = [block for block in chosen if block.language == "swift" and block.kind != "not checked"]
    fragments = [block for block in swift if block.kind == "in"]
    # The tests of one name are one file.
    suites: dict[str, list[Block]] = {}
    for block in swift:
        suites.setdefault(block.name if block.kind == "tests" else block.place, []).append(block)
    jobs = [lambda parts=parts: compile_one(parts) for parts in suites.values() if parts[0].kind != "in"]
    # One compilation for all fragments: most of the time goes into loading modules.
    return ([lambda: compile_fragments(fragments)] if fragments else []) + jobs


def modules() -> list[str]:
    maps = [*Path(".build/checkouts").glob("*/Sources/*/include/module.modulemap"),
            *Path("Sources").glob("**/include/module.modulemap"), *BUILD.glob("*.build/module.modulemap")]
    flags = ["-I", str(BUILD / "Modules"), "-module-cache-path", str(BUILD / "ModuleCache")]
    for each in maps:
        flags += ["-Xcc", f"-fmodule-map-file={each}"]
    for each in {path.parent for path in maps if path.parent.name == "include"}:
        flags += ["-Xcc", "-I", "-Xcc", str(each)]
    for each in sorted(Path(".build/checkouts").glob("swift-nio/Sources/*/include")):
        flags += ["-Xcc", "-I", "-Xcc", str(each)]
    return flags


def located(block: Block) -> str:
    """The text of a block, whose errors name the document."""
    return f'#sourceLocation(file: "{block.path}", line: {block.line + 1})\n{block.text}#sourceLocation()\n'


def compile_fragments(fragments: list[Block]) -> list[str]:
    folder = WORK / "fragments"
    folder.mkdir()
    files = []
    for number, block in enumerate(fragments):
        wrapped = re.sub(r"^\s*// BLOCK\n", lambda _: located(block), PREAMBLES[block.name], flags=re.M)
        files.append(folder / f"Fragment{number}.swift")
        files[-1].write_text(wrapped)
    return swiftc("fragments", ["-typecheck", "-parse-as-library", *SETTINGS, *modules(), *map(str, files)])


def compile_one(parts: list[Block]) -> list[str]:
    block = parts[0]
    folder = WORK / f"{Path(block.path).stem}-{block.line}"
    folder.mkdir()
    name = "main.swift" if block.kind == "program" else "Package.swift" if block.kind == "manifest" else "File.swift"
    (folder / name).write_text("".join(map(located, parts)))
    source = str(folder / name)
    if block.kind == "manifest":
        return swiftc(block.place, ["-typecheck", "-I", manifest_modules(), "-package-description-version", "6.2.0", source])
    if block.kind not in ("program", "tests"):
        return swiftc(block.place, ["-typecheck", "-parse-as-library", *SETTINGS, *modules(), source])
    arguments = ["-module-name", "Block", "-Onone", *SETTINGS, *modules(), source]
    target = WORK / "bin" / block.name
    if block.kind == "tests":
        (folder / "Runner.swift").write_text(RUNNER)
        arguments += [str(folder / "Runner.swift"), "-parse-as-library"]
        target = WORK / "bin" / f"tests-{block.name}"
    return swiftc(block.place, [*arguments, "-emit-executable", "-o", str(target), *linking(folder)])


def manifest_modules() -> str:
    compiler = Path(shutil.which("swiftc") or "swiftc").resolve()
    return str(compiler.parent.parent / "lib/swift/pm/ManifestAPI")


def linking(folder: Path) -> list[str]:
    """The objects of all products without those of their main programs."""
    objects: dict[str, None] = {}
    for product in LINKED:
        for line in shlex.split((BUILD / f"{product}.product/Objects.LinkFileList").read_text()):
            if f"/{product.replace('-', '_')}.build/" not in line:
                objects[line] = None
    # Only tests link these.
    for module in TESTING:
        objects |= dict.fromkeys(map(str, sorted((BUILD / f"{module}.build").glob("*.o"))))
    listed = folder / "objects"
    listed.write_text("\n".join(map(shlex.quote, objects)) + "\n")
    return [f"@{listed}", "-lstdc++", "-ldl"]


def swiftc(name: str, arguments: list[str]) -> list[str]:
    done = subprocess.run(["swiftc", *arguments], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return []
    errors = [line for line in (done.stdout + done.stderr).splitlines() if " error: " in line or line.startswith("error: ")]
    return errors or [f"{name}: {done.stderr.strip()[-2000:]}"]


def outputs(chosen: list[Block]) -> list[str]:
    """Runs each script and each command with an output, one after the other, and compares."""
    expected = {block.name: block for block in chosen if block.kind in ("output", "shape")}
    scripts = {block.name: block for block in chosen if block.kind == "script"}
    found = []
    for name in [*scripts, *(name for name in expected if name not in scripts)]:
        script = scripts[name].text if name in scripts else name
        output, status = run_script(name, script)
        wanted = expected.get(name)
        if status != 0:
            place = (scripts.get(name) or wanted or chosen[0]).place
            found.append(f"{place}: {name} ended with {status}:\n{output[-2000:]}")
        elif wanted and (fault := difference(wanted, output)):
            found.append(f"{wanted.place}: the output of {name} differs:\n{fault}")
    return found


def make_swift() -> Path:
    """Makes the command that takes the place of swift, and returns its folder."""
    binaries = (WORK / "bin").resolve()
    swift = binaries / "swift"
    swift.write_text(SWIFT.format(bin=binaries))
    swift.chmod(0o755)
    return binaries


def run_script(name: str, script: str) -> tuple[str, int]:
    binaries = make_swift()
    folder = WORK / "run" / re.sub(r"\W+", "-", name)
    folder.mkdir(parents=True, exist_ok=True)
    runtime = folder / "runtime"
    runtime.mkdir(mode=0o700, exist_ok=True)
    environment = dict(os.environ, PATH=f"{binaries}:{TOOL.parent.resolve()}:{os.environ['PATH']}", BLOCKS_TESTS=name,
                       XDG_RUNTIME_DIR=str(runtime.resolve()), XDG_STATE_HOME=str(runtime.resolve()))
    process = subprocess.Popen(["bash", "-c", script], cwd=folder, env=environment, start_new_session=True, text=True,
                               stdin=subprocess.DEVNULL, stdout=(folder / "output").open("w"), stderr=subprocess.STDOUT)
    try:
        status = process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        status = 124
    finally:
        # Servers that the script has left in the background.
        try:
            os.killpg(process.pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
    return (folder / "output").read_text(), status


def run_recipe(block: Block) -> list[str]:
    """Runs the first, the second and the last part of a recipe with one seed each, and checks their reports."""
    make_swift()
    parts = recipe_parts(block.text)
    chosen = parts if len(parts) < 3 else [*parts[:2], parts[-1]]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [f"{block.place}: part {part.number}: {fault}"
                for part, fault in zip(chosen, pool.map(lambda part: run_part(part, block), chosen)) if fault]


def run_part(part: Part, block: Block) -> str | None:
    binaries = (WORK / "bin").resolve()
    folder = WORK / "run" / f"recipe-{block.line}-{part.number}"
    folder.mkdir(parents=True)
    here = part.here(f"{binaries}/tests-{block.name}")
    report = folder / "report.json"
    environment = dict(os.environ, PATH=f"{binaries}:{os.environ['PATH']}", BLOCKS_TESTS=block.name,
                       HARALD_SEARCH_WORKERS="1", HARALD_SEARCH_JSON=str(report.resolve()), **here.environment)
    ended = subprocess.run(here.command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS,
                           check=False)
    if ended.returncode:
        return f"it ended with {ended.returncode}:\n{(ended.stdout + ended.stderr)[-2000:]}"
    return part.fault(json.loads(report.read_text())) if report.exists() else "it searched nothing"


def comparable(line: str, kind: str) -> str:
    line = DURATION.sub("N seconds", line.rstrip())
    return VARYING.sub("N", line) if kind == "shape" else line


def difference(wanted: Block, output: str) -> str:
    """What an output lacks of a block: the parts between `…` have to be there, in order, each in one piece."""
    have = [comparable(line, wanted.kind) for line in output.strip("\n").splitlines()]
    want = [comparable(line, wanted.kind) for line in wanted.text.strip("\n").splitlines()]
    start, part, floating = 0, [], False
    for line in [*want, None]:
        if line is not None and line.strip() != OMITTED:
            part.append(line)
            continue
        places = range(start, len(have) - len(part) + 1) if floating else [start]
        place = next((each for each in places if have[each:each + len(part)] == part), None)
        if place is None or (line is None and not floating and place + len(part) != len(have)) \
                or (line is None and floating and part and have[-len(part):] != part):
            return "\n".join(difflib.unified_diff(want, have, "document", "run", lineterm=""))
        start, part, floating = place + len(part), [], True
    return ""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--run", nargs="?", const="", metavar="DOCUMENT")
    options = parser.parse_args(arguments)
    found = check()
    if options.run is not None and not found:
        every = all_blocks().blocks
        chosen = [each for each in every if options.run in ("", each.path)]
        # The tests of a recipe may be those of another document.
        needed = {each.name for each in chosen if each.kind == "recipe"}
        chosen += [each for each in every if each.kind == "tests" and each.name in needed and each not in chosen]
        found = run(chosen, options.run)
    for line in found:
        print(line)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
