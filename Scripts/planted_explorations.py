#!/usr/bin/env python3
"""Proves that the explorations find faults: plants each of those below alone, and explores.

    Scripts/planted_explorations.py                 all of them, by hand
    Scripts/planted_explorations.py --list          shows them with their numbers
    Scripts/planted_explorations.py --only 3,7      some of them

Each suite has some: small changes of one source file each. Works on a copy of the checkout in .build/explorations, with
these tests only. Fails if an exploration does not find a fault, or finds one in the copy without faults.
"""
import argparse
import filecmp
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
COPY = ROOT / ".build" / "explorations"
COPIED = ["Sources", "Tests", "Examples", "Package.resolved"]
BUNDLE = COPY / ".build" / "debug" / "harald-bluetoothPackageTests.xctest"
# The manifest of the copy keeps these tests and what they are made of; of their files, those that explore.
FILTER = """
let kept: [String: Set<String>] = [{tests}]
for target in package.targets {{
    guard let imported = kept[target.name] else {{ continue }}
    target.sources = ["Exploration"]
    target.dependencies.removeAll {{ dependency in
        switch dependency {{
        case .targetItem(let name, _), .byNameItem(let name, _): !imported.contains(name)
        default: true
        }}
    }}
}}
var closure = Set(kept.keys)
var isGrowing = true
while isGrowing {{
    isGrowing = false
    for target in package.targets where closure.contains(target.name) {{
        for dependency in target.dependencies {{
            switch dependency {{
            case .targetItem(let name, _), .byNameItem(let name, _):
                if closure.insert(name).inserted {{ isGrowing = true }}
            default: break
            }}
        }}
    }}
}}
package.products = []
package.targets.removeAll {{ !closure.contains($0.name) }}
"""


class Defect(NamedTuple):
    name: str
    path: str
    old: str
    new: str


def plant(source: str, defect: Defect) -> str:
    """Returns the source with a defect; fails unless there is exactly one place for it."""
    if source.count(defect.old) != 1:
        raise ValueError(f"{defect.path} has {source.count(defect.old)} places for \"{defect.name}\"")
    return source.replace(defect.old, defect.new)


MACHINE = "Sources/Stack/SMP/Pairing/PairingMachine.swift"
ENCRYPTION = "Sources/Controllers/LinkLayer/Encryption/EncryptionMachine.swift"
LIFECYCLE = "Sources/System/BluetoothService/Lifecycle/AppLifecycle.swift"
BEARERS = "Sources/Stack/ATT/Enhanced/EnhancedBearerMachine.swift"

PLANTS = {
    "SMPTests.PairingExplorationTests": [
        Defect(
            "a short key is accepted",
            "Sources/Stack/SMP/Pairing/PairingNegotiation.swift",
            "guard keySize >= max(configuration.minimumKeySize, demand.level.minimumKeySize) else {",
            "guard keySize >= 7 else {",
        ),
        Defect(
            "keys are distributed although encryption has failed",
            MACHINE,
            "        guard isEncrypted else { return end(.encryptionFailed) }\n",
            "",
        ),
        Defect(
            "a device is done before the peer's last key has arrived",
            "Sources/Stack/SMP/Pairing/KeyDistribution.swift",
            "        guard expected.isEmpty else { return [] }\n",
            "        guard expected.count <= 1 else { return [] }\n",
        ),
        Defect(
            "a time-out does not end the pairing",
            MACHINE,
            "            state = .dead\n            return [.closePrompt, .failed(.timedOut)]",
            "            return [.closePrompt]",
        ),
        Defect(
            "the peer is not told that the pairing has failed",
            MACHINE,
            "        [.send(.failed(PairingFailed(reason)))] + end(.refused(reason))",
            "        end(.refused(reason))",
        ),
    ],
    "LinkLayerTests.EncryptionExplorationTests": [
        Defect(
            "data are not held back while the key is refreshed",
            ENCRYPTION,
            "return [.hold, .send(.pauseEncryptionRequest)]",
            "return [.send(.pauseEncryptionRequest)]",
        ),
        Defect(
            "a refused refresh leaves the link in the clear",
            ENCRYPTION,
            "            return [.terminate(error)]",
            "            return [.reportRefresh(error), .release]",
        ),
        Defect(
            "the last PDU of the start is sent in the clear",
            ENCRYPTION,
            "                .transmit(session), .send(.startEncryptionResponse), report(.success, isRefresh), .release,",
            "                .send(.startEncryptionResponse), .transmit(session), report(.success, isRefresh), .release,",
        ),
        Defect(
            "a request is not refused for lack of a key",
            ENCRYPTION,
            "[.terminate(.pinOrKeyMissing)] : [.refuse(.pinOrKeyMissing), .release]",
            "[.terminate(.pinOrKeyMissing)] : [.release]",
        ),
    ],
    "LinkLayerTests.LinkControlExplorationTests": [
        Defect(
            "a request waits although the host has declined the peer's",
            "Sources/Controllers/LinkLayer/Control/LinkControl+Instants.swift",
            "        refuse(.connectionParamReq, reason)\n        startNext()\n",
            "        refuse(.connectionParamReq, reason)\n",
        ),
        Defect(
            "a request that collides is not answered",
            "Sources/Controllers/LinkLayer/Control/LinkControl+Instants.swift",
            "if procedures.isAnswered { emit(.end(error)) } else { refuse(opcode, error) }",
            "if procedures.isAnswered { emit(.end(error)) }",
        ),
        Defect(
            "a peripheral changes its timing an event too late",
            "Sources/Controllers/LinkLayer/Control/LinkControl+Instants.swift",
            "begin(.timing(pdu), at: pdu.instant, isOwn: isOwn)",
            "begin(.timing(pdu), at: pdu.instant &+ 1, isOwn: isOwn)",
        ),
        Defect(
            "a peripheral confuses the directions of the PHYs",
            "Sources/Controllers/LinkLayer/Control/LinkControl+PHY.swift",
            "Change.phy(tx: pdu.peripheralToCentral.single, rx: pdu.centralToPeripheral.single)",
            "Change.phy(tx: pdu.centralToPeripheral.single, rx: pdu.peripheralToCentral.single)",
        ),
        Defect(
            "PDUs that wait for the end of encryption are forgotten",
            "Sources/Controllers/LinkLayer/Control/LinkControl.swift",
            "        while let bytes = postponed.popFirst() { handleNow(bytes) }",
            "        postponed = []",
        ),
        Defect(
            "data lengths that are received are not adopted",
            "Sources/Controllers/LinkLayer/Control/LinkControl.swift",
            "        dataLength.adopt(pdu)\n",
            "        if !isRequest { dataLength.adopt(pdu) }\n",
        ),
    ],
    "L2CAPTests.SignallingExplorationTests": [
        Defect(
            "a channel that a late response opens is not closed",
            "Sources/Stack/L2CAP/Signalling/SignallingMachine.swift",
            "[.discarded(.unexpected(packet.code))] + (try endLate(packet))",
            "[.discarded(.unexpected(packet.code))]",
        ),
        Defect(
            "a channel that the peer closes stays open",
            "Sources/Stack/L2CAP/Signalling/SignallingMachine+Changing.swift",
            "        endpoints[request.destination] = nil\n",
            "",
        ),
        Defect(
            "one credit of each grant is lost",
            "Sources/Stack/L2CAP/CreditBased/FrameReceiver.swift",
            "        return UInt16(window - outstanding)",
            "        return UInt16(window - outstanding - 1)",
        ),
        Defect(
            "the identifiers of a request that fails are lost",
            "Sources/Stack/L2CAP/Signalling/SignallingMachine.swift",
            "            for channel in channels { endpoints[channel] = nil }\n",
            "",
        ),
        Defect(
            "a frame is sent without a credit",
            "Sources/Stack/L2CAP/CreditBased/FrameSender.swift",
            "        guard credits > 0 else { return nil }",
            "        guard credits >= 0 else { return nil }",
        ),
        Defect(
            "larger sizes apply only once the peer has agreed",
            "Sources/Stack/L2CAP/Signalling/SignallingMachine+Changing.swift",
            "        return zip(channels, current).map { channel, endpoint in\n"
            "            .resized(channel, mtu: mtu, mps: max(mps, endpoint.parameters.mps))\n        } + actions",
            "        return actions",
        ),
        Defect(
            "smaller frames are demanded before the peer knows of it",
            "Sources/Stack/L2CAP/Signalling/SignallingMachine+Changing.swift",
            "mps: max(mps, endpoint.parameters.mps))",
            "mps: mps)",
        ),
    ],
    "ATTTests.EnhancedBearerExplorationTests": [
        Defect(
            "a peripheral does not wait after a collision",
            BEARERS,
            "        if role == .central { return",
            "        if attempts >= 0 { return",
        ),
        Defect(
            "a request without anything left to open has no outcome",
            BEARERS,
            "            state = .idle\n            return [.finished(nil)]",
            "            state = .idle\n            return []",
        ),
        Defect(
            "bearers that are open are requested again",
            BEARERS,
            "return [.request(wanted - open)]",
            "return [.request(wanted)]",
        ),
    ],
    "BluetoothServiceTests.AppExplorationTests": [
        Defect(
            "an event for an app that is slowed down is forgotten",
            LIFECYCLE,
            "case (.slowedDown, .eventDelivered): return move(to: .slowedDown(hasEvent: true), [])",
            "case (.slowedDown, .eventDelivered): return []",
        ),
        Defect(
            "an app that is woken has no end of its time",
            LIFECYCLE,
            "return move(to: .woken(hasTask: false), [.resume, .startTimer(Self.wakeTime)])",
            "return move(to: .woken(hasTask: false), [.resume])",
        ),
        Defect(
            "an event during the pause before a launch is forgotten",
            "Sources/System/BluetoothService/Lifecycle/LaunchBackoff.swift",
            "            state = .pausing(isWanted: true)",
            "            state = .pausing(isWanted: false)",
        ),
        Defect(
            "a change during a save is not saved",
            "Sources/System/BluetoothService/Records/RecordKeeper.swift",
            "        if !isCurrent {\n            save(slot, for: ended.later)\n",
            "        if !isCurrent {\n            slots[slot]?.phase = .durable\n            ended.later.forEach { $0() }\n",
        ),
        Defect(
            "a change counts as saved when an older save ends",
            "Sources/System/BluetoothService/Records/RecordKeeper.swift",
            "if save.record == record { save.waiting += waiting } else { save.later += waiting }",
            "save.waiting += waiting",
        ),
    ],
}


def copy(modules: set[str]) -> None:
    """Copies what has changed, so that the copy is built anew only where it has to be."""
    COPY.mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        mirror(ROOT / name, COPY / name)
    tests = ", ".join(f'"{module}": {imported(module)}' for module in sorted(modules))
    manifest = (ROOT / "Package.swift").read_text() + FILTER.format(tests=tests)
    target = COPY / "Package.swift"
    if not target.exists() or target.read_text() != manifest:
        target.write_text(manifest)


def imported(module: str) -> str:
    """The modules that the exploring files of a test target import, as a list in Swift."""
    texts = [path.read_text() for path in (ROOT / "Tests" / module / "Exploration").glob("*.swift")]
    names = sorted({name for text in texts for name in re.findall(r"^(?:@testable )?import (\w+)$", text, re.M)})
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"


def mirror(source: Path, target: Path) -> None:
    """Makes a file or folder equal to another one, and leaves alone what is equal already."""
    if source.is_dir():
        target.mkdir(exist_ok=True)
        names = {entry.name for entry in source.iterdir()} - {".build"}
        for extra in {entry.name for entry in target.iterdir()} - names:
            extra_path = target / extra
            shutil.rmtree(extra_path) if extra_path.is_dir() else extra_path.unlink()
        for name in names:
            mirror(source / name, target / name)
    elif not target.exists() or not filecmp.cmp(source, target, shallow=False):
        shutil.copyfile(source, target)


def build() -> None:
    command = ["swift", "build", "--build-tests", "--package-path", str(COPY)]
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if ended.returncode:
        sys.exit(f"{ended.stdout[-3000:]}\nScripts/planted_explorations.py: the build failed")


def explore(suite: str) -> list[str]:
    """Runs the tests of a suite; returns the lines of the first fault, none if there is no fault."""
    command = [str(BUNDLE), "--testing-library", "swift-testing", "--filter", f"^{re.escape(suite)}/"]
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=COPY)
    if ended.returncode == 0:
        if " 0 tests" in ended.stdout:
            sys.exit(f"{ended.stdout[-3000:]}\nScripts/planted_explorations.py: {suite} has no tests")
        return []
    return fault(ended.stdout) or [f"the tests ended with status {ended.returncode}, without a counterexample"]


def fault(output: str) -> list[str]:
    """The rule that is broken first, and the moves that lead there, from the output of a test."""
    lines = iter(output.splitlines())
    for line in lines:
        # The text follows on a line of its own, then a line for each move.
        if (found := re.search(r"↳ (?:// )?(.*, after(?: no move)?)$", line)) is None:
            continue
        moves = []
        for move in lines:
            if not re.match(r"\W*(\x1b\[\d+m)?\W*\d+\. ", move):
                break
            moves.append(re.search(r"\d+\. [^\x1b]*", move).group())
        return [found.group(1)] + moves
    return []


def attempt(number: int, suite: str, planted: Defect) -> bool:
    """Plants a fault in the copy, explores, and returns whether it was found."""
    path = COPY / planted.path
    sound = path.read_text()
    path.write_text(plant(sound, planted))
    begin = time.monotonic()
    try:
        build()
        found = explore(suite)
    finally:
        path.write_text(sound)
    seconds = time.monotonic() - begin
    if not found or "without a counterexample" in found[0]:
        print(f"{number}. {planted.name}: NOT FOUND by {suite} {' '.join(found)}", flush=True)
        return False
    print(f"{number}. {planted.name}: found by {suite} in {seconds:.0f} s with the build: {found[0]}", flush=True)
    for move in found[1:]:
        print(f"     {move}", flush=True)
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="show the faults")
    parser.add_argument("--only", help="the numbers of some faults")
    options = parser.parse_args()
    everything = [(suite, planted) for suite, plants in PLANTS.items() for planted in plants]
    chosen = [int(number) for number in options.only.split(",")] if options.only else range(1, len(everything) + 1)
    if options.list:
        for number in chosen:
            suite, planted = everything[number - 1]
            print(f"{number}. {planted.name} ({planted.path}), for {suite}")
        return 0
    suites = {everything[number - 1][0] for number in chosen}
    copy({suite.split(".")[0] for suite in suites})
    build()
    for suite in sorted(suites):
        if found := explore(suite):
            sys.exit("\n".join(found) + f"\nScripts/planted_explorations.py: {suite} fails without a planted fault")
    results = [attempt(number, *everything[number - 1]) for number in chosen]
    print(f"{results.count(True)} of {len(results)} faults were found")
    return 0 if all(results) else 1


if __name__ == "__main__":
    os.nice(5)
    sys.exit(main())
