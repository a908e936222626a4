"""The locations of files."""
import os
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
ROOT = HERE.parent
WORK = Path(os.environ.get("HARALD_MUTATION_DIR", ROOT / ".build" / "mutation")).resolve()
TREE = WORK / "tree"

# The modules that security depends on, and the relevant parts of them. Each has a share of its own in the report.
ROOMS = {
    "SMP": ["Sources/SMP"],
    "Security": ["Sources/Security"],
    "Privacy": ["Sources/Privacy"],
    "GATT": ["Sources/GATT/Server", "Sources/GATT/AttributeSecurity.swift", "Sources/BluetoothTypes/Security", "Sources/GATT/Database/Attribute.swift"],
    "Bonds": ["Sources/Bonds"],
    "LinkLayer": ["Sources/LinkLayer/Encryption", "Sources/LinkLayer/Privacy"],
}


def room_of(file: str) -> str:
    return next(room for room, paths in ROOMS.items() if any(file == path or file.startswith(path + "/") for path in paths))


def mutated_files() -> list[str]:
    """The files to plant mutants in, by their path below the root."""
    found: list[Path] = []
    for path in (ROOT / path for paths in ROOMS.values() for path in paths):
        found += [path] if path.is_file() else path.rglob("*.swift")
    return sorted(str(path.relative_to(ROOT)) for path in found)
