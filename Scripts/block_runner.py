"""Compiles and runs the blocks of documents against the modules and the tool in .build/debug. See blocks.py."""
import difflib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import blocks
import command_lines
import recipes
from blocks import Block

BUILD = Path(".build/debug")
WORK = Path(".build/blocks")
TOOL = BUILD / "harald"
# Both lists together have the objects of all products.
LINKED = ["harald", "interop-app"]
TESTING = ["BluetoothTesting", "CAppTime"]
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
    found += [line for block in chosen if block.kind == "recipe" for line in recipe(block)]
    count = sum(block.kind != "not checked" for block in chosen)
    print(f"blocks: {count} blocks, {len(jobs)} compilations, {time.monotonic() - begin:.0f} s", file=sys.stderr)
    return found


def parse_commands(chosen: list[Block], document: str) -> list[str]:
    """Compares the options of command lines, in blocks and in prose, with those of the tool."""
    described = command_lines.description(TOOL)
    found = []
    for block in chosen:
        if block.language == "sh" and block.kind != "not checked":
            for command in blocks.commands(block.text):
                arguments = command_lines.of_tool(command)
                if arguments is not None:
                    found += [f"{block.place}: {fault}" for fault in command_lines.faults(arguments, described)]
    for path in blocks.documents():
        if document in ("", str(path)):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                for match in blocks.INLINE.finditer(line):
                    for command in blocks.commands(match[1]):
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
            *Path("Sources").glob("*/*/include/module.modulemap"), *BUILD.glob("*.build/module.modulemap")]
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
        preamble = (blocks.PREAMBLES / f"{block.name}.swift").read_text()
        wrapped = re.sub(r"^\s*// BLOCK\n", lambda _: located(block), preamble, flags=re.M)
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


def recipe(block: Block) -> list[str]:
    """Runs the first, the second and the last part of a recipe with one seed each, and checks their reports."""
    make_swift()
    parts = recipes.parts(block.text)
    chosen = parts if len(parts) < 3 else [*parts[:2], parts[-1]]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [f"{block.place}: part {part.number}: {fault}"
                for part, fault in zip(chosen, pool.map(lambda part: run_part(part, block), chosen)) if fault]


def run_part(part: recipes.Part, block: Block) -> str | None:
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
        if line is not None and line.strip() != blocks.OMITTED:
            part.append(line)
            continue
        places = range(start, len(have) - len(part) + 1) if floating else [start]
        place = next((each for each in places if have[each:each + len(part)] == part), None)
        if place is None or (line is None and not floating and place + len(part) != len(have)) \
                or (line is None and floating and part and have[-len(part):] != part):
            return "\n".join(difflib.unified_diff(want, have, "document", "run", lineterm=""))
        start, part, floating = place + len(part), [], True
    return ""
