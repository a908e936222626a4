"""Comments and documents as prose: paragraphs without code, each sentence with its line."""
import re
from typing import Iterator, NamedTuple

from shape_of.tokens import Comment

# Lines for tools, and headings in a file.
DIRECTIVE = re.compile(r"^(?:MARK:|swift-tools-version|swift-format|TODO|FIXME|- (?:Parameters?|Returns|Throws)\b)")
# A citation may be short.
CITATION = re.compile(r"\b(?:Core Vol|Vol \d|[Bb]ehaviours? \d|AB-[A-Z]\d|RFC \d|Part [A-Z]|CVE|https?:)|\(\d\)|\d\.\d"
                      r"|^See `|^`[^`]+`\.?$|^[A-Z0-9]+(?:_[A-Z0-9]+)+\.?$")
CODE = re.compile(r"``[^`]*``|`[^`]*`|https?:\S+|\]\([^)]*\)")
SENTENCE_END = re.compile(r"(?<=[.!?:])[)\"”]*\s+(?=[A-Z`(\"“])")
FILLER_WORDS, COLUMNS = 3, 120


class Sentence(NamedTuple):
    line: int
    text: str


def without_code(text: str) -> str:
    """The text with backquoted names replaced, so that they do not count as words."""
    return CODE.sub(lambda match: "`" * min(len(match[0]), 1) if match[0][0] != "]" else "]", text)


def blocks(comments: list[Comment]) -> Iterator[list[Comment]]:
    """Comments on consecutive lines with the same mark."""
    block: list[Comment] = []
    for comment in comments:
        last = block[-1] if block else None
        if last and not (comment.alone and last.alone and comment.line == last.line + 1 and comment.mark == last.mark):
            yield block
            block = []
        block.append(comment)
    if block:
        yield block


def is_filler(block: list[Comment]) -> bool:
    """Whether a comment has one line of three words or fewer."""
    text = block[0].text
    return (len(block) == 1 and bool(text) and len(text.split()) <= FILLER_WORDS and not DIRECTIVE.match(text)
            and not CITATION.search(text) and any(character.isalpha() for character in text))


def is_too_long(comment: Comment) -> bool:
    """Whether prose exceeds the last column. A long address or path cannot be broken."""
    return comment.end > COLUMNS and max(map(len, comment.text.split()), default=0) < COLUMNS // 2


def paragraphs(block: list[Comment]) -> Iterator[list[tuple[int, str]]]:
    lines: list[tuple[int, str]] = []
    fenced = False
    for comment in block:
        if comment.text.startswith("```"):
            fenced = not fenced
        starts_item = re.match(r"(?:[-*] |\d+\. |#)", comment.text)
        if lines and (not comment.text or fenced or starts_item or comment.text.startswith("```")):
            yield lines
            lines = []
        if comment.text and not fenced and not comment.text.startswith("```") and not DIRECTIVE.match(comment.text):
            lines.append((comment.line, re.sub(r"^(?:[-*] |\d+\. |#+ )", "", comment.text)))
    if lines:
        yield lines


def sentences(lines: list[tuple[int, str]]) -> Iterator[Sentence]:
    """The sentences of a paragraph, each with the line of its first word."""
    text, starts = "", []
    for line, part in lines:
        starts.append((len(text), line))
        text += part + " "
    text = text.rstrip()
    begin = 0
    for end in [match.end() for match in SENTENCE_END.finditer(text)] + [len(text)]:
        if sentence := text[begin:end].strip():
            yield Sentence([line for start, line in starts if start <= begin][-1], sentence)
        begin = end


def markdown(text: str) -> Iterator[list[tuple[int, str]]]:
    """The paragraphs of a document, without code blocks. Table cells are paragraphs of their own."""
    lines: list[tuple[int, str]] = []
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if bare.startswith("```"):
            fenced = not fenced
        breaks = not bare or fenced or bare.startswith(("```", "|", "#")) or re.match(r"(?:[-*] |\d+\. |> )", bare)
        if breaks and lines:
            yield lines
            lines = []
        if not bare or fenced or bare.startswith("```"):
            continue
        if bare.startswith("|"):
            yield from ([(number, cell.strip())] for cell in bare.strip("|").split("|") if cell.strip())
        else:
            lines.append((number, re.sub(r"^(?:[-*] |\d+\. |> |#+ )", "", bare)))
    if lines:
        yield lines
