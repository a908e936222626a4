"""Turns the documents of the repository into articles of a DocC catalog. See Site/build.

Links between documents become links between articles, with DocC's anchors for those of GitHub. Code spans that name a
type of the API become links to it. Comments are removed, since DocC would print them.
"""
import re
from itertools import groupby
from pathlib import Path
from typing import Callable, Iterator, NamedTuple

PATTERNS = ["*.md", "Documentation/*.md", "*/README.md"]
# DocC resolves no anchors of other archives, so these are plain links.
CHAPTERS = "/documentation/guides/behaviours"
FENCE = re.compile(r"^\s*```")
HEADING = re.compile(r"^(#{1,6}) +(.*?) *#*$")
COMMENT = re.compile(r"^\s*<!--.*-->\s*$")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")
WEB = re.compile(r"^\w+:")
# Removed from a fragment by DocC: punctuation, but not dashes.
PUNCTUATION = re.compile(r"[^\w\s+<>=^|~$-]|_")
RULE = re.compile(r"\bbehaviours? (\d+)\.\d+(?:(?:, | to | and )\d+\.\d+)*")


class Article(NamedTuple):
    name: str
    source: Path
    text: str


def name_of(path: Path) -> str:
    """The last part of an article's address: the name of the document, or of the folder of a README."""
    if path.name == "README.md":
        return path.parent.name or "Readme"
    return path.stem.capitalize() if path.stem.isupper() else path.stem


def documents(root: Path) -> list[Path]:
    return sorted({path.relative_to(root) for pattern in PATTERNS for path in root.glob(pattern)})


def plain(heading: str) -> str:
    """The text of a heading without Markdown."""
    return re.sub(r"[`*]", "", LINK.sub(lambda match: match[2], heading))


def slug(heading: str) -> str:
    """The anchor of a heading on GitHub."""
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", plain(heading).lower()))


def fragment(heading: str) -> str:
    """The anchor of a heading in DocC."""
    words = re.split(r"[\s–—-]+", plain(heading).strip())
    return "-".join(word for word in (PUNCTUATION.sub("", each) for each in words) if word)


def marked(text: str) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it stays as it is: code and its fences, headings, and the empty lines between paragraphs."""
    is_code = False
    for line in text.splitlines():
        is_fence = bool(FENCE.match(line))
        is_code ^= is_fence
        yield line, is_code or is_fence or not line.strip() or bool(HEADING.match(line))


def headings(text: str) -> list[str]:
    found, is_code = [], False
    for line in text.splitlines():
        is_code ^= bool(FENCE.match(line))
        if not is_code and (match := HEADING.match(line)):
            found.append(match[2])
    return found


class Articles:
    """The articles of a repository."""

    def __init__(self, root: Path, symbols: dict[str, str] | None = None) -> None:
        """`symbols` has the types that code spans may name, and the address of each."""
        self.root = root
        self.symbols = symbols or {}
        self.names = {path: name_of(path) for path in documents(root)}
        self.anchors = {path: {slug(each): fragment(each) for each in headings((root / path).read_text())}
                        for path in self.names}
        self.images: set[Path] = set()
        self.faults: list[str] = []

    def all(self) -> Iterator[Article]:
        for path, name in self.names.items():
            yield Article(name, path, self.article(path))

    def article(self, path: Path) -> str:
        lines = [each for each in marked((self.root / path).read_text()) if not COMMENT.match(each[0]) or each[1]]
        # A link may begin in one line and end in the next. DocC keeps an indented fence's code indented.
        runs = ((kept, "\n".join(line for line, _ in run)) for kept, run in groupby(lines, lambda each: each[1]))
        return "\n".join(text if kept else self.prose(path, text) for kept, text in runs) + "\n"

    def prose(self, path: Path, text: str) -> str:
        """Lines of prose. Links are rewritten first, and code spans only outside of their text."""
        parts, end = [], 0
        for match in LINK.finditer(text):
            parts += [self.spans(text[end:match.start()]), self.link(path, match)]
            end = match.end()
        return "".join([*parts, self.spans(text[end:])])

    def spans(self, text: str) -> str:
        return SPAN.sub(lambda match: f"[`{match[1]}`]({self.symbols[match[1]]})" if match[1] in self.symbols else match[0],
                        text)

    def link(self, path: Path, match: re.Match[str]) -> str:
        is_image, text, target = match[1], match[2], match[3]
        if WEB.match(target):
            return match[0]
        file, _, anchor = target.partition("#")
        try:
            found = (self.root / path.parent / file).resolve().relative_to(self.root.resolve()) if file else path
        except ValueError:
            found = Path(file)
        if is_image:
            self.images.add(found)
            return f"![{text}]({found.name})"
        if found in self.names:
            if not anchor:
                return f"[{text}](doc:{self.names[found]})"
            if anchor in self.anchors[found]:
                return f"[{text}](doc:{self.names[found]}#{self.anchors[found][anchor]})"
        elif (self.root / found).exists():
            # Sources are not part of the site.
            return f"{text} (`{found}`)" if text.strip("`") != str(found) else f"`{found}`"
        self.faults.append(f"{path}: there is no {target}")
        return text


def chapters(text: str) -> dict[str, str]:
    """The anchors of numbered chapters, by number."""
    found = (re.match(r"\d+ ", each) and (each.split()[0], fragment(each)) for each in headings(text))
    return dict(each for each in found if each)


def cite(line: str, chapter: Callable[[str], str | None]) -> str:
    """A line of a documentation comment, whose citations of rules become links to their chapters."""
    def linked(match: re.Match[str]) -> str:
        anchor = chapter(match[1])
        rule = match[0].split()[1].rstrip(",")
        # DocC has one title for all links to one address, so the rule is a part of it.
        return f"[{match[0]}]({CHAPTERS}?rule={rule}#{anchor})" if anchor else match[0]
    # Not within code or the text of a link.
    return "".join(part if part.startswith(("`", "[")) else RULE.sub(linked, part)
                   for part in re.split(r"(`[^`]*`|\[[^\]]*\]\([^)]*\))", line))
