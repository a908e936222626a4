"""Finds the declarations of a Swift file: types, extensions, members, stored properties and functions, each with its
scope.

It works on text alone, without type-checking. Where a type is needed, the callers of this module decide by names.
"""
from dataclasses import dataclass, field

from swift_source.tokens import NAME, Token, read

TYPES = {"struct", "class", "enum", "actor", "protocol", "extension"}
MODIFIERS = {
    "public", "package", "internal", "private", "fileprivate", "open", "static", "final", "mutating", "nonmutating", "override",
    "convenience", "required", "nonisolated", "lazy", "weak", "unowned", "indirect", "optional", "dynamic", "consuming",
    "borrowing", "prefix", "postfix", "infix", "isolated", "distributed", "class", "sending", "unsafe",
}
MEMBERS = {"func", "init", "deinit", "subscript", "var", "let", "case", "typealias", "associatedtype", "import", "operator",
           "precedencegroup", "macro"}
ACCESS = {"public", "package", "internal", "private", "fileprivate", "open"}
STARTS = TYPES | MODIFIERS | MEMBERS
OPENING, CLOSING = {"{": "}", "(": ")", "[": "]"}, {"}", ")", "]"}


@dataclass
class Declaration:
    """A named declaration. `owner` is the qualified name of the enclosing type, empty at top level."""
    kind: str
    name: str
    owner: str
    access: str
    line: int
    # Whether it is in an extension rather than in the type's own declaration.
    extends: bool = False
    static: bool = False
    local: bool = False
    # The tokens from the keyword or the name to the end of the body; 0 if there is no body.
    first: int = 0
    last: int = 0

    @property
    def path(self) -> str:
        return f"{self.owner}.{self.name}" if self.owner else self.name


@dataclass
class Function(Declaration):
    last_line: int = 0
    mutating: bool = False


@dataclass
class Property(Declaration):
    """A stored property of an instance."""
    variable: bool = True
    setter: str = ""  # `private` of `private(set)`
    type: list[str] = field(default_factory=list)

    @property
    def is_private(self) -> bool:
        return {self.access, self.setter} & {"private", "fileprivate"} != set()


@dataclass
class Scope:
    """The tokens between the braces of a type or an extension."""
    name: str
    kind: str
    first: int
    last: int


@dataclass
class File:
    path: str
    tokens: list[Token]
    types: list[Declaration] = field(default_factory=list)
    members: list[Declaration] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    properties: list[Property] = field(default_factory=list)
    scopes: list[Scope] = field(default_factory=list)
    # Token indices at which a name is declared.
    declared_at: set[int] = field(default_factory=set)


class Around:
    """The context of a declaration."""

    def __init__(self, name: str = "", kind: str = "", local: bool = False, access: str = "") -> None:
        self.name, self.kind, self.local, self.access = name, kind, local, access


class Parser:
    def __init__(self, path: str, text: str) -> None:
        self.tokens = read(text)
        self.count = len(self.tokens)
        self.file = File(path, self.tokens)

    def text(self, index: int) -> str:
        return self.tokens[index].text if index < self.count else ""

    def parse(self) -> File:
        self.members(0, Around())
        return self.file

    # Each of these methods takes the index of a token, and returns the index at which to continue.

    def balanced(self, index: int) -> int:
        """Skips to after the closing bracket that matches the one here."""
        depth = 0
        while index < self.count:
            text = self.tokens[index].text if self.tokens[index].kind != "string" else ""
            if text in OPENING:
                depth += 1
            elif text in CLOSING:
                depth -= 1
                if depth == 0:
                    return index + 1
            index += 1
        return index

    def starts(self, index: int) -> bool:
        """Whether another declaration, or the end of the scope, follows here."""
        token = self.tokens[index]
        if token.kind == "string":
            return False
        if token.text in ("}", ";"):
            return True
        return token.leads and (token.text in STARTS or token.text == "@" or token.text.startswith("#"))

    def members(self, index: int, around: Around) -> int:
        """Reads declarations up to the closing brace."""
        start, access, setter, flags = index, "", "", set()
        while index < self.count:
            token = self.tokens[index]
            text = token.text if token.kind != "string" else ""
            if text == "}":
                return index + 1
            if text in ("#if", "#elseif"):
                while index < self.count and self.tokens[index].line == token.line:
                    index += 1
            elif text == "@":
                index += 2
                while self.text(index) == ".":
                    index += 2
                if self.text(index) == "(" and not self.tokens[index].leads:
                    index = self.balanced(index)
            elif text in MODIFIERS and not (text == "class" and self.is_type(index)):
                if self.text(index + 1) == "(":
                    if text in ACCESS and self.text(index + 2) == "set":
                        setter = text
                    index = self.balanced(index + 1)
                else:
                    access = text if text in ACCESS else access
                    flags.add(text)
                    index += 1
                continue
            elif text in TYPES:
                index = self.type(index, around, access)
            elif text in ("var", "let"):
                index = self.variable(index, around, access, setter, flags)
            elif text in ("func", "init", "deinit", "subscript") and around.kind != "code":
                index = self.function(index, around, access, flags)
            elif text == "case" and around.kind == "enum":
                index = self.cases(index, around)
            elif text in ("typealias", "associatedtype"):
                name = self.name(index + 1)
                self.declare(Declaration(text, name, around.name, self.access(access, around), token.line,
                                         around.kind == "extension", local=around.local), index + 1)
                index += 2
            elif text == "import":
                while index < self.count and self.tokens[index].line == token.line:
                    self.file.declared_at.add(index)
                    index += 1
            elif text == "{":
                index = self.code(index, around)
            elif text in OPENING:
                index = self.balanced(index)
            else:
                index += 1
            if text != "@":
                access, setter, flags = "", "", set()
        return index

    def is_type(self, index: int) -> bool:
        after = self.tokens[index + 1] if index + 1 < self.count else None
        return after is not None and after.kind == NAME and after.text not in MODIFIERS | MEMBERS

    def name(self, index: int) -> str:
        return self.text(index).strip("`")

    @staticmethod
    def access(own: str, around: Around) -> str:
        """The access of a declaration: members of a `private extension` or a protocol inherit its access."""
        return own or around.access or "internal"

    def declare(self, declaration: Declaration, index: int) -> None:
        self.file.declared_at.add(index)
        if declaration.kind in ("struct", "class", "enum", "actor", "protocol", "typealias"):
            self.file.types.append(declaration)
        self.file.members.append(declaration)

    def type(self, index: int, around: Around, access: str) -> int:
        kind, line, at = self.text(index), self.tokens[index].line, index + 1
        name = self.name(at)
        index = at + 1
        while self.text(index) == "." and kind == "extension":
            name += "." + self.name(index + 1)
            index += 2
        path = f"{around.name}.{name}" if around.name else name
        if kind != "extension":
            self.declare(Declaration(kind, name, around.name, self.access(access, around), line,
                                     around.kind == "extension", local=around.local), at)
        while index < self.count and self.text(index) != "{":
            index += 1
        inner = Around(path, kind, around.local, access if kind in ("extension", "protocol") else "")
        end = self.members(index + 1, inner)
        self.file.scopes.append(Scope(path, kind, index, end))
        return end

    def cases(self, index: int, around: Around) -> int:
        index += 1
        expects = True
        while index < self.count and not self.starts(index):
            token = self.tokens[index]
            if expects and token.kind == NAME:
                self.declare(Declaration("case", token.text.strip("`"), around.name, "", token.line, static=True), index)
                expects = False
            if token.text in OPENING and token.kind != "string":
                index = self.balanced(index)
                continue
            expects = expects or token.text == ","
            index += 1
        return index

    def function(self, index: int, around: Around, access: str, flags: set[str]) -> int:
        kind, start, line = self.text(index), index, self.tokens[index].line
        name = self.name(index + 1) if kind == "func" else kind
        self.file.declared_at.add(index + 1)
        index += 2 if kind == "func" else 1
        while index < self.count and self.text(index) != "{" and not (index > start + 1 and self.starts(index)):
            index = self.balanced(index) if self.text(index) in OPENING else index + 1
        function = Function(kind, name, around.name, self.access(access, around), line, around.kind == "extension",
                            "static" in flags or "class" in flags, around.local, mutating="mutating" in flags)
        if self.text(index) == "{":
            index = self.code(index, around)
            function.last_line, function.first, function.last = self.tokens[index - 1].line, start, index
            self.file.functions.append(function)
        self.file.members.append(function)
        return index

    def code(self, index: int, around: Around) -> int:
        """Reads statements from the brace here to the matching one, for functions and types in them."""
        index += 1
        inner = Around(around.name, "local", True)
        while index < self.count:
            token = self.tokens[index]
            text = token.text if token.kind != "string" else ""
            if text == "}":
                return index + 1
            if text == "{":
                index = self.code(index, around)
            elif text == "func" and self.text(index - 1) != ".":
                index = self.function(index, inner, "", set())
            elif text in TYPES and self.text(index - 1) != "." and self.is_type(index) and self.begins(index):
                index = self.type(index, inner, "")
            else:
                index += 1
        return index

    def begins(self, index: int) -> bool:
        return self.tokens[index].leads or self.text(index - 1) in {"{", ";", "private", "final", "indirect", "fileprivate"}

    def variable(self, index: int, around: Around, access: str, setter: str, flags: set[str]) -> int:
        keyword = self.text(index)
        index += 1
        while index < self.count:
            names, index = self.pattern(index)
            type_start = index
            if self.text(index) == ":":
                index = self.annotation(index + 1)
            annotation = [token.text for token in self.tokens[type_start + 1 : index]]
            stored = True
            if self.text(index) == "=":
                index = self.value(index + 1, around)
            elif self.text(index) == "{":
                stored = self.observes(index)
                index = self.code(index, around)
            static = bool(flags & {"static", "class"})
            for name, place in names:
                arguments = (name, around.name, self.access(access, around), self.tokens[place].line)
                self.declare(Declaration("var", *arguments, around.kind == "extension", static, around.local, place, index), place)
                if stored and not static and around.kind in ("struct", "class", "actor"):
                    self.file.properties.append(Property("var", *arguments, local=around.local, variable=keyword == "var",
                                                         setter=setter, type=annotation))
            if self.text(index) != ",":
                return index
            index += 1
        return index

    def pattern(self, index: int) -> tuple[list[tuple[str, int]], int]:
        if self.text(index) != "(":
            return [(self.name(index), index)], index + 1
        end = self.balanced(index)
        return [(self.name(place), place) for place in range(index, end)
                if self.tokens[place].kind == NAME and self.text(place) != "_"], end

    def annotation(self, index: int) -> int:
        """Skips a type."""
        angles = 0
        while index < self.count:
            text = self.text(index)
            if angles <= 0 and (text in ("=", "{", ",") or self.starts(index)):
                break
            if text in ("(", "["):
                index = self.balanced(index)
                continue
            if text and text.strip("<>") == "":
                angles += text.count("<") - text.count(">")
            index += 1
        return index

    def value(self, index: int, around: Around) -> int:
        """Skips an initial value, and the observers after it."""
        first = index
        while index < self.count:
            text = self.text(index) if self.tokens[index].kind != "string" else ""
            if text == "}" or index > first and self.starts(index):
                break
            # Another variable of the same declaration, rather than the next argument of a generic type.
            if text == "," and self.text(index + 2) in (":", "="):
                break
            if text == "{":
                index = self.code(index, around)
            elif text in ("(", "["):
                index = self.balanced(index)
            else:
                index += 1
        return index

    def observes(self, index: int) -> bool:
        """Whether the braces here contain observers rather than a getter."""
        index += 1
        while self.text(index) == "@":
            index += 2
        return self.text(index) in ("willSet", "didSet")


def parse(path: str, text: str) -> File:
    return Parser(path, text).parse()
