"""Which folder of a module uses which, by the names that its files mention.

A folder uses another one if a file in it names

- a type or a free function that is declared at top level there; an extension names its type,
- a member that an extension there adds to a type of another folder or module, if nothing else has that name.

A name with several meanings counts for none of them: a missing arrow is found when the folders become modules, but a
false one would have to be worked around.
"""
from collections import Counter, defaultdict
from typing import Iterator, NamedTuple

from swift_source.declarations import File
from swift_source.tokens import NAME
from swift_source.tree import Module

HIDDEN = {"private", "fileprivate"}
# Members of the standard library, Foundation and Dispatch, which an extension may add to its type as well.
COMMON = set("""
    append contains count data debugDescription description distance elements encode endIndex filter first firstIndex flatMap
    forEach hash hashValue id index indices insert isEmpty isSubset joined keys last length makeIterator map max min name next
    prefix prepend rawValue reduce remove removeAll removeFirst removeLast replaceSubrange reserveCapacity resume reversed size
    sorted split start startIndex starts stop string subtracting suffix timeIntervalSince1970 toggle union uuidString value values
    write zip self Type init deinit subscript
""".split())


class Use(NamedTuple):
    source: str
    target: str
    path: str
    line: int
    name: str


class Names:
    """The meaning of a module's names to its folders."""

    def __init__(self, module: Module, elsewhere: set[str]) -> None:
        """`elsewhere` contains the names of members of other modules."""
        homes: dict[str, set[str]] = defaultdict(set)
        declared: dict[str, set[str]] = defaultdict(set)
        added: dict[str, set[str]] = defaultdict(set)
        free: set[str] = set()
        member_functions: set[str] = set()
        # The types that contain a type of this name.
        self.nested: dict[str, set[str]] = defaultdict(set)
        # Top-level names visible in one file only.
        self.hidden: dict[str, set[str]] = defaultdict(set)
        all_members = [(folder, file, member) for folder, files in module.folders.items() for file in files
                       for member in file.members]
        for folder, file, member in all_members:
            if member.local:
                continue
            if not member.owner and member.access in HIDDEN:
                self.hidden[file.path].add(member.name)
            elif not member.owner and (member.kind == "func" or member.name[:1].isupper()):
                homes[member.name].add(folder)
                if member.kind == "func":
                    free.add(member.name)
        for folder, file, member in all_members:
            if member.owner:
                declared[member.name].add(folder)
                if member.kind == "func":
                    member_functions.add(member.name)
                if member.kind in ("struct", "class", "enum", "actor", "typealias", "associatedtype", "protocol"):
                    self.nested[member.name].add(member.owner)
                home = homes.get(member.owner.split(".")[0], set())
                if member.extends and member.access not in HIDDEN and folder not in home:
                    added[member.name].add(folder)
        self.types = {name: next(iter(home)) for name, home in homes.items() if len(home) == 1 and name not in free}
        self.functions = {name: next(iter(home)) for name, home in homes.items()
                          if len(home) == 1 and name in free and name not in member_functions}
        self.added = {name: next(iter(folders)) for name, folders in added.items()
                      if len(folders) == 1 and declared[name] == folders and name not in COMMON | elsewhere
                      and name not in homes}


def member_names(modules: list[Module]) -> dict[str, set[str]]:
    """The names of members by module."""
    return {module.name: {member.name for file in module.files for member in file.members if member.owner} for module in modules}


def uses_between(module: Module, modules: list[Module]) -> list[Use]:
    """What the folders of a module use of each other. A member that another module has too is no sure use."""
    members = member_names([each for each in modules if each is not module])
    return uses_of(module, set().union(*members.values()) if members else set())


def uses_of(module: Module, elsewhere: set[str] = frozenset()) -> list[Use]:
    names = Names(module, elsewhere)
    return [Use(folder, target, file.path, line, name)
            for folder, files in module.folders.items() for file in files
            for target, line, name in mentioned(file, names) if target != folder]


def mentioned(file: File, names: Names) -> Iterator[tuple[str, int, str]]:
    tokens, hidden = file.tokens, names.hidden[file.path]
    scopes = sorted(file.scopes, key=lambda scope: scope.first)
    around, next_scope = [], 0
    for index, token in enumerate(tokens):
        while next_scope < len(scopes) and scopes[next_scope].first <= index:
            around.append(scopes[next_scope])
            next_scope += 1
        while around and around[-1].last <= index:
            around.pop()
        if token.kind != NAME or index in file.declared_at:
            continue
        name = token.text.strip("`")
        before = tokens[index - 1].text if index else ""
        after = tokens[index + 1].text if index + 1 < len(tokens) else ""
        if before == ".":
            if name in names.added:
                yield names.added[name], token.line, name
        elif name in hidden:
            continue
        elif name in names.types:
            if not shadowed(name, around, names):
                yield names.types[name], token.line, name
        elif after == "(":
            if name in names.functions:
                yield names.functions[name], token.line, name
            elif name in names.added and around and before != "func":
                yield names.added[name], token.line, name


def shadowed(name: str, around: list, names: Names) -> bool:
    """Whether an enclosing type has another nested type of this name."""
    owners = names.nested.get(name)
    if not owners:
        return False
    for scope in around:
        parts = scope.name.split(".")
        if any(".".join(parts[: length + 1]) in owners for length in range(len(parts))):
            return True
    return False


def cycles(edges: set[tuple[str, str]]) -> list[list[str]]:
    """The strongly connected components of more than one folder, the largest first."""
    reaches: dict[str, set[str]] = defaultdict(set)
    for source, target in edges:
        reaches[source].add(target)
    nodes = {node for edge in edges for node in edge}
    for middle in nodes:
        for source in nodes:
            if middle in reaches[source]:
                reaches[source] |= reaches[middle]
    groups = {frozenset(other for other in nodes if other in reaches[node] and node in reaches[other])
              for node in nodes if node in reaches[node]}
    return sorted((sorted(group) for group in groups), key=lambda group: (-len(group), group))


def from_the_top(folders: list[str], edges: set[tuple[str, str]]) -> list[str]:
    """The folders ordered so that arrows point down, if they have no cycle."""
    users = Counter(target for _, target in edges)
    order, left = [], sorted(folders)
    while left:
        folder = min(left, key=lambda each: (users[each], left.index(each)))
        left.remove(folder)
        order.append(folder)
        for source, target in edges:
            if source == folder:
                users[target] -= 1
    return order
