import Cryptography
import HCI
import StateExplorer

@testable import LinkLayer

/// Both ends of a link whose hosts start control procedures at any time, one connection event after the other.
///
/// Each end uses the machines as ``Link`` does: with the transmit queue, the acknowledgements and the end of the link.
struct ExploredLinkControl: Explorable {
    static var isValue: Bool { true }

    /// A procedure that a host, or the link itself, may start.
    enum Wish: Hashable, CaseIterable {
        case version, features, length, ping, clockAccuracy, phy, parameters, channelMap, encrypt, terminate
    }

    enum Move: Hashable {
        case start(Wish, by: LinkRole)
        case event(Air)
        /// The host answers the peer's request for connection parameters.
        case answerParameters(Bool, by: LinkRole)
        /// The peripheral's host supplies the key, or has none.
        case supplyKey(Bool)
        /// An end has heard nothing for the supervision timeout.
        case supervisionTimeout(LinkRole)
    }

    /// The packets that arrive in a connection event.
    enum Air: Hashable {
        case all
        /// The central's packet arrives, the peripheral's does not.
        case noAnswer
        case nothing
        /// Nothing arrives in so many events that the instant of a change passes.
        case nothingForLong
    }

    /// The number of events lost in a row: more than there are before an instant.
    private static let longLoss = LinkControl.minimumEventsAhead + 2

    struct Bounds {
        var requests: [LinkRole: Set<Wish>]
        /// The number of procedures that the two hosts start together.
        var starts: Int
        var losses: Int
        /// The most exchanges of packets in an event.
        var exchanges = 1
        var knowsFeatures = false
    }

    private(set) var central: ExploredLinkEnd
    private(set) var peripheral: ExploredLinkEnd
    private let bounds: Bounds
    private var counter: UInt16 = 100
    private var startCounts = [Int](repeating: 0, count: 2 * Wish.allCases.count)
    private var lossesLeft: Int
    /// The first rule that was broken by a move.
    private var broken: String?

    init(_ bounds: Bounds) {
        self.bounds = bounds
        lossesLeft = bounds.losses
        central = ExploredLinkEnd(.central)
        peripheral = ExploredLinkEnd(.peripheral)
        if bounds.knowsFeatures {
            start(.features, by: .central)
            while isBusy { perform(.event(.all)) }
        }
    }

    subscript(role: LinkRole) -> ExploredLinkEnd {
        get { role == .central ? central : peripheral }
        set { if role == .central { central = newValue } else { peripheral = newValue } }
    }

    private static let roles: [LinkRole] = [.central, .peripheral]

    // MARK: Moves

    var moves: [Move] {
        if central.hasEnded, peripheral.hasEnded { return [] }
        if central.hasEnded { return [.supervisionTimeout(.peripheral)] }
        if peripheral.hasEnded { return [.supervisionTimeout(.central)] }
        guard canHear else { return Self.roles.map { .supervisionTimeout($0) } }
        var moves = startMoves
        for role in Self.roles where self[role].askedForParameters != nil {
            moves += [.answerParameters(true, by: role), .answerParameters(false, by: role)]
        }
        if peripheral.isAskedForKey { moves += [.supplyKey(true), .supplyKey(false)] }
        if isBusy {
            moves.append(.event(.all))
            if lossesLeft > 0 { moves += [.event(.noAnswer), .event(.nothing), .event(.nothingForLong)] }
        }
        return moves
    }

    private var startMoves: [Move] {
        guard starts < bounds.starts else { return [] }
        return Self.roles.flatMap { role -> [Move] in
            guard self[role].ending == nil else { return [] }
            let requests = Wish.allCases.filter { bounds.requests[role]?.contains($0) ?? false }
            return requests.filter { mayStart($0, role) }.map { .start($0, by: role) }
        }
    }

    /// Each procedure once, but encryption twice: the second time refreshes the key.
    private func mayStart(_ desired: Wish, _ role: LinkRole) -> Bool {
        if desired == .encrypt, central.control.encryptionIsRequested { return false }
        return startCounts[desired.index(role)] < (desired == .encrypt ? 2 : 1)
    }

    private var starts: Int { startCounts.reduce(0, +) }

    private func hasStarted(_ desired: Wish) -> Bool {
        Self.roles.contains { startCounts[desired.index($0)] > 0 }
    }

    /// Whether connection events change anything.
    private var isBusy: Bool { central.isBusy || peripheral.isBusy }

    /// Whether the ends use the same anchor points and PHYs.
    private var canHear: Bool {
        central.control.timing == peripheral.control.timing && central.control.txPHY == peripheral.control.rxPHY
            && central.control.rxPHY == peripheral.control.txPHY
    }

    mutating func perform(_ move: Move) {
        switch move {
        case .start(let desired, let role):
            startCounts[desired.index(role)] += 1
            start(desired, by: role)
        case .event(let air): perform(air)
        case .answerParameters(let agrees, let role):
            guard let asked = self[role].askedForParameters else { return }
            self[role].askedForParameters = nil
            let control = self[role].control
            var answering = control
            let actions = agrees ? answering.accept(asked) : answering.decline(.unsupportedRemoteFeature)
            self[role].control = answering
            self[role].perform(actions)
        case .supplyKey(let hasKey):
            peripheral.isAskedForKey = false
            if !hasKey, peripheral.transmit != nil || peripheral.wasEncrypted { peripheral.mayRefuseRefresh = true }
            peripheral.perform(peripheral.control.answer(key: hasKey ? ExploredLinkEnd.key : nil))
        case .supervisionTimeout(let role):
            let isExpected = lossesLeft < bounds.losses || self[role.other].reason == .terminatedByMICFailure
            if !isExpected { broken = "only the supervision timeout ends the link, and nothing was lost" }
            self[role].end(.connectionTimeout)
        }
    }

    private mutating func start(_ desired: Wish, by role: LinkRole) {
        if desired.hasReport { self[role].awaited.append(desired) }
        let request = desired.request(by: role, number: starts)
        self[role].perform(self[role].control.request(request))
    }

    // MARK: Connection events

    private mutating func perform(_ air: Air) {
        if air != .all { lossesLeft -= 1 }
        guard air == .nothingForLong else { return performEvent(air) }
        for _ in 0..<Self.longLoss where canHear { performEvent(.nothing) }
    }

    private mutating func performEvent(_ air: Air) {
        counter &+= 1
        central.begin(counter)
        peripheral.begin(counter)
        checkAgreement()
        for _ in 0..<bounds.exchanges where canHear && !central.hasEnded && !peripheral.hasEnded {
            let packet = central.nextPacket()
            guard air != .nothing else { break }
            peripheral.receive(packet)
            guard !peripheral.hasEnded else { break }
            let answer = peripheral.nextPacket()
            guard air != .noAnswer else { break }
            central.receive(answer)
            guard central.queue.hasMore || answer.hasMore else { break }
        }
        central.close()
        peripheral.close()
        for role in Self.roles { broken = broken ?? self[role].broken }
    }

    /// Checks that both ends use a change from its instant on, unless the peripheral has not received it yet.
    private mutating func checkAgreement() {
        guard !central.hasEnded, !peripheral.hasEnded, !(canHear && central.map == peripheral.map) else { return }
        let isUnheard = central.isUnheard(by: peripheral)
        if !isUnheard { broken = broken ?? "the ends use different parameters" }
    }

    // MARK: Rules

    var fault: String? {
        if let broken { return broken }
        for role in Self.roles {
            if let reason = self[role].reason, !mayEnd(reason) {
                return "the \(role) ends the link with \(reason), though both keep to the rules"
            }
        }
        if central.hasEnded, peripheral.hasEnded { return nil }
        let isAsked =
            central.askedForParameters != nil || peripheral.askedForParameters != nil || peripheral.isAskedForKey
        return isBusy || isAsked || central.hasEnded || peripheral.hasEnded ? nil : faultOfRest
    }

    private func mayEnd(_ reason: HCIStatus) -> Bool {
        let terminates = hasStarted(.terminate)
        switch reason {
        // LL_TERMINATE_IND may be on its way in the clear when the peripheral begins to decrypt (5.1.3.1).
        case .terminatedByMICFailure: return terminates && hasStarted(.encrypt)
        case .localHostTerminated, .remoteUserTerminated: return terminates
        case .connectionTimeout: return true
        case .instantPassed: return lossesLeft < bounds.losses
        case .pinOrKeyMissing: return peripheral.mayRefuseRefresh
        default: return false
        }
    }

    /// The broken rule of a state in which nothing is under way.
    private var faultOfRest: String? {
        for role in Self.roles {
            let end = self[role]
            if end.control.local != nil || end.control.encryption.isBusy || !Array(end.control.requests).isEmpty {
                return "a procedure of the \(role) waits for ever"
            }
            if end.control.remote != nil { return "the \(role) waits in a procedure of its peer for ever" }
            if !Array(end.control.postponed).isEmpty { return "the \(role) has not handled a PDU" }
            if let desired = end.awaited.first { return "the \(role)'s host is not told how \(desired) ended" }
            if end.ending != nil { return "the \(role) does not end the link" }
        }
        if central.control.encryption.state != peripheral.control.encryption.state {
            return "only one end is encrypted"
        }
        if central.transmit != peripheral.receive || central.receive != peripheral.transmit {
            return "the ends use different sessions"
        }
        let (one, other) = (central.control.dataLength, peripheral.control.dataLength)
        let isAlike = one.txOctets == other.rxOctets && one.rxOctets == other.txOctets
        return isAlike ? nil : "the ends disagree about the data length"
    }

    var key: ExploredLinkKey {
        let sessions = central.sessions + peripheral.sessions
        return ExploredLinkKey(
            central: central.key(at: counter),
            peripheral: peripheral.key(at: counter),
            isCentralsUnheard: central.acknowledgement.sequence == peripheral.acknowledgement.nextExpected,
            isPeripheralsUnheard: peripheral.acknowledgement.sequence == central.acknowledgement.nextExpected,
            sessions: sessions.map { session in session.flatMap { sessions.firstIndex(of: $0) } ?? -1 },
            started: startCounts,
            lossesLeft: lossesLeft,
            broken: broken
        )
    }
}

extension LinkRole {
    fileprivate var other: LinkRole { self == .central ? .peripheral : .central }
}

extension ExploredLinkControl.Wish {
    /// The place of the procedure, started by a role, in a list of all.
    fileprivate func index(_ role: LinkRole) -> Int {
        2 * (Self.allCases.firstIndex(of: self) ?? 0) + (role == .central ? 0 : 1)
    }

    /// Whether the host is told how the procedure ended.
    fileprivate var hasReport: Bool {
        switch self {
        case .version, .features, .clockAccuracy, .phy, .parameters, .encrypt: true
        case .length, .ping, .channelMap, .terminate: false
        }
    }

    fileprivate func request(by role: LinkRole, number: Int) -> LinkControl.Request {
        switch self {
        case .version: return .version
        case .features: return .features
        case .length: return .dataLength(octets: role == .central ? 251 : 100, time: 2_120)
        case .ping: return .ping
        case .clockAccuracy: return .clockAccuracy
        case .phy: return role == .central ? .phy(tx: .le2M, rx: .le2M) : .phy(tx: [.le1M], rx: [.le2M])
        case .parameters:
            var wanted = ConnectionParameterRequest()
            wanted.intervalMin = role == .central ? 60 : 30
            (wanted.intervalMax, wanted.timeout) = (wanted.intervalMin, 300)
            return .parameters(wanted)
        case .channelMap: return .channelMap(ChannelMap(bits: 7))
        case .encrypt:
            var request = EncryptionRequest()
            request.keyDiversifier = UInt64(number)
            return .encrypt(.init(longTermKey: ExploredLinkEnd.key, request: request))
        case .terminate: return .terminate(.remoteUserTerminated)
        }
    }
}
