import BluetoothTypes
import Cryptography
import EventLoops
import HCI

@testable import LinkLayer

/// One end of an explored link: the machines, and what ``Link`` does with their actions.
struct ExploredLinkEnd {
    /// A packet on the air.
    struct Packet {
        let outgoing: TransmitQueue.Outgoing
        let sequence: Bool
        let nextExpected: Bool
        let session: EncryptionSession?
        let hasMore: Bool
    }

    static let key = Key128(Block128(high: 1, low: 1))

    let role: LinkRole
    var control: LinkControl
    private(set) var queue = TransmitQueue()
    private(set) var acknowledgement = Acknowledgement()
    private(set) var transmit: EncryptionSession?
    private(set) var receive: EncryptionSession?
    /// The session under which the packet in flight was sealed.
    private var sealed: EncryptionSession?
    private(set) var map = ChannelMap.all
    private(set) var ending: LinkEnding?
    /// Why the link has ended.
    private(set) var reason: HCIStatus?
    /// The procedures whose ends the host has yet to be told.
    var awaited: [ExploredLinkControl.Wish] = []
    var askedForParameters: ConnectionParameterRequest?
    var isAskedForKey = false
    private(set) var wasEncrypted = false
    /// Whether the host had no key for a refresh, which ends the link.
    var mayRefuseRefresh = false
    private(set) var broken: String?

    init(_ role: LinkRole) {
        self.role = role
        let setup = LinkControl.Setup(
            role: role,
            features: VirtualController.supportedFeatures,
            version: .init(version: .v5_3, company: 1, subversion: 2),
            preferredPHYs: .init(tx: [.le1M, .le2M], rx: [.le1M, .le2M]),
            phys: [.le1M, .le2M, .coded],
            dataLength: DataLength(rxOctets: 251, rxTime: 17_040),
            accuracy: .init(code: 5),
            random: RandomSource(seed: 4),
            hostAnswersParameters: { true },
            hostHasKeys: { true }
        )
        control = LinkControl(setup, timing: .init(interval: 24, latency: 0, timeout: 100))
        _ = control.begin(counter: 100)
    }

    var hasEnded: Bool { reason != nil }
    /// Whether something is to be sent, or a change waits for its instant.
    var isBusy: Bool { !hasEnded && (queue.hasWork || control.pending != nil || ending != nil) }

    /// Whether the peer has not received all control PDUs of this end.
    func isUnheard(by peer: ExploredLinkEnd) -> Bool {
        if queue.controlCount > 0 { return true }
        guard let inFlight = queue.inFlight, inFlight.content == .control else { return false }
        return acknowledgement.sequence == peer.acknowledgement.nextExpected
    }

    // MARK: Packets

    mutating func begin(_ counter: UInt16) {
        if !hasEnded { perform(control.begin(counter: counter)) }
    }

    mutating func nextPacket() -> Packet {
        let isNew = queue.inFlight == nil
        let outgoing = queue.next(limit: Int(DataLength.maximumOctets))
        if isNew { sealed = outgoing.payload.isEmpty ? nil : transmit }
        if case .owesAnswer(let reason) = ending { ending = .answered(reason) }
        return Packet(
            outgoing: outgoing,
            sequence: acknowledgement.sequence,
            nextExpected: acknowledgement.nextExpected,
            session: sealed,
            hasMore: queue.hasMore
        )
    }

    mutating func receive(_ packet: Packet) {
        let payload = packet.outgoing.payload
        let hasRoom = payload.isEmpty || queue.hasRoom && control.hasRoom
        let outcome = acknowledgement.receive(
            sequence: packet.sequence,
            nextExpected: packet.nextExpected,
            hasRoom: hasRoom
        )
        if outcome.isAcknowledged { complete() }
        guard outcome.isNew, !hasEnded, !payload.isEmpty else { return }
        guard packet.session == receive else { return end(.terminatedByMICFailure) }
        perform(control.receive(payload))
    }

    private mutating func complete() {
        guard let outgoing = queue.acknowledged(), outgoing.content == .control else { return }
        let isTermination = outgoing.payload.first == ControlOpcode.terminateInd.rawValue
        guard isTermination, case .awaitsAcknowledgement(let reason) = ending else { return }
        end(reason)
    }

    /// Closes a connection event.
    mutating func close() {
        if case .answered(let reason) = ending, !hasEnded { end(reason) }
    }

    mutating func end(_ reason: HCIStatus) {
        self.reason = self.reason ?? reason
    }

    // MARK: Actions

    mutating func perform(_ actions: [LinkControl.Action]?) {
        guard let actions else { return broken = "a request of the \(role) does not fit" }
        for action in actions where !hasEnded { perform(action) }
    }

    private mutating func perform(_ action: LinkControl.Action) {
        switch action {
        case .send(let pdu): add(pdu, ending: pdu.opcode == .terminateInd ? .localHostTerminated : nil)
        case .terminate(let reason): add(.terminate(.init(reason)), ending: reason)
        case .hold: queue.hold()
        case .release: queue.release()
        case .transmit(let session):
            transmit = session
            wasEncrypted = wasEncrypted || session != nil
        case .receive(let session): receive = session
        case .report(let report): handle(report)
        case .applyChannelMap(let map): self.map = map
        case .end(let reason): end(reason)
        case .endAfterAnswer(let reason):
            if case .answered = ending { ending = .answered(reason) } else { ending = .owesAnswer(reason) }
        case .applyTiming, .announceSubrate, .applySubrate, .trainTransferred, .applyPeerAccuracy, .startSounding,
            .stopSounding:
            break
        }
    }

    private mutating func add(_ pdu: ControlPDU, ending reason: HCIStatus?) {
        guard ending == nil else { return }
        queue.add(control: pdu.encoded())
        if let reason { ending = .awaitsAcknowledgement(reason) }
    }

    private mutating func handle(_ report: LinkControl.Report) {
        switch report {
        case .version: endWait(.version)
        case .features: endWait(.features)
        case .phy: endWait(.phy)
        case .parameters: endWait(.parameters)
        case .clockAccuracy: endWait(.clockAccuracy)
        case .encryption, .keyRefresh: endWait(.encrypt)
        case .parameterRequest(let request): askedForParameters = request
        case .longTermKeyRequest: isAskedForKey = true
        case .dataLength, .subrate, .sounding: break
        }
    }

    /// Ends the wait for a report. A report may also be about a change by the peer, for which nothing waits.
    private mutating func endWait(_ desired: ExploredLinkControl.Wish) {
        if let index = awaited.firstIndex(of: desired) { awaited.remove(at: index) }
    }

    // MARK: Key

    /// The sessions of this end. Only whether they are equal matters, not their values.
    var sessions: [EncryptionSession?] { [transmit, receive, sealed, control.encryption.session] }

    func key(at counter: UInt16) -> ExploredLinkKey.End {
        ExploredLinkKey.End(
            local: control.local?.withoutReference,
            remote: control.remote?.withoutReference,
            instant: control.pending.map { $0.instant &- counter },
            change: control.pending?.change.withoutInstant,
            isAnswered: control.procedures.isAnswered,
            encryption: control.encryption.name,
            postponed: control.postponed.map { relative($0, to: counter) },
            requests: Array(control.requests),
            peer: control.peer,
            dataLength: control.dataLength,
            timing: control.timing,
            phys: [control.txPHY, control.rxPHY],
            map: map.bits,
            ready: queue.control.map { relative($0, to: counter) },
            heldBack: queue.waiting?.map { relative($0, to: counter) },
            inFlight: queue.inFlight.map { relative($0.payload, to: counter) } ?? [],
            ending: ending,
            reason: reason,
            awaited: awaited,
            isAsked: [askedForParameters != nil, isAskedForKey],
            wasEncrypted: wasEncrypted,
            mayRefuseRefresh: mayRefuseRefresh
        )
    }

    /// The octets of a control PDU, with its instant relative to the current event, and without random numbers.
    private func relative(_ pdu: PacketBuffer, to counter: UInt16) -> [UInt8] {
        var octets = pdu.bytes
        guard let first = octets.first else { return octets }
        switch ControlOpcode(rawValue: first) {
        case .connectionUpdateInd, .channelMapInd, .phyUpdateInd:
            let instant = UInt16(octets[octets.count - 2]) | UInt16(octets[octets.count - 1]) << 8
            let distance = instant &- counter
            octets.replaceSubrange(
                (octets.count - 2)...,
                with: [UInt8(truncatingIfNeeded: distance), UInt8(truncatingIfNeeded: distance >> 8)]
            )
            return octets
        // Without the reference counter, which is only repeated.
        case .connectionParamReq, .connectionParamRsp: return Array(octets[..<10] + octets[12...])
        case .encRsp: return [first]
        default: return octets
        }
    }
}

/// The differences between the states of an explored link.
struct ExploredLinkKey: Hashable {
    struct End: Hashable {
        let local: LinkControl.Local?
        let remote: LinkControl.Remote?
        let instant: UInt16?
        let change: LinkControl.Change?
        let isAnswered: Bool
        let encryption: String
        let postponed: [[UInt8]]
        let requests: [LinkControl.Request]
        let peer: PeerFacts
        let dataLength: DataLength
        let timing: LinkTiming
        let phys: [LEPHY]
        let map: UInt64
        let ready: [[UInt8]]
        let heldBack: [[UInt8]]?
        let inFlight: [UInt8]
        let ending: LinkEnding?
        let reason: HCIStatus?
        let awaited: [ExploredLinkControl.Wish]
        let isAsked: [Bool]
        let wasEncrypted: Bool
        let mayRefuseRefresh: Bool
    }

    let central: End
    let peripheral: End
    let isCentralsUnheard: Bool
    let isPeripheralsUnheard: Bool
    let sessions: [Int]
    /// How often each procedure was started by each role.
    let started: [Int]
    let lossesLeft: Int
    let broken: String?
}

extension LinkControl.Local {
    fileprivate var withoutReference: Self {
        guard case .parametersAwaitingResponse(var pdu) = self else { return self }
        pdu.referenceCounter = 0
        return .parametersAwaitingResponse(pdu)
    }
}

extension LinkControl.Remote {
    fileprivate var withoutReference: Self {
        guard case .parametersAwaitingHost(var pdu) = self else { return self }
        pdu.referenceCounter = 0
        return .parametersAwaitingHost(pdu)
    }
}

extension LinkControl.Change {
    fileprivate var withoutInstant: Self {
        guard case .timing(var pdu) = self else { return self }
        pdu.instant = 0
        return .timing(pdu)
    }
}

extension EncryptionMachine {
    /// The state without random numbers.
    fileprivate var name: String {
        switch state {
        case .plain: "plain"
        case .encrypted: "encrypted"
        case .centralPausing: "pausing"
        case .centralRequesting(_, let isRefresh): "requesting \(isRefresh)"
        case .centralAwaitsStart(_, let isRefresh): "awaits start \(isRefresh)"
        case .centralAwaitsConfirmation(let isRefresh): "awaits confirmation \(isRefresh)"
        case .peripheralAwaitsHost(_, _, let isRefresh): "awaits host \(isRefresh)"
        case .peripheralAwaitsConfirmation(_, let isRefresh): "peripheral awaits confirmation \(isRefresh)"
        case .peripheralPausing: "peripheral pausing"
        case .peripheralPaused: "peripheral paused"
        }
    }

    /// The session that the procedure is about to start.
    fileprivate var session: EncryptionSession? {
        switch state {
        case .centralAwaitsStart(let session, _), .peripheralAwaitsConfirmation(let session, _): session
        default: nil
        }
    }
}
