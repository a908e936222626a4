#!/usr/bin/env python3
"""Proves that the search finds faults: plants those below, builds the tests, and searches for each.

    Scripts/planted.py                 all of them, up to a few minutes each, by hand
    Scripts/planted.py --list          shows them with their numbers
    Scripts/planted.py --only 3,7      some of them
    Scripts/planted.py --program PATH  with the tests at PATH, which are built and copied there if they are missing

Each fault is a small change of one source file. All are planted at once, so that one build has them; the environment
variable HARALD_PLANTED_FAULT chooses the one that a process has, by its number.

Changes files of this checkout, and restores them. A fault is found if the search reports what it causes, which each plant
says; after other findings the search goes on with later seeds. Fails if a fault is not found within ten minutes, or if the
steps that show it are ten or more.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 600
MAXIMUM_STEPS = 9
TESTS = ROOT / ".build" / "debug" / "harald-bluetoothPackageTests.xctest"
BUILD = ["swift", "build", "--build-tests", "--explicit-target-dependency-import-check", "error"]


class Plant(NamedTuple):
    name: str
    path: str
    old: str
    # With IS_PLANTED in place of the condition that the process has this fault.
    new: str
    # An expression for the finding that proves the fault: the check, a colon, and the text. The search may also come
    # across other faults of Harald, and they prove nothing.
    proof: str


VARIABLE = "HARALD_PLANTED_FAULT"
CHOICE = f"""
import Glibc
private let plantedFault = getenv("{VARIABLE}").map {{ atoi($0) }} ?? 0
"""

PLANTS = [
    Plant(
        "lost wake-up: values do not wake an app that was in front three times",
        "Sources/System/BluetoothService/Managers/ProcessLifecycle.swift",
        "        guard phase == .suspended || machine.isRenewed, rules.wakes(role) else { return }\n",
        "        guard phase == .suspended || machine.isRenewed, rules.wakes(role) else { return }\n"
        "        if IS_PLANTED, lastInFront > 2, case .central(.peer(_, .valueNotified)) = event { return }\n",
        "a value wakes the app: it does not",
    ),
    Plant(
        "a subscription is not restored: a new process is told of no subscribers",
        "Sources/System/BluetoothService/Peripherals/PeripheralSession.swift",
        "subscriptions: Array(subscriptions.prefix(ServiceLimits.restoredSubscriptions))",
        "subscriptions: Array(subscriptions.prefix(IS_PLANTED ? 0 : ServiceLimits.restoredSubscriptions))",
        r"subscriptions: .*, which have 0 subscribers",
    ),
    Plant(
        "swapped key: a peripheral takes its own identity key for that of the central",
        "Sources/Stack/SMP/Pairing/KeyDistribution.swift",
        "received.identity = .init(key: packet.key, address: .none)",
        "received.identity = .init(key: IS_PLANTED && role == .responder ? own.key : packet.key, address: .none)",
        "connected, subscribed and paired: not .* after all faults had ended",
    ),
    Plant(
        "credit leak: of nine and more credits, one does not come back",
        "Sources/System/BluetoothService/Managers/CreditBatch.swift",
        "let taken = (count: due, isAwaited: spent >= limit)",
        "let taken = (count: IS_PLANTED && due > 8 ? due - 1 : due, isAwaited: spent >= limit)",
        r"credits: .* has not got back \d+ credits",
    ),
    Plant(
        "a call without an answer: reads from a peer that was lost once",
        "Sources/System/BluetoothService/Centrals/CentralSession.swift",
        "        link.perform(request, for: Asker(user: user, number: number), in: manager.channels)\n",
        "        if IS_PLANTED, lost.contains(link.peer), case .readCharacteristic = request { return }\n"
        "        link.perform(request, for: Asker(user: user, number: number), in: manager.channels)\n",
        "an answer to each call: .* has waited for the answer to \"readCharacteristic\"",
    ),
    Plant(
        "a repeated event: the first value that waits for an app that was in front three times is delivered twice",
        "Sources/System/BluetoothService/Managers/AppManager.swift",
        "        isHeld = false\n        return sink.map",
        "        isHeld = false\n"
        "        let values = mailbox.waiting.filter {\n"
        "            if case .central(.peer(_, .valueNotified)) = $0 { true } else { false }\n"
        "        }\n"
        "        if IS_PLANTED, lifecycle.lastInFront > 2, let first = values.first { sink?.accept(first, on: loop) }\n"
        "        return sink.map",
        r"values arrive in order, once: (\d+) arrived after \1\b",
    ),
    Plant(
        "a link is left over: the last app lets go of no second link to the same peer",
        "Sources/System/BluetoothService/Centrals/CentralSession.swift",
        "            manager.channels.disconnect(from: peer)\n            link.detach(user)",
        "            manager.channels.disconnect(from: peer)\n"
        "            if !IS_PLANTED || !lost.contains(peer) { link.detach(user) }",
        r"nothing left over: .*: \d+ links",
    ),
    Plant(
        "a trap: a link that ends in the background",
        "Sources/System/BluetoothService/Centrals/CentralSession.swift",
        "        if isReconnecting {\n            uses[peer] = .connecting\n",
        "        precondition(!IS_PLANTED || manager.lifecycle.rules.restartsScans)\n"
        "        if isReconnecting {\n            uses[peer] = .connecting\n",
        r"the process survives: it was ended by signal \d+\n.*CentralSession\.swift:\d+: Precondition failed",
    ),
    Plant(
        "a time-out that does nothing: a request that is never answered",
        "Sources/Stack/ATT/ATTBearer.swift",
        "deadline <= loop.now { return close(.requestTimeout) }",
        "deadline <= loop.now { return IS_PLANTED ? () : close(.requestTimeout) }",
        "connected, subscribed and paired: not .* after all faults had ended|an answer to each call: ",
    ),
    Plant(
        "wrong order: values that wait overtake each other",
        "Sources/System/BluetoothService/Peripherals/PeripheralSession.swift",
        "        updates.append((handle, value, centrals))",
        "        updates.insert((handle, value, centrals), at: IS_PLANTED ? max(0, updates.count - 2) : updates.count)",
        r"values arrive in order, once: \d+ arrived after \d+",
    ),
    # Faults that an invariant of a machine has to find: the assertion is what ends the process.
    Plant(
        "a packet is not reported: its acknowledgement comes with more data",
        "Sources/Controllers/LinkLayer/Connection/Link.swift",
        "        if outgoing.endsPacket {\n            owedPackets",
        "        if outgoing.endsPacket, !(IS_PLANTED && peerHasMore) {\n            owedPackets",
        r"Assertion failed: \d+ packets are queued, and the host waits for \d+",
    ),
    Plant(
        "a timer is left: a bearer that is closed while its link lasts, or with it",
        "Sources/Stack/ATT/ATTBearer.swift",
        "        if let timer = timer.take() { loop.cancel(timer) }\n        peerRequests",
        "        if !IS_PLANTED, let timer = timer.take() { loop.cancel(timer) }\n        peerRequests",
        "Assertion failed: a closed bearer has transactions or a timer",
    ),
    Plant(
        "a handle has two owners: a controller gives a second link the handle of the first one",
        "Sources/Controllers/LinkLayer/LinkTable.swift",
        "        return ConnectionHandle(rawValue: lastHandle)\n",
        "        return ConnectionHandle(rawValue: IS_PLANTED ? 1 : lastHandle)\n",
        "Assertion failed: two links have one handle",
    ),
    Plant(
        "a central is not forgotten: the session of a link that has ended stays in the table",
        "Sources/System/BluetoothService/Links/ServedCentrals.swift",
        "            sessions[central] = nil\n",
        "            if !IS_PLANTED { sessions[central] = nil }\n",
        "Assertion failed: a session serves another central",
    ),
    Plant(
        "a quota leaks: a request of an app that has others on the link is counted for ever",
        "Sources/System/BluetoothService/Links/LinkOperations.swift",
        "        counts[app] = count > 1 ? count - 1 : nil\n",
        "        counts[app] = count > 1 ? count - (IS_PLANTED ? 0 : 1) : nil\n",
        "Assertion failed: the counts of requests do not add up",
    ),
    Plant(
        "a caller is kept: one that gets an error instead of a secure link",
        "Sources/Stack/SMP/Security/SecurityManager.swift",
        "            completions.removeValue(forKey: number)?(error.map(Result.failure) ?? .success(()))\n",
        "            let caller = IS_PLANTED && error != nil ? completions[number] : completions.removeValue(forKey: number)\n"
        "            caller?(error.map(Result.failure) ?? .success(()))\n",
        r"Assertion failed: \d+ callers wait, of whom the machine has \d+",
    ),
    Plant(
        "a debt outlives its link: the outcome of the encryption of a link that has ended is still owed",
        "Sources/Stack/HCIHost/LinkWatch.swift",
        "(debts[.end(handle)], debts[.encryption(handle)]) = (nil, nil)",
        "debts = debts.filter { $0.key != .end(handle) && (IS_PLANTED || $0.key != .encryption(handle)) }",
        "Assertion failed: something is owed about a link that has ended",
    ),
    Plant(
        "a buffer is lost: a link ends while the controller holds data of it",
        "Sources/Stack/HCIHost/Connections/ACLSender.swift",
        "        _ = complete(outbox.outstanding, of: outbox)\n",
        "        if !IS_PLANTED { _ = complete(outbox.outstanding, of: outbox) }\n",
        r"Assertion failed: \d+ free buffers and \d+ packets in the controller",
    ),
    Plant(
        "a subscriber counts twice: a manager subscribes to what it has subscribed to",
        "Sources/System/BluetoothService/Links/SubscriptionArbiter.swift",
        "        } else if !subscribers.contains(entry.subscriber) {\n",
        "        } else if IS_PLANTED || !subscribers.contains(entry.subscriber) {\n",
        "Assertion failed: a manager is subscribed twice",
    ),
    Plant(
        "an address is left over: a bonded peer keeps the private address that it had before its identity was known",
        "Sources/System/BluetoothService/Peers/PeerTable.swift",
        "        if peer.address != address, identifiers[peer.address] == identifier {",
        "        if !IS_PLANTED, peer.address != address, identifiers[peer.address] == identifier {",
        "Assertion failed: an address belongs to a peer that is not in the table",
    ),
]


def plant(source: str, number: int, fault: Plant) -> str:
    """Returns the source with a fault; fails unless there is exactly one place for it."""
    if source.count(fault.old) != 1:
        raise ValueError(f"{fault.path} has {source.count(fault.old)} places for \"{fault.name}\"")
    choice = "" if CHOICE in source else CHOICE
    return source.replace(fault.old, fault.new.replace("IS_PLANTED", f"(plantedFault == {number})")) + choice


def planted(root: Path) -> dict[Path, str]:
    """The files that have faults when all are planted, with their texts."""
    texts: dict[Path, str] = {}
    for number, fault in enumerate(PLANTS, 1):
        path = root / fault.path
        texts[path] = plant(texts.get(path) or path.read_text(), number, fault)
    return texts


def proves(found: dict, fault: Plant) -> bool:
    """Whether a finding in the report of a search is the one that the fault causes."""
    return re.search(fault.proof, f"{found['check']}: {found['text']}") is not None


def build(program: Path | None) -> None:
    """Plants all faults, builds the tests, and restores the files."""
    texts = planted(ROOT)
    sound = {path: path.read_text() for path in texts}
    try:
        for path, text in texts.items():
            path.write_text(text)
        compile_tests()
    finally:
        for path, text in sound.items():
            path.write_text(text)
    if program:
        shutil.copy2(TESTS, program)


def compile_tests() -> None:
    ended = subprocess.run(BUILD, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if ended.returncode:
        sys.exit(f"{ended.stdout[-3000:]}\nScripts/planted.py: the build failed")


def search(number: int, first: int, seconds: int, options: argparse.Namespace) -> dict | None:
    """The first failure that the search finds from a seed on, with one of the faults; None if there is none."""
    seeds = f"{first}-{first + 100_000}"
    command = [str(ROOT / "Scripts" / "search"), "--seeds", seeds, "--seconds", str(seconds), "--json"]
    command += ["--program", str(options.program or TESTS)]
    if options.workers:
        command += ["--workers", str(options.workers)]
    ended = subprocess.run(command, cwd=ROOT, env=os.environ | {VARIABLE: str(number)}, stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True, check=False)
    try:
        found = json.loads(ended.stdout)["found"]
    except ValueError:
        sys.exit(f"{ended.stdout[-3000:]}\nScripts/planted.py: the search failed")
    return found[0] if found else None


def prove(number: int, fault: Plant, options: argparse.Namespace) -> dict | None:
    """The finding that proves a fault."""
    (seed, end) = (1, time.monotonic() + options.seconds)
    while (left := round(end - time.monotonic())) > 0:
        found = search(number, seed, left, options)
        if found is None or proves(found, fault):
            return found
        print(f"   not what it causes: seed {found['seed']}: {found['check']}: {found['text']}", flush=True)
        seed = found["seed"] + 1
    return None


def attempt(number: int, fault: Plant, options: argparse.Namespace) -> bool:
    """Searches for a fault, and returns whether it was found soon enough."""
    begin = time.monotonic()
    found = prove(number, fault, options)
    if found is None:
        print(f"{number}. {fault.name}: NOT FOUND", flush=True)
        return False
    (steps, seconds) = (found["steps"], round(time.monotonic() - begin))
    print(f"{number}. {fault.name}: found in {seconds} s with seed {found['seed']} by \"{found['check']}\", "
          f"{len(steps)} steps: {' '.join(steps)}", flush=True)
    return len(steps) <= MAXIMUM_STEPS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="show the faults")
    parser.add_argument("--only", help="the numbers of some faults")
    parser.add_argument("--seconds", type=int, default=SECONDS, help="the time for each search; ten minutes by default")
    parser.add_argument("--workers", type=int, help="the number of processes of the search")
    parser.add_argument("--program", type=Path, help="the tests with the faults, for several calls")
    options = parser.parse_args()
    chosen = [int(number) for number in options.only.split(",")] if options.only else range(1, len(PLANTS) + 1)
    if options.list:
        for number in chosen:
            print(f"{number}. {PLANTS[number - 1].name} ({PLANTS[number - 1].path})")
        return 0
    if not (options.program and options.program.exists()):
        build(options.program)
        print("the tests are built, with all faults; build them anew after this", flush=True)
    results = [attempt(number, PLANTS[number - 1], options) for number in chosen]
    print(f"{results.count(True)} of {len(results)} faults were found with less than ten steps.")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
