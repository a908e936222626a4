"""The Swift files of the tree, parsed, by module and folder."""
from dataclasses import dataclass, field
from pathlib import Path

from swift_source.declarations import File, parse

SOURCES = Path("Sources")
# The files beside the folders of a module.
ROOT = "."


@dataclass
class Module:
    name: str
    # By the module's direct subfolder; nested folders belong to the outer one.
    folders: dict[str, list[File]] = field(default_factory=dict)

    @property
    def files(self) -> list[File]:
        return [file for files in self.folders.values() for file in files]


def folder_of(path: Path, module: Path) -> str:
    parts = path.relative_to(module).parts
    return parts[0] if len(parts) > 1 else ROOT


def load(root: Path = SOURCES) -> list[Module]:
    """The modules below a directory: on each floor, each directory with Swift files."""
    modules = []
    for directory in sorted((path for path in root.glob("*/*") if path.is_dir()), key=lambda path: path.name):
        module = Module(directory.name)
        for path in sorted(directory.rglob("*.swift")):
            module.folders.setdefault(folder_of(path, directory), []).append(parse(str(path), path.read_text()))
        if module.folders:
            modules.append(module)
    return modules
