"""The locations of files."""
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
ROOT = HERE.parent
WORK = Path(os.environ.get("HARALD_MUTATION_DIR", ROOT / ".build" / "mutation")).resolve()
TREE = WORK / "tree"

# The modules that security depends on, and the relevant parts of them, and the one whose advice depends on many small
# thresholds. Each has a share of its own in the report.
ROOMS = {
    "SMP": ["Sources/Stack/SMP"],
    "Security": ["Sources/Stack/Security"],
    "GATT": [
        "Sources/Stack/GATT/Server", "Sources/Stack/BluetoothTypes/Security", "Sources/Stack/GATT/Database/Attribute.swift",
    ],
    "LinkLayer": ["Sources/Controllers/LinkLayer/Encryption", "Sources/Controllers/LinkLayer/Privacy"],
    "ServiceProcess": ["Sources/System/ServiceProcess"],
    "Service": [f"Sources/System/BluetoothService/{folder}" for folder in ("Lifecycle", "Managers", "Records", "People", "Apps")],
    "AppAdvice": ["Sources/System/AppAdvice"],
}


def room_of(file: str) -> str:
    return next(room for room, paths in ROOMS.items() if any(file == path or file.startswith(path + "/") for path in paths))


def target_of(file: str) -> str:
    """The target of the manifest that compiles the file."""
    return file.split("/")[2]


def mutated_files() -> list[str]:
    """The files of all rooms, by their path below the root, in the order that numbers their mutants."""
    found: list[Path] = []
    for path in (ROOT / path for paths in ROOMS.values() for path in paths):
        if not path.exists():
            sys.exit(f"{Path(__file__).name}: {path.relative_to(ROOT)} does not exist; update ROOMS")
        found += [path] if path.is_file() else path.rglob("*.swift")
    return sorted(str(path.relative_to(ROOT)) for path in found)
