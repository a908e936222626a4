#!/usr/bin/env python3
"""Runs three gateways, a broker and sensors, kills them again and again, and checks that no value is lost.

    Examples/Gateway/lab.py                 processes of all kinds die and come back while the sensors measure
    Examples/Gateway/lab.py --measure       nothing dies; prints the throughput and the delay

Each gateway and the broker have a network namespace of their own, so this needs root. Sensors and gateways are on one
virtual radio. Needs swift build --build-tests in the root of the repository, whose build it shares.
"""
import argparse
import asyncio
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PACKAGES = {"mosquitto": "mosquitto", "mosquitto_sub": "mosquitto-clients", "/usr/include/mosquitto.h": "libmosquitto-dev",
            "/usr/include/sqlite3.h": "libsqlite3-dev", "ip": "iproute2", "nsenter": "util-linux"}
GATEWAYS = ["g1", "g2", "g3"]
# The broker keeps all for a subscriber that is away. It saves its state after some changes.
BROKER = """listener 1883 0.0.0.0
allow_anonymous true
user root
persistence true
persistence_location {folder}/
autosave_on_changes true
autosave_interval 200
max_inflight_messages 0
max_queued_messages 0
"""
# Seconds: between two deaths, until the process comes back, and for everything. The last one only ends a lab that hangs.
PAUSE, AWAY, PATIENCE = 2.5, 1.5, 240


def install() -> None:
    places = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    missing = [package for path, package in PACKAGES.items() if not Path(path).exists() and not shutil.which(path, path=places)]
    if os.geteuid():
        sys.exit("The lab needs root, for network namespaces: run it with sudo."
                 + (f" It also needs: apt-get install {' '.join(missing)}" if missing else ""))
    if missing:
        if not shutil.which("apt-get"):
            sys.exit(f"There is no apt-get here. Install what Debian calls {', '.join(missing)}, then run this again.")
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for words in [["update"], ["install", "-y", "--no-install-recommends", *missing]]:
            if subprocess.run(["apt-get", "-qq", *words], env=environment, stdout=subprocess.DEVNULL, check=False).returncode:
                sys.exit(f"apt-get {words[0]} failed. The lab needs {', '.join(missing)}.")
    if subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode:
        sys.exit("The lab may not make network namespaces here. A container needs to be privileged for it.")


def build() -> Path:
    """Builds the package and runs its unit tests."""
    scratch = ROOT / ".build"
    done = subprocess.run(["swift", "test", "--package-path", str(HERE), "--scratch-path", str(scratch)],
                          cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        sys.exit(done.stdout[-8000:])
    return scratch / "debug"


class Relay:
    """Offers the controllers of a TCP port at a Unix socket, which processes of every network namespace can reach."""

    def __init__(self, path: Path, port: int) -> None:
        self.path, self.port = path, port
        threading.Thread(target=lambda: asyncio.run(self.serve()), daemon=True).start()
        while not path.exists():
            time.sleep(0.01)

    async def serve(self) -> None:
        server = await asyncio.start_unix_server(self.connect, str(self.path))
        await server.serve_forever()

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            # At the end the controllers are killed first, while programs still look for them.
            return writer.close()
        await asyncio.gather(self.copy(reader, far_writer), self.copy(far_reader, writer))

    @staticmethod
    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while octets := await reader.read(65536):
                writer.write(octets)
                await writer.drain()
        except OSError:
            pass
        writer.close()


class Verdict(NamedTuple):
    values: int
    duplicates: int
    marked: int
    # The numbers of values that are lost, wrong, or repeated without a mark.
    faults: dict[str, list[tuple[str, int]]]


def judge(messages: list[dict], sensors: list[str], records: int) -> Verdict:
    """Compares what a subscriber has received with what the sensors have measured."""
    copies: dict[tuple[str, int], list[dict]] = {}
    for message in messages:
        copies.setdefault((message["sensor"], message["sequence"]), []).append(message)
    expected = [(sensor, number) for sensor in sensors for number in range(1, records + 1)]
    # Equal messages are one that the broker has delivered again. A gateway notes when it publishes.
    published = {key: {json.dumps(each, sort_keys=True) for each in all if not each.get("repeated")} for key, all in copies.items()}
    faults = {
        "lost": [key for key in expected if key not in copies],
        "wrong": [key for key, all in copies.items() if any(each["value"] != key[1] * 7 % 65536 for each in all)],
        "repeated without a mark": [key for key, texts in published.items() if len(texts) > 1],
    }
    return Verdict(len(copies), len(messages) - len(copies), sum(bool(each.get("repeated")) for each in messages), faults)


def advice(log: str) -> list[str]:
    """The advice in what programs have printed, without hints, and without 12.29: the machine may stop any callback."""
    lines = [line for line in log.splitlines() if re.match(r"12\.(?!29 )\d+ ", line)]
    return [line for line in lines if not line.endswith("(A hint only.)")]


class Lab:
    def __init__(self, folder: Path, binaries: Path, sensors: int, records: int, period: int) -> None:
        self.folder, self.binaries, self.records, self.period = folder, binaries, records, period
        self.sensors = [f"S{number}" for number in range(1, sensors + 1)]
        self.processes: dict[str, subprocess.Popen] = {}
        self.spaces: dict[str, int] = {}
        self.deaths: dict[str, int] = {}

    # Network namespaces, each held by a process. A bridge in that of the broker connects them.

    def make_spaces(self) -> None:
        for name in ["broker", *GATEWAYS]:
            holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
            self.processes[f"space {name}"] = holder
            self.spaces[name] = holder.pid
        own = os.stat("/proc/self/ns/net").st_ino
        while any(os.stat(f"/proc/{pid}/ns/net").st_ino == own for pid in self.spaces.values()):
            time.sleep(0.01)
        self.run_in("broker", "ip", "link", "add", "hub", "type", "bridge")
        self.run_in("broker", "ip", "address", "add", "10.9.0.1/24", "dev", "hub")
        for link in ["lo", "hub"]:
            self.run_in("broker", "ip", "link", "set", link, "up")
        for number, name in enumerate(GATEWAYS, 11):
            subprocess.run(["ip", "link", "add", name, "netns", str(self.spaces["broker"]), "type", "veth", "peer", "name", "net0",
                            "netns", str(self.spaces[name])], check=True)
            self.run_in("broker", "ip", "link", "set", name, "master", "hub", "up")
            self.run_in(name, "ip", "address", "add", f"10.9.0.{number}/24", "dev", "net0")
            self.run_in(name, "ip", "link", "set", "net0", "up")

    def enter(self, space: str) -> list[str]:
        return ["nsenter", f"--net=/proc/{self.spaces[space]}/ns/net"]

    def run_in(self, space: str, *command: str) -> None:
        subprocess.run([*self.enter(space), *command], check=True)

    # Processes

    def start(self, name: str) -> None:
        environment = {**os.environ, "HARALD_ADVICE": "1", "HARALD_CONTROLLER": f"unix:{self.folder}/radio", "HOME": str(self.folder / name),
                       "XDG_RUNTIME_DIR": str(self.folder / name), "XDG_STATE_HOME": str(self.folder / name)}
        (self.folder / name).mkdir(exist_ok=True, mode=0o700)
        match name:
            case "broker":
                configuration = self.folder / "broker.conf"
                configuration.write_text(BROKER.format(folder=self.folder / name))
                command = [*self.enter("broker"), "mosquitto", "-c", str(configuration)]
                environment["PATH"] += ":/usr/sbin"
            case "subscriber":
                command = [*self.enter("broker"), "mosquitto_sub", "-h", "10.9.0.1", "-q", "1", "-c", "-i", "subscriber", "-t", "harald/#",
                           "-F", "%U %p"]
            case _ if name in GATEWAYS:
                command = [*self.enter(name), str(self.binaries / "gateway"), name, f"{self.folder}/{name}/store.db", "10.9.0.1:1883"]
            case _:
                command = [str(self.binaries / "sensor"), name, f"{self.folder}/{name}/flash", str(self.period), str(self.records)]
        log = (self.folder / f"{name}.log").open("a")
        self.processes[name] = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)

    def kill(self, name: str) -> None:
        """Ends a process as the loss of power does, and the broker with time to save its state.

        This broker acknowledges a message before it is on disk. What it then loses, no gateway could send again.
        """
        self.processes[name].send_signal(signal.SIGTERM if name == "broker" else signal.SIGKILL)
        self.processes[name].wait()
        self.deaths[name] = self.deaths.get(name, 0) + 1

    def is_running(self, name: str) -> bool:
        return self.processes[name].poll() is None

    def begin(self) -> None:
        self.make_spaces()
        harald = subprocess.Popen([self.binaries / "harald", "controllers", "--listen", "0", "--json"], stdout=subprocess.PIPE, text=True)
        self.processes["radio"] = harald
        Relay(self.folder / "radio", json.loads(harald.stdout.readline())["port"])
        self.start("broker")
        time.sleep(1)
        self.start("subscriber")
        time.sleep(1)
        for name in [*GATEWAYS, *self.sensors]:
            self.start(name)

    def end(self) -> None:
        for process in self.processes.values():
            if process.poll() is None:
                process.kill()
        for process in self.processes.values():
            process.wait()

    # Progress

    def waiting(self) -> int:
        """The number of values in the stores of the gateways."""
        count = 0
        for name in GATEWAYS:
            path = self.folder / name / "store.db"
            if path.exists():
                with sqlite3.connect(path, timeout=30) as store:
                    count += store.execute("SELECT count(*) FROM waiting").fetchone()[0]
        return count

    def is_done(self) -> bool:
        return not any(self.is_running(each) for each in self.sensors) and self.waiting() == 0

    def received(self) -> Iterator[tuple[float, dict]]:
        for line in (self.folder / "subscriber.log").read_text().splitlines():
            moment, _, text = line.partition(" ")
            if text.startswith("{"):
                yield float(moment), json.loads(text)

    def disturb(self, seed: int) -> None:
        """Kills processes at random while the sensors measure, each kind as often as the others."""
        chance = random.Random(seed)
        end = time.monotonic() + self.records * self.period / 1e6
        kinds = [GATEWAYS, self.sensors, ["broker"]]
        number = 0
        while time.monotonic() < end:
            time.sleep(PAUSE - AWAY)
            victim = chance.choice(kinds[number % len(kinds)])
            number += 1
            if self.is_running(victim):
                self.kill(victim)
                time.sleep(AWAY)
                self.start(victim)

    def wait(self) -> None:
        end = time.monotonic() + PATIENCE
        while not self.is_done():
            fallen = [each for each in [*GATEWAYS, "broker", "subscriber", "radio"] if not self.is_running(each)]
            if fallen or time.monotonic() > end:
                self.explain(f"these have ended: {', '.join(fallen)}" if fallen else f"{self.waiting()} values wait for the broker")
            time.sleep(0.2)
        # What the broker has accepted reaches the subscriber.
        time.sleep(2)

    def explain(self, text: str) -> None:
        for log in sorted(self.folder.glob("*.log")):
            if log.name != "subscriber.log":
                print(f"--- {log.name}\n{log.read_text()[-1500:]}")
        sys.exit(f"lab: {text}")

    def check(self) -> None:
        verdict = judge([message for _, message in self.received()], self.sensors, self.records)
        print(f"lab: {verdict.values} values of {len(self.sensors)} sensors, {verdict.duplicates} duplicates, "
              f"{verdict.marked} messages marked as repeated")
        print("lab: deaths: " + (", ".join(f"{name} {count}" for name, count in sorted(self.deaths.items())) or "none"))
        for name, found in verdict.faults.items():
            if found:
                self.explain(f"{len(found)} values are {name}, such as {found[:3]}")
        print("lab: no value is lost, and of the copies of a value at most one is without a mark")

    def advise(self) -> None:
        """Ends the gateways as a service manager does, and fails if their log or that of a sensor has advice."""
        for name in GATEWAYS:
            self.processes[name].terminate()
            self.processes[name].wait(timeout=PATIENCE)
        found = advice("".join((self.folder / f"{name}.log").read_text() for name in [*GATEWAYS, *self.sensors]))
        if found:
            sys.exit("\n".join([f"lab: the programs could do better in {len(found)} ways", *found]))
        print("lab: the programs follow the good practices")

    def report(self) -> None:
        first: dict[tuple[str, int], tuple[float, dict]] = {}
        for moment, message in self.received():
            first.setdefault((message["sensor"], message["sequence"]), (moment, message))
        # Without the values from before all sensors were connected.
        first = {key: copy for key, copy in first.items() if key[1] > self.records // 2}
        moments = sorted(moment for moment, _ in first.values())
        delays = {
            "from the measurement to the subscriber": sorted(moment - message["made"] / 1e6 for moment, message in first.values()),
            "from the gateway to the subscriber": sorted(moment - message["received"] / 1e6 for moment, message in first.values()),
        }
        print(f"lab: {len(moments) / (moments[-1] - moments[0]):.0f} values a second")
        for name, values in delays.items():
            middle, high = values[len(values) // 2], values[len(values) * 99 // 100]
            print(f"lab: {name}: median {middle * 1000:.0f} ms, 99 % within {high * 1000:.0f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true", help="let nothing die, and print the throughput and the delay")
    parser.add_argument("--sensors", type=int, default=6)
    parser.add_argument("--records", type=int, default=1_000, help="the number of values of each sensor")
    parser.add_argument("--period", type=int, default=20_000, help="microseconds between two values of a sensor")
    parser.add_argument("--seed", type=int, default=1, help="which processes die when")
    options = parser.parse_args()
    install()
    binaries = build()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(Path(folder), binaries, options.sensors, options.records, options.period)
        try:
            lab.begin()
            if not options.measure:
                lab.disturb(options.seed)
            lab.wait()
            lab.check()
            lab.report()
            lab.advise()
        finally:
            lab.end()
    print(f"lab: it took {time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main()
