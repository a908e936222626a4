import Cryptography
import HCI
import StateExplorer
import Testing

@testable import LinkLayer

/// Both ends of a link that starts encryption and refreshes the key, with data at any time.
private struct ExploredEncryption: Explorable {
    enum Move: Hashable {
        case start, deliver(isToCentral: Bool), send(isFromCentral: Bool), key(HostKey?), forge(Forgery)
    }

    enum HostKey: Hashable { case right, wrong }

    /// A PDU that an attacker inserts in the clear, for one end.
    enum Forgery: Hashable, CaseIterable {
        case reject, pause, response, startRequest, data
    }

    struct Packet: Hashable {
        /// The control PDU; nil for a PDU with data.
        let pdu: ControlPDU?
        let session: EncryptionSession?
    }

    struct End {
        var machine = EncryptionMachine()
        var inbox: [Packet] = []
        var transmit: EncryptionSession?
        var receive: EncryptionSession?
        var isHeld = false
        /// Whether the host was told that the link is encrypted.
        var isEncrypted = false
        var isAsked = false
        var dataLeft: Int
    }

    private static let right = Key128(Block128(high: 1, low: 1))
    private static let wrong = Key128(Block128(high: 2, low: 2))

    private var central: End
    private var peripheral: End
    private var startsLeft = 2
    private var forgeriesLeft: Int
    private let forgeries: Int
    private var hasEnded = false
    private var plainData: String?
    /// Whether a wrong or a missing key, or an attacker, may have ended the link.
    private var mayEnd = false

    init(data: Int, forgeries: Int) {
        central = End(dataLeft: data)
        peripheral = End(dataLeft: data)
        (forgeriesLeft, self.forgeries) = (forgeries, forgeries)
    }

    private subscript(isCentral: Bool) -> End {
        get { isCentral ? central : peripheral }
        set { if isCentral { central = newValue } else { peripheral = newValue } }
    }

    var moves: [Move] {
        guard !hasEnded else { return [] }
        var moves: [Move] = []
        if startsLeft > 0, !central.machine.isBusy { moves.append(.start) }
        for isCentral in [true, false] {
            if !self[isCentral].inbox.isEmpty { moves.append(.deliver(isToCentral: isCentral)) }
            if self[isCentral].dataLeft > 0, !self[isCentral].isHeld { moves.append(.send(isFromCentral: isCentral)) }
        }
        if peripheral.isAsked { moves += [.key(.right), .key(.wrong), .key(nil)] }
        if forgeriesLeft > 0 { moves += Forgery.allCases.map { .forge($0) } }
        return moves
    }

    mutating func perform(_ move: Move) {
        switch move {
        case .start:
            startsLeft -= 1
            var request = EncryptionRequest()
            request.keyDiversifier = UInt64(startsLeft)
            handle(.start(.init(longTermKey: Self.right, request: request)), isCentral: true)
        case .send(let isFromCentral):
            self[isFromCentral].dataLeft -= 1
            if self[isFromCentral].isEncrypted, self[isFromCentral].transmit == nil {
                plainData = isFromCentral ? "the central" : "the peripheral"
            }
            send(nil, isFromCentral: isFromCentral)
        case .key(let key):
            peripheral.isAsked = false
            // The peripheral may refuse to start encryption without ending the link, but not a refresh (5.1.3.1).
            if key == .wrong || key == nil && peripheral.isEncrypted { mayEnd = true }
            handle(.key(key.map { $0 == .right ? Self.right : Self.wrong }), isCentral: false)
        case .deliver(let isToCentral): receive(self[isToCentral].inbox.removeFirst(), isCentral: isToCentral)
        case .forge(let forgery):
            forgeriesLeft -= 1
            mayEnd = true
            let packet = Packet(pdu: forgery.pdu, session: nil)
            receive(packet, isCentral: forgery.isForCentral)
        }
    }

    private mutating func send(_ pdu: ControlPDU?, isFromCentral: Bool) {
        self[!isFromCentral].inbox.append(Packet(pdu: pdu, session: self[isFromCentral].transmit))
    }

    private mutating func receive(_ packet: Packet, isCentral: Bool) {
        let end = self[isCentral]
        // Without the right session the integrity check fails.
        guard packet.session == end.receive else { return hasEnded = true }
        guard let pdu = packet.pdu else {
            if end.machine.isStrict { hasEnded = true }
            return
        }
        switch end.machine.verdict(on: pdu) {
        case .postpone: return
        case .violation: return hasEnded = true
        case .handle: break
        }
        guard case .encryptionRequest(let request) = pdu else { return handle(.received(pdu), isCentral: isCentral) }
        var response = EncryptionResponse()
        response.keyDiversifier = UInt64(startsLeft) + 10
        handle(.requested(request, response), isCentral: isCentral)
    }

    private mutating func handle(_ event: EncryptionMachine.Event, isCentral: Bool) {
        for action in self[isCentral].machine.handle(event) where !hasEnded {
            switch action {
            case .hold: self[isCentral].isHeld = true
            case .release: self[isCentral].isHeld = false
            case .send(let pdu): send(pdu, isFromCentral: isCentral)
            case .refuse(let error):
                send(.rejectExtended(RejectExtendedIndication(.encReq, error)), isFromCentral: isCentral)
            case .transmit(let session): self[isCentral].transmit = session
            case .receive(let session): self[isCentral].receive = session
            case .terminate, .end: hasEnded = true
            case .reportChange(let status), .reportRefresh(let status):
                if status == .success { self[isCentral].isEncrypted = true }
            case .askForKey: self[isCentral].isAsked = true
            }
        }
    }

    var key: String {
        "\(wholeDescription(central))\(wholeDescription(peripheral))\(startsLeft)\(forgeriesLeft)\(hasEnded)\(mayEnd)"
    }

    var fault: String? {
        if let plainData { return "\(plainData) sends data in the clear after encryption began" }
        for isCentral in [true, false] where self[isCentral].isEncrypted && !hasEnded {
            if case .plain = self[isCentral].machine.state { return "an end returns to plain text" }
        }
        if hasEnded, !mayEnd { return "the link ends though the keys are right and no PDU is forged" }
        guard moves.isEmpty, !hasEnded else { return nil }
        if central.machine.isBusy || peripheral.machine.isBusy {
            // An attacker may stop a procedure; its time-out ends the link.
            return forgeriesLeft < forgeries ? nil : "a procedure waits for ever"
        }
        if central.machine.state != peripheral.machine.state { return "only one end is encrypted" }
        return central.transmit == peripheral.receive && peripheral.transmit == central.receive
            ? nil : "the ends use different sessions"
    }
}

extension ExploredEncryption.Forgery {
    fileprivate var isForCentral: Bool {
        switch self {
        case .reject, .response, .startRequest: true
        case .pause, .data: false
        }
    }

    fileprivate var pdu: ControlPDU? {
        switch self {
        case .reject: .rejectExtended(RejectExtendedIndication(.encReq, .pinOrKeyMissing))
        case .pause: .pauseEncryptionRequest
        case .response: .encryptionResponse(EncryptionResponse())
        case .startRequest: .startEncryptionRequest
        case .data: nil
        }
    }
}

@Suite struct EncryptionExplorationTests {
    @Test(
        "in all orders of PDUs, data and keys, with forged PDUs, no data is sent in the clear after encryption began, and both ends are encrypted alike, or plain, or the link has ended",
        arguments: [0, 2]
    )
    func noDataInTheClearAfterEncryption(forgeries: Int) {
        let found = Exploration(limit: 60_000) { ExploredEncryption(data: 1, forgeries: forgeries) }
        print("encryption, \(forgeries) forgeries: \(found.summary)")
        #expect(found.isComplete)
        #expect(found.ends > 1)
        for fault in found.faults { Issue.record("\(fault)") }
    }
}
