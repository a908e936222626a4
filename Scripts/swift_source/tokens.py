"""Splits Swift sources into tokens, so that no check mistakes a comment or a string for code."""
import re
from typing import NamedTuple

# An identifier, keyword or `#directive`; a number; a string; an operator or a bracket.
NAME, NUMBER, STRING, MARK = "name", "number", "string", "mark"

SPACE = re.compile(r"\s+")
WORD = re.compile(r"`[^`\n]+`|[#$]?[A-Za-z_\u0080-\U0010ffff][\w\u0080-\U0010ffff]*|\$\d+")
DIGITS = re.compile(r"\d\w*(?:\.\d\w*)?")
QUOTES = re.compile(r'#*(?:"""|")')
LONG_REGEX = re.compile(r"(#+)/(?=\S|\n)")
SIGN = re.compile(r"\.\.[.<]|->|\?\?|!(?!=)|[-+*/%&|^<>=!~]+|.", re.S)


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

    def add(self, kind: str, text: str) -> None:
        self.tokens.append(Token(kind, text, self.line, self.line != self.last_line))
        self.last_line = self.line

    def advance(self, end: int) -> None:
        self.line += self.text.count("\n", self.place, end)
        self.place = end

    def read(self, closes: bool = False) -> None:
        """Reads to the end of the file or, in an interpolation, to its closing parenthesis."""
        text, size, depth = self.text, len(self.text), 0
        while self.place < size:
            character = text[self.place]
            if character.isspace():
                self.advance(SPACE.match(text, self.place).end())
            elif character == "/" and text.startswith(("//", "/*"), self.place):
                self.skip_comment()
            elif found := WORD.match(text, self.place):
                self.add(NAME, found[0])
                self.place = found.end()
            elif found := DIGITS.match(text, self.place):
                self.add(NUMBER, found[0])
                self.place = found.end()
            elif found := QUOTES.match(text, self.place):
                self.read_string(found[0])
            elif found := LONG_REGEX.match(text, self.place):
                end = text.find("/" + found[1], found.end())
                self.add(STRING, "")
                self.advance(size if end < 0 else end + 1 + len(found[1]))
            else:
                mark = SIGN.match(text, self.place)[0]
                # A comment may follow an operator without a space.
                mark = mark[: mark.index("//")] if "//" in mark[1:] else mark
                depth += (mark == "(") - (mark == ")")
                self.add(MARK, mark)
                self.place += len(mark)
                if closes and depth == 0:
                    return

    def skip_comment(self) -> None:
        end, depth = self.place + 2, 1
        if self.text.startswith("//", self.place):
            end = self.text.find("\n", self.place)
            return self.advance(len(self.text) if end < 0 else end)
        while depth and end < len(self.text):
            mark = self.text[end : end + 2]
            depth += (mark == "/*") - (mark == "*/")
            end += 2 if mark in ("/*", "*/") else 1
        self.advance(end)

    def read_string(self, opening: str) -> None:
        hashes = opening.count("#")
        closing = opening[hashes:] + "#" * hashes
        escape = "\\" + "#" * hashes
        self.place += len(opening)
        index = len(self.tokens)
        self.add(STRING, "")
        pieces, start = [], self.place
        while self.place < len(self.text):
            if self.text.startswith(closing, self.place):
                pieces.append(self.text[start : self.place])
                self.place += len(closing)
                break
            if self.text.startswith(escape, self.place):
                if self.text.startswith("(", self.place + len(escape)):
                    pieces.append(self.text[start : self.place])
                    self.place += len(escape)
                    self.read(closes=True)
                    start = self.place
                else:
                    self.advance(self.place + len(escape) + 1)
            elif self.text[self.place] == "\n" and len(opening) - hashes == 1:
                break  # unterminated: the rest is read as code
            else:
                self.advance(self.place + 1)
        self.tokens[index] = self.tokens[index]._replace(text="…".join(pieces))
        self.last_line = self.line


def read(text: str) -> list[Token]:
    reader = Reader(text)
    reader.read()
    return reader.tokens
