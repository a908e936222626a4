"""Creates the copy of the tree with all mutants compiled in."""
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

from .places import HERE, ROOT, TREE, WORK, mutated_files, room_of, target_of

LIST = WORK / "mutants.json"
REFUSED = WORK / "refused.txt"

# Appended to the copy's manifest only.
MANIFEST = """
package.targets += [
    .target(name: "CMutants", path: "Mutation/CMutants"),
    .target(name: "Mutants", dependencies: ["CMutants"], path: "Mutation/Mutants"),
]
for target in package.targets where [%s].contains(target.name) {
    target.dependencies.append("Mutants")
}
"""

# Appended too, if some test targets are enough: nothing that they do not need is built.
SELECTION = """
do {
    func needs(_ target: Target) -> [String] {
        target.dependencies.compactMap { dependency in
            switch dependency {
            case .targetItem(let name, _), .byNameItem(let name, _): name
            default: nil
            }
        }
    }
    var kept: Set<String> = [%s]
    var open = Array(kept)
    while let name = open.popLast() {
        guard let target = package.targets.first(where: { $0.name == name }) else { continue }
        for name in needs(target) where kept.insert(name).inserted { open.append(name) }
    }
    package.targets.removeAll { !kept.contains($0.name) }
    package.products = []
}
"""


def plant(rooms: list[str], tests: list[str] | None = None) -> None:
    """Brings the copy up to date, with the mutants of these rooms. Unchanged files keep their date, so the build skips them."""
    mutator = swift("build", "--package-path", HERE, "--scratch-path", WORK / "mutator", quiet=True) / "HaraldMutation"
    files, numbered = tracked_files(), mutated_files()
    mutated = [file for file in numbered if room_of(file) in rooms]
    for file in set(files) - set(mutated):
        write(TREE / file, (ROOT / file).read_bytes())
    targets = ", ".join(f'"{target}"' for target in sorted({target_of(file) for file in mutated}))
    manifest = (ROOT / "Package.swift").read_text() + MANIFEST % targets
    if tests:
        manifest += SELECTION % ", ".join(f'"{test}"' for test in tests)
    write(TREE / "Package.swift", manifest.encode())
    for file in planted_files():
        if file not in files:
            (TREE / file).unlink()
    for file in mutated:
        (TREE / file).parent.mkdir(parents=True, exist_ok=True)
    REFUSED.touch()
    subprocess.run(
        [mutator, "--from", ROOT, "--to", TREE, "--list", LIST, "--without", REFUSED, *numbered, "--plant", *mutated],
        check=True,
    )  # fmt: skip


def tracked_files() -> list[str]:
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    files = [file for file in listed.stdout.split("\0") if file and (ROOT / file).is_file()]
    # Of this folder, only the functions that mutated sources call.
    files = [file for file in files if not file.startswith("Mutation/") or file.split("/")[1].endswith("Mutants")]
    # Ignored by git, but determines the versions of the dependencies.
    return files + ["Package.resolved"] * ((ROOT / "Package.resolved").exists() and "Package.resolved" not in files)


def write(path: Path, content: bytes) -> None:
    if path.exists() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def mutants() -> list[dict]:
    if not LIST.exists():
        sys.exit("Mutation/run: nothing has been planted yet")
    return [mutant | {"room": room_of(mutant["file"])} for mutant in json.loads(LIST.read_text())]


def fingerprint(tests: str | None = None) -> str:
    """A digest of the tree; given a test target, of the tree without the other test targets."""
    digest = hashlib.sha256()
    for file in planted_files():
        folder = file.split("/")[1] if file.startswith("Tests/") else ""
        if tests and folder.endswith("Tests") and folder != tests:
            continue
        digest.update(file.encode() + b"\0" + (TREE / file).read_bytes())
    return digest.hexdigest()[:12]


def planted_files() -> list[str]:
    """The files to compile in the copy."""
    paths = [path.relative_to(TREE) for path in TREE.rglob("*") if path.suffix in {".swift", ".c", ".h"}]
    return sorted(str(path) for path in paths if path.parts[0] != ".build")


def build(rooms: list[str], tests: list[str] | None = None) -> Path:
    """Builds the copy and returns its tests. What a mutant breaks for the compiler is left out, and it is built again."""
    while True:
        print(f"Mutation/run: building {len(mutants())} mutants", file=sys.stderr, flush=True)
        status = subprocess.run(
            ["swift", "build", "--package-path", TREE, "--build-tests", "-Xswiftc", "-suppress-warnings"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        )  # fmt: skip
        (WORK / "build.log").write_text(status.stdout)
        if status.returncode == 0:
            return binary()
        refused = blamed(status.stdout)
        if not refused:
            sys.exit("\n".join(status.stdout.splitlines()[-40:]) + "\nMutation/run: the copy does not build")
        with REFUSED.open("a") as file:
            file.writelines(f"{key}\n" for key in sorted(refused))
        plant(rooms, tests)


def blamed(said: str) -> set[str]:
    """The keys of the mutants on the lines with errors, or on the closest lines before them: line numbers in the
    copy equal those in the tree."""
    keys: set[str] = set()
    planted = mutants()
    for file, line in set(re.findall(rf"^{re.escape(str(TREE))}/(\S+?):(\d+):\d+: error:", said, re.MULTILINE)):
        above = [mutant for mutant in planted if mutant["file"] == file and mutant["line"] <= int(line)]
        nearest = max((mutant["line"] for mutant in above), default=None)
        keys |= {mutant["key"] for mutant in above if mutant["line"] == nearest}
    return keys


def binary() -> Path:
    return next(swift("build", "--package-path", TREE, "--show-bin-path").glob("*PackageTests.xctest"))


def swift(*command: object, quiet: bool = False) -> Path:
    """Runs the Swift build, and returns the directory of its products."""
    words = ["swift", *map(str, command)]
    if quiet:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            sys.exit(done.stdout + "\nMutation/run: the mutator does not build")
        words.append("--show-bin-path")
    return Path(subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip())
