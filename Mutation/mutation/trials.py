"""Activates one mutant after the other, and runs the tests that reach it until one of them fails."""
import collections
import concurrent.futures
import json
import sys
import threading
from pathlib import Path

from .places import WORK, target_of
from .processes import Outcome, run_tests

# Suites run together until they fill this number of seconds: first the likeliest to fail, then the quick ones, then the
# rest.
BATCHES = [3, 15]


def path_of(fingerprint: str) -> Path:
    return WORK / f"results-{fingerprint}.jsonl"


def results(fingerprint: str) -> dict[str, dict]:
    """The last result of each mutant, by its key."""
    path = path_of(fingerprint)
    lines = path.read_text().splitlines() if path.exists() else []
    return {result["key"]: result for result in map(json.loads, lines)}


def run(
    binary: Path, mutants: list[dict], suites: dict[str, dict], fingerprint: str, jobs: int, is_anew: bool
) -> None:
    known = {} if is_anew else results(fingerprint)
    wanted = [mutant for mutant in mutants if mutant["key"] not in known]
    trials = Trials(binary, suites)
    lock = threading.Lock()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool, path_of(fingerprint).open("a") as file:
        futures = {pool.submit(trials.trial, mutant): mutant for mutant in wanted}
        try:
            for done, future in enumerate(concurrent.futures.as_completed(futures), 1):
                mutant, result = futures[future], future.result()
                with lock:
                    file.write(json.dumps(result) + "\n")
                    file.flush()
                where = f"{mutant['file']}:{mutant['line']}: {mutant['change']}"
                print(f"[{done}/{len(wanted)}] {result['outcome']:8} {mutant['number']:>5} {where}", flush=True)
                if is_anew:
                    print("\n".join(f"    {line}" for line in result.get("said", [])))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


class Trials:
    def __init__(self, binary: Path, suites: dict[str, dict]) -> None:
        self.binary = binary
        self.suites = suites
        self.reached: dict[int, list[str]] = collections.defaultdict(list)
        for name, suite in suites.items():
            for number in suite["seen"]:
                self.reached[number].append(name)
        #: The number of times a suite has caught a mutant of a file.
        self.noticed: collections.Counter[tuple[str, str]] = collections.Counter()

    def trial(self, mutant: dict) -> dict:
        result = {"key": mutant["key"], "outcome": "survived", "reached": bool(self.reached[mutant["number"]])}
        for batch in self.batches(mutant):
            allowed = 10 + 6 * sum(self.suites[name]["seconds"] for name in batch)
            outcome = run_tests(self.binary, batch, {"HARALD_MUTANT": str(mutant["number"])}, allowed)
            if outcome.name == "passed":
                continue
            suite = self.suite_of(outcome, batch)
            self.noticed[mutant["file"], suite] += 1
            result |= {"outcome": "caught", "how": outcome.name, "suite": suite, "test": outcome.test}
            return result | {"said": [line for line in outcome.said if "recorded an issue" in line][:3]}
        return result

    def suite_of(self, outcome: Outcome, batch: list[str]) -> str:
        """The suite of the batch that contains the test, or the first one if unknown."""
        return next((name for name in batch if outcome.test in self.suites[name]["tests"]), batch[0])

    def batches(self, mutant: dict) -> list[list[str]]:
        file, number = mutant["file"], mutant["number"]

        def order(name: str) -> tuple:
            is_own = name.startswith(target_of(file) + "Tests.")
            return (-self.noticed[file, name], not is_own, self.suites[name]["seconds"])

        batches: list[list[str]] = [[]]
        seconds = 0.0
        for name in sorted(self.reached[number], key=order):
            limit = BATCHES[len(batches) - 1] if len(batches) <= len(BATCHES) else float("inf")
            if batches[-1] and seconds + self.suites[name]["seconds"] > limit:
                batches.append([])
                seconds = 0.0
            batches[-1].append(name)
            seconds += self.suites[name]["seconds"]
        return [batch for batch in batches if batch]
