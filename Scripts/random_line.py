"""Random command lines of the tool, made from its own description, for Scripts/random-lines.

What is left out, because it would change the machine or takes more than this tool:

- `install` without `--print`, which writes units and rules
- `controllers --dongle` and `--vhci`, which add adapters to the kernel
- packages with a Package.swift for `swift`, which would be built for minutes
- adapters and USB controllers of the machine, and its service: a line always names a service that is not there or its
  own, and a controller, if the machine has an adapter
- paths outside of the line's own folder
"""
from __future__ import annotations

import random
import re
import shlex
import socket
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterator

# Never in a line.
FORBIDDEN = {b"--dongle", b"--vhci"}
USAGE = 64
# The addresses of a virtual controller that runs beside the lines and of a server that sends garbage, and the socket of
# a service. A sensor, `Pulse`, advertises.
LIVE, GARBAGE, SERVICE = b"tcp:live", b"tcp:garbage", b"SERVICE"

HOSTILE = [
    b"", b" ", b"-1", b"0", b"-0", b"99999999999999999999999999", b"18446744073709551616", b"1e309", b"-1e309", b"nan", b"inf", b"0x10",
    b"1.5.2", b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", b"\x1b[31mred", b"\x07", b"line\nbreak", b"\r", b"a" * 5000, "é".encode() * 200,
    "\u202egnp".encode(), "👩‍👩‍👧‍👦".encode() * 20, b"%n%s", b"'\"`$(true)", b"{}", b"null", b"--", b"-", b"=", b",", b":", b"missing",
    b"folder", b"garbage",
]  # fmt: skip
# Files of the line's folder, and names that are not there.
PATHS = [b"missing", b"missing/deeper", b"folder", b"empty", b"garbage", b"cut.btsnoop", b"cut.json", b"policy", b"cut-policy", b"bonds",
         b"cut-bonds", b"socket", b"loop", b"link", b"read-only/file", b"empty/below", b"new", b"folder/new"]  # fmt: skip
UUIDS = [b"180D", b"2A37", b"2a38", b"FFFFFFFF", b"6E6F7465-0000-4861-7261-6C6420303031"]
DEVICES = [b"Pulse", b"pul", b"Pulse", b"service:180D", b"F0:F1:F2:F3:F4:F5", b"CB2E897C-E481-4D3F-B117-B799F0076361", b"cb2e"]
VALUES: dict[str, list[bytes]] = {
    "CONTROLLER": [*[LIVE] * 16, GARBAGE, GARBAGE, b"tcp:127.0.0.1:1", b"tcp:[::1]:1", b"tcp:no-such-host.invalid:1", b"unix:socket", b"unix:missing",
                   b"unix:garbage", b"serial:missing", b"serial:garbage,115200,h5", b"serial:empty", b"usb:ffff:ffff", b"usb:9-9.9", b"-",
                   b"hci99", b"hci-1", b"banana", b"tcp:", b"tcp:::", b"tcp:127.0.0.1:70000", b"usb:zz", b"unix:", b"virtual"],
    "SOCKET": [*PATHS, *[SERVICE] * 8], "FILE": PATHS, "DIRECTORY": PATHS, "PACKAGE": PATHS,
    "SECONDS": [b"0.2", b"1", b"5", b"86400"], "N": [b"0", b"1", b"3", b"1000000"], "MILLISECONDS": [b"0", b"10"],
    "DEVICE": DEVICES, "CHARACTERISTIC": [*UUIDS, b"180F/2A19", b"battery level"], "UUID": UUIDS,
    "VALUE": [b"2A39=01", b"01ff", b"on"], "HEX": [b"FFFF0102", b"00" * 16, b"FF" * 32, b"FFFF" + b"00" * 30, b"0"],
    "NAME": [b"Harald HR", b"Lamp", "Größe".encode()], "PSM": [b"128", b"65535"], "ANSWER": [b"yes", b"no", b"123456"],
    "MODE": [b"600", b"777", b"1000"], "KINDS": [b"links,misuse", b"state", b","], "UID": [b"0", b"4294967295"],
    "APP": [b"com.example.heart", b"heart-rate"], "BOND": [b"CB2E897C-E481-4D3F-B117-B799F0076361"], "GROUP": [b"root", b"no-such-group"],
    "PORT": [b"0", b"1", b"65535", b"65536"], "STAND-INS": [b"combine,os", b"all", b"none"], "ARGUMENTS": [b"-c", b"release"],
}  # fmt: skip


@dataclass
class Command:
    """A command, or a group of commands without one of them, as the tool describes it."""

    path: list[str]
    arguments: list[dict[str, Any]]
    # The exit statuses that its help names.
    statuses: set[int]

    def has(self, option: str) -> bool:
        return any(name["name"] == option for each in self.arguments for name in each.get("names") or [])


def commands(description: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[Command]:
    for each in description.get("subcommands", []):
        path = (*above, each["commandName"])
        if each.get("subcommands"):
            yield Command(list(path), [], {0, USAGE})
            yield from commands(each, path)
        else:
            yield Command(list(path), each.get("arguments", []), statuses(each))


def statuses(command: dict[str, Any]) -> set[int]:
    """The statuses in the last paragraph of the help that has some; 0 and a usage error are always possible."""
    found = re.findall(r"xit status.*?(?:\n\n|$)", command.get("discussion") or "", re.DOTALL)
    return {0, USAGE} | {int(each) for text in found for each in re.findall(r"\b\d{1,3}\b", text)}


@dataclass
class Line:
    """A command line, its surroundings, and the statuses that it may end with."""

    words: list[bytes]
    variables: dict[bytes, bytes]
    # "null", "closed", "text" or "open" (nothing is ever written); "kept", "gone" (the reader), "full" or "closed".
    stdin: str
    stdout: str
    stderr: str
    # When it is interrupted, in seconds.
    moment: float
    statuses: set[int]
    # Whether standard output has JSON alone.
    is_json: bool = False

    def in_shell(self, tool: str, folder: Path) -> str:
        """The line for bash."""
        variables = [name.decode() + "=" + quoted(value) for name, value in self.variables.items()]
        ways = [
            {"null": "< /dev/null", "closed": "<&-", "text": "< input", "open": "< <(sleep 60)"}[self.stdin],
            {"kept": "", "gone": "> >(exec true)", "full": "> /dev/full", "closed": ">&-"}[self.stdout],
            {"kept": "", "gone": "2> >(exec true)", "full": "2> /dev/full", "closed": "2>&-"}[self.stderr],
        ]
        parts = ["env", "-i", *variables, shlex.quote(tool), *map(quoted, self.words), *filter(None, ways)]
        return f"cd {shlex.quote(str(folder))} && " + " ".join(parts)


def quoted(octets: bytes) -> str:
    if octets and all(0x20 <= octet < 0x7F for octet in octets):
        return shlex.quote(octets.decode())
    plain = {ord("'"): "\\'", ord("\\"): "\\\\"}
    return "$'" + "".join(plain.get(each) or (chr(each) if 0x20 <= each < 0x7F else f"\\x{each:02x}") for each in octets) + "'"


@dataclass
class Maker:
    """Makes the line with a number. Lines do not depend on each other."""

    description: dict[str, Any]
    seed: int
    # Whether there are adapters that a line could take by mistake.
    has_adapters: bool = False
    commands: list[Command] = field(init=False)

    def __post_init__(self) -> None:
        self.commands = list(commands(self.description))

    def line(self, number: int) -> Line:
        dice = random.Random(f"{self.seed} {number}")
        first = dice.choice(sorted({each.path[0] for each in self.commands}))
        command = dice.choice([each for each in self.commands if each.path[0] == first])
        words = [word.encode() for word in command.path]
        isolated = [b"--print"] if command.path == ["install"] else []
        allowed = set(command.statuses)
        if not isolated and dice.random() < 0.05:
            words = self.mistyped(words, dice)
            # The word may be another command, or a group.
            allowed |= {status for each in self.commands for status in each.statuses}
        given = self.arguments(command, dice)
        if dice.random() < 0.03:
            given += [dice.choice([b"--help", b"-h", b"--version", b"--experimental-dump-help"])]
        if dice.random() < 0.02:
            given += [b"--generate-completion-script", dice.choice([b"bash", b"zsh", b"fish", b"nonsense"])]
        words += isolated + [each for each in given if each not in FORBIDDEN]
        variables = self.variables(command, dice)
        asks = {b"--help", b"-h", b"--version", b"--experimental-dump-help", b"--generate-completion-script"} & set(words)
        speaks_h4 = b"-" in words or b"--controller=-" in words or variables.get(b"HARALD_CONTROLLER") == b"-"
        before = words[: words.index(b"--")] if b"--" in words else words
        return Line(
            words, variables, dice.choice(["null", "null", "closed", "text", "open"]),
            dice.choices(["kept", "gone", "full", "closed"], [8, 1, 1, 1])[0], dice.choices(["kept", "gone", "full", "closed"], [8, 1, 1, 1])[0],
            dice.choice([0.3, 1.0, 2.0]), allowed, b"--json" in before and command.has("json") and not asks and not speaks_h4,
        )  # fmt: skip

    def mistyped(self, words: list[bytes], dice: random.Random) -> list[bytes]:
        at = dice.randrange(len(words))
        word = words[at]
        cut = dice.randrange(len(word))
        words[at] = dice.choice([word[:cut], word.upper(), word[:cut] + b"x" + word[cut:], word[cut:] + word[:cut], dice.choice(HOSTILE)])
        # A word that became `install` or another one that is left out.
        return words if words[0] != b"install" else [b"instal"]

    def arguments(self, command: Command, dice: random.Random) -> list[bytes]:
        """The arguments of a line: most of them as they should be, so that lines come past the parser."""
        parts: list[list[bytes]] = []
        for each in command.arguments:
            names = [name for name in each.get("names") or [] if name["kind"] == "long"]
            if each["kind"] == "positional":
                often = 0.3 if each["isOptional"] else 0.97
                if dice.random() < often:
                    value = self.value(each, dice)
                    parts.append([b"--", value] if each.get("parsingStrategy") == "postTerminator" else [value])
            elif names and names[0]["name"] not in ("help", "version"):
                option = b"--" + names[0]["name"].encode()
                often = 0.5 if option in (b"--controller", b"--json") else 1.5 / max(len(command.arguments), 3)
                while dice.random() < often:
                    parts.append(self.option(option, each, dice))
                    if dice.random() < 0.8:
                        break
        if dice.random() < 0.05:
            parts.append([dice.choice(HOSTILE)])
        if dice.random() < 0.05:
            parts.append([dice.choice([b"--frobnicate", b"-x", "-é".encode(), b"--=", b"--json=1", b"---", b"--\xff", b"--seconds", b"--store"])])
        if dice.random() < 0.3:
            dice.shuffle(parts)
        return [word for part in parts for word in part]

    def option(self, name: bytes, argument: dict[str, Any], dice: random.Random) -> list[bytes]:
        if argument["kind"] == "flag":
            return [name]
        if dice.random() < 0.02:
            return [name]
        value = self.value(argument, dice)
        return [name + b"=" + value] if dice.random() < 0.3 else [name, value]

    def value(self, argument: dict[str, Any], dice: random.Random) -> bytes:
        kind = argument.get("valueName") or ""
        if dice.random() < 0.12:
            return dice.choice([*HOSTILE, bytes(dice.randrange(1, 256) for _ in range(dice.randrange(1, 12))).replace(b"/", b"")])
        if allowed := argument.get("allValues"):
            return dice.choice(allowed).encode()
        values = VALUES.get(kind, DEVICES)
        if kind == "CONTROLLER" and self.has_adapters:
            values = [each for each in values if not each.startswith(b"hci")]
        return dice.choice(values)

    def variables(self, command: Command, dice: random.Random) -> dict[bytes, bytes]:
        """The environment, with homes and runtime directories in the folder, or missing."""
        found = {b"PATH": b"/usr/bin:/bin"}
        homes = [b"home", b"missing", b"empty", b"relative", b"nothing", None]
        for name in (b"HOME", b"XDG_RUNTIME_DIR"):
            if (home := dice.choice([b"home", b"home", b"home", *homes])) is not None:
                found[name] = b"" if home == b"nothing" else home if home == b"relative" else b"FOLDER/" + home
        if dice.random() < 0.1:
            found[dice.choice([b"XDG_STATE_HOME", b"XDG_CONFIG_HOME", b"XDG_DATA_HOME"])] = dice.choice([b"", b"relative", b"FOLDER/missing"])
        # Without a home, the user's own bonds are found by the user database, and some commands change them.
        if found.get(b"HOME", b"") == b"" or found.get(b"XDG_STATE_HOME") == b"":
            found[b"XDG_STATE_HOME"] = b"FOLDER/state"
        controller = dice.choice([*VALUES["CONTROLLER"], *HOSTILE])
        if self.has_adapters and (controller in HOSTILE or controller.startswith(b"hci")):
            controller = b"tcp:127.0.0.1:1"
        takes_both = command.has("controller") and command.has("service")
        if not command.has("controller") or (takes_both and dice.random() < 0.5):
            # Not the machine's service.
            found[b"HARALD_SERVICE"] = dice.choice([*[SERVICE] * 6, b"FOLDER/socket", b"FOLDER/missing", b"socket", b"x" * 300])
        elif self.has_adapters or takes_both or dice.random() < 0.7:
            found[b"HARALD_CONTROLLER"] = controller
        if takes_both and not found.get(b"HARALD_CONTROLLER") and b"HARALD_SERVICE" not in found:
            found[b"HARALD_SERVICE"] = b"FOLDER/missing"
        return found


def furnish(folder: Path, dice: random.Random) -> None:
    """The files that lines name."""
    for name in ("folder", "home", "bonds", "cut-bonds", "read-only"):
        (folder / name).mkdir()
    for path in ("empty", "bonds/lock"):
        (folder / path).write_bytes(b"")
    (folder / "garbage").write_bytes(dice.randbytes(dice.randrange(1, 4096)))
    record = (8).to_bytes(4, "big") * 2 + bytes(16)
    (folder / "cut.btsnoop").write_bytes((b"btsnoop\0" + (1).to_bytes(4, "big") + (1002).to_bytes(4, "big") + record)[: dice.randrange(50)])
    (folder / "cut.json").write_bytes(b'{"schema":1,"apps":[{"name":"heart'[: dice.randrange(35)])
    rules = 'pair app=com.example.* peer="Pulse" yes\napp name=* ask\n'
    (folder / "policy").write_text(rules)
    (folder / "cut-policy").write_text(rules[: dice.randrange(len(rules))])
    (folder / "input").write_bytes(dice.choice([b"yes\n" * 100, b"123456\n", dice.randbytes(300), b"no"]))
    for name, length in (("bonds/bonds", 116), ("bonds/secret", 64), ("cut-bonds/bonds", 7), ("cut-bonds/secret", 3)):
        (folder / name).write_bytes(dice.randbytes(length))
    for path in ("policy", "cut-policy", "bonds/bonds", "bonds/secret", "bonds/lock", "cut-bonds/bonds", "cut-bonds/secret"):
        (folder / path).chmod(0o600)
    for path in ("bonds", "cut-bonds", "home"):
        (folder / path).chmod(0o700)
    (folder / "read-only").chmod(0o500)
    (folder / "loop").symlink_to("loop")
    (folder / "link").symlink_to("empty")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "socket"))
