"""The values that Scripts/shape prints."""
import re
import statistics
from typing import Any

from shape_of import arrows, names, prose, state
from shape_of.declarations import File
from shape_of.tree import Module

VAGUE = re.compile(r"(?:Who|Whoever|Nobody|Somebody)\b(?![^.]*\?$)")
LONG_FUNCTION = 30


def folder_uses(module: Module, modules: list[Module]) -> list[arrows.Use]:
    members = arrows.member_names([each for each in modules if each is not module])
    return arrows.uses_of(module, set().union(*members.values()) if members else set())


def folders(modules: list[Module]) -> list[dict[str, Any]]:
    found = []
    for module in modules:
        groups = arrows.cycles({(use.source, use.target) for use in folder_uses(module, modules)})
        found.append({"module": module.name, "folders": len(module.folders), "cycles": groups,
                      "tangled": sum(map(len, groups))})
    return found


def counted(count: state.Count) -> dict[str, Any]:
    return {**count._asdict(), "share": round(count.share, 1), "variable_share": round(count.variable_share, 1)}


def privacy(modules: list[Module]) -> dict[str, Any]:
    spread = [each for module in modules for each in state.spread(module)]
    classes = [each for each in spread if each.kind != "struct"]
    structs = [each for each in spread if each.kind == "struct"]

    def together(group: list[state.Spread]) -> dict[str, Any]:
        return counted(state.count(each for one in group for _, each in one.properties))

    return {
        "all": counted(state.count(each for module in modules for file in module.files for each in file.properties)),
        "modules": {module.name: counted(state.count(each for file in module.files for each in file.properties))
                    for module in modules},
        "spread classes": together(classes),
        "spread structs": together(structs),
        "spread": [{"module": each.module, "kind": each.kind, "name": each.name, "files": len(each.files),
                    **counted(each.count)} for each in sorted(spread, key=lambda each: (each.count.share, -each.count.all))],
    }


def comments(files: list[File]) -> dict[str, int]:
    blocks = [block for file in files for block in prose.blocks(file.comments)]
    sentences = [sentence.text for block in blocks for lines in prose.paragraphs(block) for sentence in prose.sentences(lines)]
    return {
        "fillers": sum(map(prose.is_filler, blocks)),
        "over 120 columns": sum(prose.is_too_long(comment) for block in blocks for comment in block),
        "sentences": len(sentences),
        "vague subjects": sum(bool(VAGUE.match(text)) for text in sentences),
        "is another one": sum("is another one" in text for text in sentences),
    }


def functions(modules: list[Module]) -> dict[str, Any]:
    lengths = [each.last_line - each.line + 1 for module in modules for file in module.files for each in file.functions]
    return {"count": len(lengths), "median": statistics.median(lengths) if lengths else 0, "longest": max(lengths, default=0),
            f"over {LONG_FUNCTION} lines": sum(length > LONG_FUNCTION for length in lengths)}


def measure(modules: list[Module], others: dict[str, list[File]]) -> dict[str, Any]:
    """`others` has the files of directories outside the modules, of which only the comments count."""
    return {
        "folders": folders(modules),
        "state": privacy(modules),
        "doubled names": {name: sorted({module for module, _, _ in places}) for name, places in names.doubled(modules).items()},
        "comments": {"Sources": comments([file for module in modules for file in module.files]),
                     **{name: comments(files) for name, files in others.items()}},
        "functions": functions(modules),
    }
