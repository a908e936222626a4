"""Faults that the explorations have to find: for each suite, small changes of one source file each."""
from typing import NamedTuple


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
            "Change.phy(tx: single(pdu.peripheralToCentral), rx: single(pdu.centralToPeripheral))",
            "Change.phy(tx: single(pdu.centralToPeripheral), rx: single(pdu.peripheralToCentral))",
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
            "case (.slowedDown, .told): return move(to: .slowedDown(isTold: true), [])",
            "case (.slowedDown, .told): return []",
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
