"""Stored properties: how many are private, and which of the others could be.

Names decide. `self.name` and the bare name in the type's own code are uses of a property, and so is `receiver.name` if
a declaration of the receiver mentions the type. If the receiver's type is unknown, the use is a possible one.
Assignments, `&name` and calls of mutating methods are writes; a change inside an object that the property refers to is
not.
"""
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Iterable, NamedTuple

from shape_of.declarations import Declaration, File, Function, Property
from shape_of.tokens import MARK, NAME
from shape_of.tree import Module

SPREAD = 3  # the number of files that makes a type worth a look
NOMINAL = {"class", "struct", "actor"}
REFERENCES = {"class", "actor", "protocol"}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>=", "&+=", "&-=", "&*=", "||=", "&&="}
# Mutating methods of the standard library and swift-collections.
MUTATING = set("""
    append insert remove removeAll removeFirst removeLast removeSubrange replaceSubrange popFirst popLast popMin popMax removeMin
    removeMax merge update updateValue formUnion formIntersection subtract formSymmetricDifference sort reverse swapAt toggle
    negate shuffle reserveCapacity prepend withUnsafeMutableBytes withUnsafeMutableBufferPointer partition combine next formIndex
    write take
""".split())


class Count(NamedTuple):
    all: int = 0
    private: int = 0
    variables: int = 0
    private_variables: int = 0

    @property
    def share(self) -> float:
        return 100 * self.private / self.all if self.all else 100.0

    @property
    def variable_share(self) -> float:
        return 100 * self.private_variables / self.variables if self.variables else 100.0


def count(properties: Iterable[Property]) -> Count:
    properties = list(properties)
    variables = [each for each in properties if each.variable]
    return Count(len(properties), sum(each.is_private for each in properties), len(variables),
                 sum(each.is_private for each in variables))


@dataclass
class Spread:
    """A type whose declaration and extensions span several files of its module."""
    module: str
    kind: str
    name: str
    files: list[File]
    properties: list[tuple[File, Property]] = field(default_factory=list)

    @property
    def count(self) -> Count:
        return count(each for _, each in self.properties)


def spread(module: Module, least: int = SPREAD) -> list[Spread]:
    """The classes, actors and structs of a module that span at least `least` files and have stored properties."""
    found: dict[str, Spread] = {}
    for file in module.files:
        for declaration in file.types:
            if declaration.kind in NOMINAL and not declaration.local:
                found[declaration.path] = Spread(module.name, declaration.kind, declaration.path, [])
    for file in module.files:
        for name in {scope.name for scope in file.scopes}:
            if name in found:
                found[name].files.append(file)
        for each in file.properties:
            if each.owner in found and not each.local:
                found[each.owner].properties.append((file, each))
    return [each for each in found.values() if len(each.files) >= least and each.properties]


class Place(NamedTuple):
    path: str
    line: int


@dataclass
class Uses:
    """The uses of a name: certain ones of the type's property, and possible ones, where the name may mean something
    else."""
    reads: list[Place] = field(default_factory=list)
    writes: list[Place] = field(default_factory=list)
    maybe_reads: list[Place] = field(default_factory=list)
    maybe_writes: list[Place] = field(default_factory=list)

    def files(self, *lists: str) -> set[str]:
        return {place.path for each in lists for place in getattr(self, each)}


class Reader:
    """Finds uses in files, and guesses the type of the name before a dot from all declarations of that name."""

    def __init__(self, files: list[File]) -> None:
        self.types: dict[str, set[str]] = defaultdict(set)  # kinds, by name
        self.homes: dict[str, set[str]] = defaultdict(set)  # the modules with such a type, by name
        self.declared: dict[str, list[Declaration]] = defaultdict(list)
        self.index: dict[str, list[tuple[File, int]]] = defaultdict(list)
        self.scopes = {file.path: sorted(file.scopes, key=lambda scope: scope.first - scope.last) for file in files}
        self.held: dict[str, dict[str, set[str]]] = {}  # type names, by file and name
        self.held_anywhere: dict[str, set[str]] = defaultdict(set)  # of properties and results
        self.mutating = MUTATING | {each.name for file in files for each in file.functions if each.mutating}
        for file in files:
            for each in file.types:
                self.types[each.name].add(each.kind)
                self.homes[each.path].add(module_of(file.path))
            for member in file.members:
                self.declared[member.name].append(member)
            for index, token in enumerate(file.tokens):
                if token.kind == NAME and index not in file.declared_at:
                    self.index[token.text.strip("`")].append((file, index))
            for function in file.functions:
                self.held_anywhere[function.name] |= result_types(file, function)
            for index in file.declared_at:
                if index + 1 < len(file.tokens) and file.tokens[index + 1].text in (":", "="):
                    self.held_anywhere[file.tokens[index].text] |= types_after(file, index + 1)

    def holds_reference(self, property: Property) -> bool:
        """Whether a change of the property's content is no change of the property."""
        named = [text for text in property.type if text[:1].isupper() or text in ("any", "[", "(")]
        return bool(named) and (named[0] == "any" or bool(self.types[named[0]] & REFERENCES))

    def uses(self, property: Property, path: str) -> Uses:
        """The uses of a property that the file at `path` declares."""
        uses, reference, module = Uses(), self.holds_reference(property), module_of(path)
        for file, index in self.index[property.name]:
            here = module_of(file.path)
            if here != module and here in self.homes[property.owner]:
                continue  # a type of the same name hides this one
            sure = self.is_meant(property, file, index)
            if sure is not None:
                writes = self.writes(file, index, reference)
                target = (uses.writes if writes else uses.reads) if sure else (uses.maybe_writes if writes else uses.maybe_reads)
                target.append(Place(file.path, file.tokens[index].line))
        return uses

    def is_meant(self, property: Property, file: File, index: int) -> bool | None:
        """Whether the name here is the property: True if certain, False if possible, None if it is something else."""
        tokens = file.tokens
        before = tokens[index - 1].text if index else ""
        after = tokens[index + 1].text if index + 1 < len(tokens) else ""
        if before != ".":
            if not self.is_inside(file, index, property.owner) or after == ":" and before in ("(", ","):
                return None
            if before in ("let", "var"):
                return True if after not in ("=", ":") else None  # `if let name {` reads it
            copied = before == "=" and tokens[index - 2].text == property.name and tokens[index - 3].text in ("let", "var")
            return True if copied or not self.is_local(file, index) else None
        place = index - 2
        while place > 0 and tokens[place].text in ("?", "!") and tokens[place].kind == MARK:
            place -= 1
        if tokens[place].text in (")", "]"):
            place = opening(file, place) - 1
        receiver = tokens[place]
        if receiver.text == "self":
            return True if self.is_inside(file, index, property.owner) else None
        if receiver.kind != NAME:
            # A bare `.name` is a case, or a static member.
            return False if receiver.text in ("\\", ">", "}") or receiver.text == "." else None
        if receiver.text[:1].isupper():
            held = {receiver.text} if tokens[place + 1].text == "(" else {"Type"}
        elif receiver.text.startswith("$"):
            return False
        else:
            held = self.types_of(receiver.text, file)
        if property.owner.split(".")[-1] in held:
            return True
        known = [name for name in held if self.types[name] - {"protocol", "typealias", "associatedtype"} or name == "Type"]
        return None if held and len(known) == len(held) else False

    def types_of(self, name: str, file: File) -> set[str]:
        """The types that the declarations of a name mention: those in the file, or else those anywhere."""
        if file.path not in self.held:
            self.held[file.path] = self.bindings(file)
        return self.held[file.path].get(name) or self.held_anywhere.get(name, set())

    def bindings(self, file: File) -> dict[str, set[str]]:
        tokens, held, chains = file.tokens, defaultdict(set), []
        for index in range(len(tokens) - 2):
            if tokens[index].kind != NAME or tokens[index].text[:1].isupper():
                continue
            name, after = tokens[index].text, tokens[index + 1].text
            if after in (":", "="):
                held[name] |= types_after(file, index + 1)
            if after in ("=", "in") and tokens[index - 1].text in ("let", "var", "for"):
                chains.append((name, last_of_chain(file, index + 2)))
        for name, source in chains * 2:
            if source and source != name:
                held[name] |= held.get(source) or self.held_anywhere.get(source, set())
        return held

    def is_inside(self, file: File, index: int, owner: str) -> bool:
        """Whether the owner is the innermost enclosing type."""
        inner = next((scope for scope in reversed(self.scopes[file.path]) if scope.first <= index < scope.last), None)
        return inner is not None and inner.name == owner

    def is_local(self, file: File, index: int) -> bool:
        """Whether an enclosing function has a variable or a parameter of that name."""
        name = file.tokens[index].text
        for function in file.functions:
            if function.first <= index < function.last:
                body = next(place for place in range(function.first, function.last) if file.tokens[place].text == "{")
                for place in range(function.first, index):
                    if file.tokens[place].text == name and file.tokens[place].kind == NAME:
                        before, after = file.tokens[place - 1].text, file.tokens[place + 1].text
                        if before in ("let", "var") and after in ("=", ":") or before == "for" or after == ":" and place < body:
                            return True
        return False

    def writes(self, file: File, index: int, reference: bool) -> bool:
        tokens = file.tokens
        start = index
        while start >= 2 and tokens[start - 1].text in (".", "?", "!"):
            start -= 1
            while start > 0 and tokens[start].text in (".", "?", "!"):
                start -= 1
            if tokens[start].text in (")", "]"):
                start = opening(file, start) - (1 if tokens[opening(file, start) - 1].kind == NAME else 0)
        if start > 1 and tokens[start - 1].text == "&" and tokens[start - 2].text in ("(", ",", ":"):
            return not reference or not follows(file, index)
        index += 1
        direct = True
        while index < len(tokens):
            text = tokens[index].text if tokens[index].kind != "string" else ""
            if text in ("?", "!"):
                index += 1
            elif text == "[" and not tokens[index].leads:
                index = closing(file, index)
                direct = False
            elif text == "." and tokens[index + 1].kind == NAME:
                after = tokens[index + 2].text if index + 2 < len(tokens) else ""
                if after in ("(", "{"):
                    return not reference and tokens[index + 1].text in self.mutating
                direct = False
                index += 2
            else:
                assigned = text in ASSIGNMENTS and tokens[index].kind == MARK
                assigned = assigned or text in (",", ")") and in_assigned_tuple(file, index)
                return assigned and (direct or not reference)
        return False


def module_of(path: str) -> str:
    """`Sources/GAP` for a file in it."""
    return "/".join(path.split("/")[:2])


def types_after(file: File, index: int) -> set[str]:
    """The types after a colon, or constructed after an equals sign."""
    found, line, index = set(), file.tokens[index].line, index + 1
    while index < len(file.tokens) and file.tokens[index].line == line:
        token = file.tokens[index]
        if token.kind != NAME and token.text in (",", ")", "=", "{", "}", ";"):
            break
        if token.kind == NAME and token.text[:1].isupper():
            found.add(token.text)
        index += 1
    return found


def result_types(file: File, function: Function) -> set[str]:
    for index in range(function.first, function.last):
        if file.tokens[index].text == "->":
            return types_after(file, index)
        if file.tokens[index].text == "{":
            break
    return set()


def last_of_chain(file: File, index: int) -> str:
    """The last name of `a.b[c]?.d(e)`, which names the value."""
    last = ""
    while index < len(file.tokens):
        token = file.tokens[index]
        if token.kind == NAME and token.text not in ("try", "await"):
            if last and file.tokens[index - 1].text != ".":
                break
            last = token.text
        elif token.kind == MARK and token.text in ("(", "["):
            index = closing(file, index)
            continue
        elif token.text not in (".", "?", "!") and token.text not in ("try", "await"):
            break
        index += 1
    return last


def in_assigned_tuple(file: File, index: int) -> bool:
    """Whether the place is in `(a, b)` of `(a, b) = …`."""
    depth = 0
    while index < len(file.tokens) and depth >= 0:
        text = file.tokens[index].text if file.tokens[index].kind != "string" else ""
        if text in ("{", "}", ";"):
            return False
        depth += (text in ("(", "[")) - (text in (")", "]"))
        index += 1
    if index >= len(file.tokens) or file.tokens[index].text != "=":
        return False
    start = opening(file, index - 1)
    return file.tokens[start].leads or file.tokens[start - 1].text in ("{", ";", "in", "else", ":")


def follows(file: File, index: int) -> bool:
    return index + 1 < len(file.tokens) and file.tokens[index + 1].text in (".", "?", "[")


def opening(file: File, index: int) -> int:
    """The opening bracket that matches the one here."""
    depth = 0
    while index > 0:
        text = file.tokens[index].text if file.tokens[index].kind != "string" else ""
        depth += (text in (")", "]", "}")) - (text in ("(", "[", "{"))
        if depth == 0:
            return index
        index -= 1
    return 0


def closing(file: File, index: int) -> int:
    """The index after the closing bracket that matches the one here."""
    depth = 0
    while index < len(file.tokens):
        text = file.tokens[index].text if file.tokens[index].kind != "string" else ""
        depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
        index += 1
        if depth == 0:
            break
    return index


class Advice(NamedTuple):
    """The access that a property could have without any other change: `private`, `private(set)` or nothing.

    With a question mark if the name may mean something else elsewhere, so that only the compiler can decide.
    """
    property: Property
    path: str
    uses: Uses
    could_be: str

    @property
    def only_user(self) -> str:
        """The only other file that uses the property, if its own does not: the state belongs there."""
        users = self.uses.files("reads", "writes", "maybe_reads", "maybe_writes")
        return next(iter(users)) if len(users) == 1 and self.path not in users else ""


def advise(spread: Spread, reader: Reader) -> list[Advice]:
    """Advice for all properties that are not private."""
    return [Advice(property, file.path, uses, possible(property, file.path, uses, reader))
            for file, property in spread.properties if not property.is_private
            for uses in [reader.uses(property, file.path)]]


def possible(property: Property, path: str, uses: Uses, reader: Reader) -> str:
    required = any(each.kind == "var" and each.owner and "protocol" in reader.types[each.owner.split(".")[-1]]
                   for each in reader.declared[property.name])
    for mark, read, written in [
        ("", ["reads", "writes", "maybe_reads", "maybe_writes"], ["writes", "maybe_writes"]),
        ("?", ["reads", "writes"], ["writes"]),
    ]:
        if not required and not uses.files(*read) - {path}:
            return "private" + mark
        if property.variable and not uses.files(*written) - {path}:
            return "private(set)" + mark
    return ""
