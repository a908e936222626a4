import BluetoothTypes
import Cryptography
import DequeModule
import EventLoops
import HCI

/// The interplay of encryption with the other procedures (Core Vol 6 Part B 5.1.3), and LE Ping (5.1.8).
extension LinkControl {
    /// The number of the peer's PDUs that can be postponed until the encryption procedure ends. Further ones are not
    /// acknowledged.
    static let maximumPostponedPDUs = 8

    /// Whether another control PDU of the peer can be accepted.
    var hasRoom: Bool { postponed.count < Self.maximumPostponedPDUs }

    /// Whether data may be received now. If not, data end the link like a forged PDU (5.1.3.1; AB-L07).
    var admitsData: Bool { !encryption.isStrict }

    /// Whether the host has requested encryption and not been notified of the outcome.
    var encryptionIsRequested: Bool {
        encryption.isBusy || requests.contains { if case .encrypt = $0 { true } else { false } }
    }

    // MARK: Inputs

    /// Requests encryption with the key that the central's host has supplied.
    mutating func requestEncryption(key: Key128, random: UInt64, diversifier: UInt16) -> [Action]? {
        var request = EncryptionRequest()
        (request.random, request.diversifier) = (random, diversifier)
        request.keyDiversifier = setup.random.next()
        request.vector = UInt32(truncatingIfNeeded: setup.random.next())
        return self.request(.encrypt(.init(longTermKey: key, request: request)))
    }

    /// Continues with the key from the peripheral's host; nil if it has none. Returns nil if the host was not asked.
    mutating func answer(key: Key128?) -> [Action]? {
        guard encryption.awaitsHost else { return nil }
        carryOut(encryption.handle(.key(key)))
        return flush()
    }

    mutating func startEncryption(_ start: EncryptionMachine.Start) {
        if let remoteFeatures, !remoteFeatures.contains(.encryption) {
            return report(.encryption(.unsupportedRemoteFeature))
        }
        carryOut(encryption.handle(.start(start)))
    }

    private mutating func takeRequest(_ request: EncryptionRequest) {
        var response = EncryptionResponse()
        response.keyDiversifier = setup.random.next()
        response.vector = UInt32(truncatingIfNeeded: setup.random.next())
        carryOut(encryption.handle(.requested(request, response)))
        // If the host has masked the event, it cannot supply a key.
        if encryption.awaitsHost, !setup.hostHasKeys() { carryOut(encryption.handle(.key(nil))) }
    }

    /// Handles a PDU of the encryption procedures, or the rejection of one.
    mutating func takeEncryption(_ pdu: ControlPDU) {
        if case .encryptionRequest(let request) = pdu { return takeRequest(request) }
        carryOut(encryption.handle(.received(pdu)))
    }

    // MARK: LE Ping

    mutating func startPing() {
        if let remoteFeatures, !remoteFeatures.contains(.ping) { return }
        procedures.start(.ping)
        send(.pingRequest)
    }

    mutating func takePingResponse() {
        _ = procedures.end(.ping)
    }

    // MARK: Outputs

    private mutating func carryOut(_ steps: [EncryptionMachine.Action]) {
        for step in steps {
            switch step {
            case .hold: actions.append(.hold)
            case .release:
                actions.append(.release)
                takePostponed()
            case .send(let pdu): send(pdu)
            case .refuse(let error): refuse(.encReq, error)
            case .transmit(let session): actions.append(.transmit(session))
            case .receive(let session): actions.append(.receive(session))
            case .terminate(let reason): actions.append(.terminate(reason))
            case .end(let reason): actions.append(.end(reason))
            case .reportChange(let status): report(.encryption(status))
            case .reportRefresh(let status): report(.keyRefresh(status))
            case .askForKey(let request): report(.longTermKeyRequest(request.random, request.diversifier))
            }
        }
    }

    /// Handles the PDUs that were postponed during the procedure.
    private mutating func takePostponed() {
        while let bytes = postponed.popFirst() { takeWhole(bytes) }
    }
}
