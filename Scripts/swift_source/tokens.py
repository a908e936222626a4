"""Splits Swift sources into tokens, so that no check mistakes a comment or a string for code."""
import re
from typing import NamedTuple

# An identifier, keyword or `#directive`; a number; a string; an operator or a bracket.
NAME, NUMBER, STRING, MARK = "name", "number", "string", "mark"

# What may follow, tried in this order: nothing that counts, a token, or the beginning of one.
PART = re.compile(
    r"(?P<skipped>(?:\s+|//[^\n]*)+)|(?P<comment>/\*)"
    r"|(?P<name>`[^`\n]+`|[#$]?[A-Za-z_\u0080-\U0010ffff][\w\u0080-\U0010ffff]*|\$\d+)"
    r"|(?P<number>\d\w*(?:\.\d\w*)?)"
    r'|(?P<plain>"(?!"")(?:[^"\\\n]|\\[^(\n])*")|(?P<quotes>#*(?:"""|"))|(?P<regex>#+/(?=\S|\n))'
    r"|(?P<mark>\.\.[.<]|->|\?\?|!(?!=)|(?:[-+*%&|^<>=!~]|/(?!/))+|.)",
    re.S,
)


class Token(NamedTuple):
    kind: str
    text: str
    line: int
    # Whether the token is the first of its line.
    leads: bool


class Reader:
    """Reads one file. Tokens inside an interpolation follow the string they belong to, in parentheses."""

    def __init__(self, text: str) -> None:
        self.text, self.place, self.line = text, 0, 1
        self.tokens: list[Token] = []
        self.last_line = 0  # of the previous token

    def advance(self, end: int) -> None:
        self.line += self.text.count("\n", self.place, end)
        self.place = end

    def read(self, closes: bool = False) -> None:
        """Reads to the end of the file or, in an interpolation, to its closing parenthesis."""
        text, size, depth = self.text, len(self.text), 0
        while self.place < size:
            found = PART.match(text, self.place)
            kind, end = found.lastgroup, found.end()
            if kind == "skipped":
                self.advance(end)
            elif kind == "comment":
                self.skip_comment()
            elif kind == "plain":
                self.add(STRING, found[0][1:-1])
                self.place = end
            elif kind == "quotes":
                self.read_string(found[0])
            elif kind == "regex":
                closing = text.find("/" + found[0][:-1], end)
                self.add(STRING, "")
                self.advance(size if closing < 0 else closing + len(found[0]))
            else:
                self.add(kind, found[0])
                self.place = end
                depth += (found[0] == "(") - (found[0] == ")")
                if closes and depth == 0:
                    return

    def add(self, kind: str, text: str) -> None:
        self.tokens.append(Token(kind, text, self.line, self.line != self.last_line))
        self.last_line = self.line

    def skip_comment(self) -> None:
        """Skips a comment between `/*` and `*/`, and those in it."""
        end, depth = self.place + 2, 1
        while depth and end < len(self.text):
            mark = self.text[end : end + 2]
            depth += (mark == "/*") - (mark == "*/")
            end += 2 if mark in ("/*", "*/") else 1
        self.advance(end)

    def read_string(self, opening: str) -> None:
        """Reads a string with interpolations, with several lines or with hashes."""
        hashes = opening.count("#")
        closing = opening[hashes:] + "#" * hashes
        escape = "\\" + "#" * hashes
        stops = re.compile(f"{re.escape(closing)}|{re.escape(escape)}" + (r"|\n" if len(opening) - hashes == 1 else ""))
        self.place += len(opening)
        index = len(self.tokens)
        self.add(STRING, "")
        pieces, start = [], self.place
        while found := stops.search(self.text, self.place):
            self.advance(found.start())
            if found[0] == escape and self.text.startswith("(", found.end()):
                pieces.append(self.text[start : self.place])
                self.place = found.end()
                self.read(closes=True)
                start = self.place
            elif found[0] == escape:
                self.advance(found.end() + 1)
            else:
                if found[0] == closing:
                    pieces.append(self.text[start : self.place])
                    self.place = found.end()
                break  # or unterminated: the rest is read as code
        else:
            self.advance(len(self.text))
        self.tokens[index] = self.tokens[index]._replace(text="…".join(pieces))
        self.last_line = self.line


def read(text: str) -> list[Token]:
    reader = Reader(text)
    reader.read()
    return reader.tokens
