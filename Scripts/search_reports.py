#!/usr/bin/env python3
"""Joins the reports of the parts of a search (Scripts/search --shard 3/20 --json).

    Scripts/search_reports.py --parts 20 REPORT...     fails if a part is missing or incomplete, or something was found
"""
import argparse
import json
import sys
from pathlib import Path


def missing(reports: list[dict], parts: int) -> list[str]:
    """The parts that no report completes."""
    complete = {report["shard"] for report in reports if report["isComplete"] or report["found"]}
    return [f"{number}/{parts}" for number in range(1, parts + 1) if f"{number}/{parts}" not in complete]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", type=int, required=True)
    parser.add_argument("reports", type=Path, nargs="+")
    options = parser.parse_args()
    # A part that was interrupted may have left half a report beside the whole one of its second try.
    reports = []
    for path in options.reports:
        try:
            reports.append(json.loads(path.read_text()))
        except ValueError:
            print(f"{path} is no whole report")
    lost = missing(reports, options.parts)
    worlds = {report["shard"]: report["worlds"] for report in reports}
    print(f"{sum(worlds.values())} worlds in {len(worlds)} of {options.parts} parts")
    for part in lost:
        print(f"part {part} is missing")
    found = [each for report in reports for each in report["found"]]
    for each in found:
        print(f"seed {each['seed']}: {each['check']}: {each['text']}\n{each['test']}")
    return 1 if lost or found else 0


if __name__ == "__main__":
    sys.exit(main())
