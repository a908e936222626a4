"""Prints the share of mutants that the tests catch, and the survivors."""
import collections

from .places import ROOMS


def write(mutants: list[dict], results: dict[str, dict], equivalent: dict[str, str]) -> int:
    """Writes the report, and returns 1 if a mutant survived."""
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    survivors = []
    for mutant in mutants:
        outcome = "equivalent" if mutant["key"] in equivalent else results.get(mutant["key"], {}).get("outcome", "untried")
        counts[mutant["room"]][outcome] += 1
        counts["all"][outcome] += 1
        if outcome == "survived":
            survivors.append(mutant)
    print(f"\n{'room':10} {'mutants':>8} {'tried':>6} {'caught':>7} {'survived':>9} {'equivalent':>11} {'share':>7}")
    for room in [*ROOMS, "all"]:
        if count := counts[room]:
            tried = count["caught"] + count["survived"]
            share = f"{100 * count['caught'] / tried:.1f} %" if tried else "-"
            print(
                f"{room:10} {count.total():>8} {tried:>6} {count['caught']:>7} {count['survived']:>9} "
                f"{count['equivalent']:>11} {share:>7}"
            )  # fmt: skip
    if survivors:
        print("\nNo test notices:")
    for mutant in survivors:
        reached = "" if results[mutant["key"]]["reached"] else " (no test comes here)"
        print(f"\n{mutant['number']}, line {mutant['line']}{reached}")
        print("\n".join(mutant["key"].split("\t")))
    for key in sorted(set(equivalent) - {mutant["key"] for mutant in mutants}):
        if any(key.startswith(mutant["file"] + "\t") for mutant in mutants):
            print(f"equivalent.txt names what is not there: {' / '.join(key.split(chr(9)))}")
    return 1 if survivors else 0
