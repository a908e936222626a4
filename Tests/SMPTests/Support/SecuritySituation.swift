import BluetoothTypes
import Cryptography
import EventLoops

@testable import SMP

/// Two security machines that pair or encrypt their link one event at a time, so that tests can stop them at any point.
struct SecuritySituation {
    private enum Step {
        case event(SecurityMachine.Event, at: PairingRole)
        case encrypt(EncryptionKey)
    }

    private(set) var central: SecurityMachine
    private(set) var peripheral: SecurityMachine
    private var steps: [Step] = []

    /// - Parameter isBonded: Whether the two have a bond already, from Just Works.
    init(isBonded: Bool = false, keepsKeys: Bool = true) {
        central = Self.machine(.initiator, isBonded ? Self.bond : nil, keepsKeys)
        peripheral = Self.machine(.responder, isBonded ? Self.bond : nil, keepsKeys)
    }

    /// The keys that both have stored for each other.
    static let bond: PeerKeys = {
        var keys = PeerKeys(level: KeyLevel(keySize: 16, isAuthenticated: false, isSecureConnections: true))
        keys.localKey = EncryptionKey(key: Key128(Block128(high: 0xB0, low: 0xD)))
        keys.peerKey = keys.localKey
        return keys
    }()

    private static func machine(_ role: PairingRole, _ bond: PeerKeys?, _ keepsKeys: Bool) -> SecurityMachine {
        var configuration = PairingConfiguration()
        configuration.ioCapability = .displayYesNo
        configuration.wantsProtection = false
        configuration.bonds = keepsKeys
        var context = PairingMachine.Context(
            initiatorAddress: PairingBench.central,
            responderAddress: PairingBench.peripheral,
            random: RandomSource(seed: role == .initiator ? 1 : 2)
        )
        context.consent = .given
        let isCentral = role == .initiator
        context.ownIdentity = .init(
            key: Key128(Block128(high: isCentral ? 1 : 2, low: 0)),
            address: isCentral ? PairingBench.central : PairingBench.peripheral
        )
        let pairing = PairingMachine(role: role, configuration: configuration, context: context)
        var machine = SecurityMachine(pairing, linkKeys: nil)
        machine.bond = { bond }
        return machine
    }

    subscript(role: PairingRole) -> SecurityMachine {
        get { role == .initiator ? central : peripheral }
        set { if role == .initiator { central = newValue } else { peripheral = newValue } }
    }

    /// Handles an event at one side and its consequences, until `isThere` returns true.
    func after(
        _ event: SecurityMachine.Event,
        at role: PairingRole,
        until isThere: (SecuritySituation) -> Bool = { _ in false }
    ) -> SecuritySituation {
        var next = self
        next.steps.append(.event(event, at: role))
        while !isThere(next), !next.steps.isEmpty {
            switch next.steps.removeFirst() {
            case .event(let event, let role):
                for action in next[role].handle(event) { next.apply(action, of: role) }
            case .encrypt(let key): next.encrypt(key)
            }
        }
        next.steps = []
        return next
    }

    /// Lets the peripheral's controller request the bond's key.
    func asked() -> SecuritySituation {
        var next = self
        _ = next.peripheral.longTermKey(random: 0, diversifier: 0)
        return next
    }

    private mutating func encrypt(_ key: EncryptionKey) {
        let theirs = peripheral.longTermKey(random: key.random, diversifier: key.diversifier)
        let report = theirs == key.key ? EncryptionChangeReport.on : .failed(.keyMissing)
        if theirs != nil { steps.append(.event(.encryption(report), at: .responder)) }
        steps.append(.event(.encryption(report), at: .initiator))
    }

    private mutating func apply(_ action: SecurityMachine.Action, of role: PairingRole) {
        switch action {
        case .send(let command): steps.append(.event(.received(command.framed()), at: role.other))
        case .askPermission: steps.append(.event(.permitted(true), at: role))
        case .ask: steps.append(.event(.answered(.accept), at: role))
        case .encrypt(let key): steps.append(.encrypt(key))
        case .store(let keys, let isBonding):
            if isBonding { self[role].bond = { keys } }
            steps.append(.event(.stored(true), at: role))
        default: break
        }
    }
}

// MARK: - Text

extension SecurityMachine {
    /// The parts of the state that determine what happens next, as text.
    var inWords: String {
        var words: [String] = []
        switch state {
        case .idle: words.append("idle")
        case .awaitsCentral: words.append("waits for the central")
        case .encrypting: words.append("encrypting")
        case .pairing: words.append("pairing")
        case .storing(_, let isBonding): words.append(isBonding ? "storing" : "not storing")
        case .ended: words.append("ended")
        }
        if pairing.isUnderWay != (state == .pairing) {
            words.append(pairing.isUnderWay ? "and pairing" : "not pairing")
        }
        if pairing.isDead { words.append("dead") }
        if let level = encryption { words.append(level.isAuthenticated ? "authenticated" : "encrypted") }
        if isProven { words.append("proven") }
        if isTentative { words.append("tentative") }
        switch pending {
        case .pairing: words.append("pending")
        case .kept(let key): words.append(key == self.key?.key ? "pending bond" : "pending key")
        case nil: break
        }
        if linkKeys != nil { words.append("link keys") }
        if lostKey != nil { words.append("lost key") }
        words += waiters.map { waiter in waiter.number.map { "#\($0)" } ?? "wish" }
        return words.joined(separator: ", ")
    }
}

extension SecurityMachine.Action {
    /// A short text for the action.
    var inWords: String {
        switch self {
        case .send(.failed(let packet)): "refuse: \(packet.reason.inWords)"
        case .send(.identityInformation): "send key"
        case .send(.identityAddress): "send address"
        case .send(let command): "send \(command.code)"
        case .askPermission: "may we"
        case .ask(let prompt): "ask \(prompt)"
        case .closePrompt: "close"
        case .peerPressedKey: "key"
        case .usedOwnData: "used"
        case .encrypt(let key): key == SecuritySituation.bond.peerKey ? "encrypt with bond" : "encrypt"
        case .startTimer: "start"
        case .stopTimer: "stop"
        case .store(_, let isBonding): isBonding ? "store" : "do not store"
        case .encryptionChanged: "changed"
        case .finish(let number, let error): "#\(number) \(error.map(\.inWords) ?? "done")"
        case .fail(let error): "fail: \(error.inWords)"
        case .endLink: "end link"
        }
    }
}

extension SecurityError {
    /// A short text for the error.
    var inWords: String {
        switch self {
        case .pairing(.refused(let reason)): "\(reason.inWords)"
        case .pairing(.refusedByPeer(let reason)): "peer: \(reason.inWords)"
        case .pairing(.timedOut): "timed out"
        case .pairing(.encryptionFailed): "not encrypted"
        case .pairing(.linkLost), .linkLost: "link lost"
        case .peerLostKey: "no key"
        case .encryptionTimedOut: "no answer"
        case .encryptionFailed: "failed"
        case .refusedByPerson: "person refused"
        case .notAllowed: "not allowed"
        case .cannotPair(let obstacle): "cannot, \(obstacle)"
        case .tooWeak: "too weak"
        case .keysRefused: "keys refused"
        case .forgotten: "forgotten"
        case .cancelled: "cancelled"
        }
    }
}

extension PairingFailure {
    /// A short text for the reason.
    fileprivate var inWords: String {
        switch self {
        case .unspecifiedReason: "unspecified"
        case .commandNotSupported: "unsupported"
        case .repeatedAttempts: "repeated"
        case .keyRejected: "rejected"
        default: "\(self)"
        }
    }
}
