"""Type names that two or more modules declare."""
from collections import defaultdict

from shape_of.tree import Module

OUTWARD = {"public", "package", "open"}
HIDDEN = {"private", "fileprivate"}


def doubled(modules: list[Module]) -> dict[str, list[tuple[str, str, int]]]:
    """The modules, paths and lines of each name with several: of top-level types, and of nested ones that other modules
    see.

    A nested type's name includes the enclosing types: `Scanner.State`. Types visible only in their file do not count.
    """
    found: dict[str, list[tuple[str, str, int]]] = defaultdict(list)
    for module in modules:
        for file in module.files:
            for each in file.types:
                if not each.local and each.access not in HIDDEN and (not each.owner or each.access in OUTWARD):
                    found[each.path].append((module.name, file.path, each.line))
    return {name: places for name, places in sorted(found.items()) if len({module for module, _, _ in places}) > 1}
