"""The recipes of documents that spread a search over machines: a workflow with a matrix, and an indexed Job.

Each part of a recipe becomes a command that this machine can run, with the environment that the part would have there.
"""
import re
import subprocess
from typing import Any, NamedTuple

SEEDS = re.compile(r"(?<=HARALD_SEARCH_SEEDS=)1-\d+")
PROGRAM = re.compile(r"/\S+\.xctest")
EXPRESSION = re.compile(r"\$\{\{ *([\w.]+) *\}\}")


class Part(NamedTuple):
    """One of the machines' share."""
    # From 1 on.
    number: int
    count: int
    environment: dict[str, str]
    # The arguments of a process.
    command: list[str]


    def here(self, program: str) -> "Part":
        """The part with a test program of this machine, and with one seed."""
        environment = {name: f"1-{self.count}" if name == "HARALD_SEARCH_SEEDS" else value
                       for name, value in self.environment.items()}
        command = [PROGRAM.sub(program, SEEDS.sub(f"1-{self.count}", word)) for word in self.command]
        return self._replace(environment=environment, command=command)

    def fault(self, report: dict) -> str | None:
        """What is wrong with the report of this part with one seed."""
        expected = {"shard": f"{self.number}/{self.count}", "seeds": [1, self.count], "worlds": 1, "isComplete": True}
        wrong = {name: report.get(name) for name, value in expected.items() if report.get(name) != value}
        return f"its report has {wrong}" if wrong else None


class RecipeError(Exception):
    pass


def need(condition: Any, text: str) -> None:
    if not condition:
        raise RecipeError(text)


def parsed(text: str) -> dict:
    """Reads YAML, with a parser that is installed if there is none."""
    try:
        import yaml
    except ImportError:
        subprocess.run(["apt-get", "install", "-y", "-qq", "python3-yaml"], stdout=subprocess.DEVNULL, check=True)
        import yaml
    try:
        tree = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise RecipeError(f"it does not parse: {error}") from error
    need(isinstance(tree, dict), "it is no mapping")
    return tree


def parts(text: str) -> list[Part]:
    """All parts of a recipe; fails if it has not the shape that its engine expects."""
    tree = parsed(text)
    return of_workflow(tree) if "jobs" in tree else of_job(tree)


def keys(tree: Any, place: str, required: set[str], optional: frozenset[str] | set[str] = frozenset()) -> dict:
    """A mapping with these keys and no others: an engine ignores or refuses a misspelt one."""
    need(isinstance(tree, dict), f"{place} is no mapping")
    need(required <= set(tree), f"{place} lacks {', '.join(sorted(required - set(tree)))}")
    unknown = set(tree) - required - optional
    need(not unknown, f"{place} has unknown keys: {', '.join(map(str, sorted(unknown)))}")
    return tree


# --- GitHub -----------------------------------------------------------------------------------------------------------


def of_workflow(tree: dict) -> list[Part]:
    """The jobs of a matrix with one axis."""
    jobs = keys(tree, "the workflow", {"jobs"})["jobs"]
    need(isinstance(jobs, dict) and len(jobs) == 1, "jobs has not one job")
    [(name, tree)] = jobs.items()
    job = keys(tree, name, {"strategy", "runs-on", "steps"}, {"container"})
    strategy = keys(job["strategy"], "strategy", {"matrix"}, {"fail-fast", "max-parallel"})
    need(strategy.get("fail-fast") is False, "fail-fast would end the other parts with the first that finds something")
    need(isinstance(strategy["matrix"], dict) and len(strategy["matrix"]) == 1, "matrix has not one axis")
    [(axis, numbers)] = strategy["matrix"].items()
    need(numbers == list(range(1, len(numbers) + 1)), f"{axis} does not count the parts")
    need(isinstance(job["steps"], list), "steps is no list")
    for step in job["steps"]:
        keys(step, "a step", set(), {"uses", "run", "env", "with", "name"})
        need(("uses" in step) != ("run" in step), "a step has to have one of uses and run")
    runs = [step for step in job["steps"] if "run" in step]
    need(len(runs) == 1, "not one step runs a command")
    return [part_of_matrix(runs[0], axis, number, len(numbers)) for number in numbers]


def part_of_matrix(step: dict, axis: str, number: int, count: int) -> Part:
    def value(match: re.Match) -> str:
        need(match[1] == f"matrix.{axis}", f"{match[0]} is unknown")
        return str(number)

    for name, text in step.get("env", {}).items():
        need(isinstance(text, (str, int)) and not isinstance(text, bool), f"{name} is no text")
    environment = {name: EXPRESSION.sub(value, str(text)) for name, text in step.get("env", {}).items()}
    # The shell of a step without `shell:` in a container.
    return Part(number, count, environment, ["sh", "-e", "-c", EXPRESSION.sub(value, step["run"])])


# --- Kubernetes -------------------------------------------------------------------------------------------------------


def of_job(tree: dict) -> list[Part]:
    """The pods of an indexed Job of batch/v1."""
    keys(tree, "the manifest", {"apiVersion", "kind", "metadata", "spec"})
    need((tree["apiVersion"], tree["kind"]) == ("batch/v1", "Job"), "the manifest is not that of a Job of batch/v1")
    name = keys(tree["metadata"], "metadata", {"name"})["name"]
    need(re.fullmatch(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", name), "the name is no DNS label")
    allowed = {"parallelism", "backoffLimitPerIndex", "maxFailedIndexes"}
    spec = keys(tree["spec"], "spec", {"completions", "completionMode", "template"}, allowed)
    need(spec["completionMode"] == "Indexed", "without Indexed there is no index")
    for key in {"completions"} | allowed & set(spec):
        need(type(spec[key]) is int and spec[key] >= 0, f"{key} is no number")
    count = spec["completions"]
    # With backoffLimitPerIndex, Kubernetes refuses other policies and more failures than indexes.
    need(spec.get("maxFailedIndexes", 0) <= count, "maxFailedIndexes is larger than completions")
    need("maxFailedIndexes" not in spec or "backoffLimitPerIndex" in spec, "maxFailedIndexes needs backoffLimitPerIndex")
    pod = keys(keys(spec["template"], "template", {"spec"})["spec"], "the pod", {"restartPolicy", "containers"})
    need(pod["restartPolicy"] == "Never", "backoffLimitPerIndex needs restartPolicy Never")
    need(isinstance(pod["containers"], list) and len(pod["containers"]) == 1, "the pod has not one container")
    container = keys(pod["containers"][0], "the container", {"name", "image", "command", "args"})
    command = container["command"] + container["args"]
    need(all(isinstance(word, str) for word in command), "command and args are not all text")
    return [Part(index + 1, count, {"JOB_COMPLETION_INDEX": str(index)}, command) for index in range(count)]
