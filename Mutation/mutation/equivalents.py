"""Reads equivalent.txt: mutants without any observable effect, each with the reason."""
import sys

from .places import HERE

PATH = HERE / "equivalent.txt"


def read() -> dict[str, str]:
    """The reasons, by the keys of the mutants. A block contains file, scope, line and change, and then the reason
    after `#`."""
    reasons: dict[str, str] = {}
    for block in PATH.read_text().split("\n\n"):
        lines = [line.strip() for line in block.strip().splitlines()]
        named = [line for line in lines if not line.startswith("#")]
        reason = " ".join(line.lstrip("# ") for line in lines if line.startswith("#"))
        if not named:
            continue
        if len(named) not in {4, 5} or not reason:
            sys.exit(f"{PATH}: a block has file, scope, line, change and # reason:\n{block}")
        reasons["\t".join(named)] = reason
    return reasons
