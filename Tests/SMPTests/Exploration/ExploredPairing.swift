import BluetoothTypes
import Cryptography
import EventLoops
import StateExplorer

@testable import SMP

/// Two pairing machines, with everything between them in any order: commands, users, encryption, time-outs.
struct ExploredPairing: Explorable {
    enum Move: Hashable {
        /// The next command or event arrives.
        case deliver(PairingRole)
        /// The next command is lost, or arrives twice.
        case lose(PairingRole)
        case double(PairingRole)
        case permit(PairingRole, Bool)
        /// The user answers the prompt, as asked or not.
        case answer(PairingRole, Bool)
        case timeout(PairingRole)
        /// The controllers fail to encrypt, although both hosts gave the same key.
        case failEncryption
        case loseLink
    }

    enum Item: Hashable {
        case command([UInt8])
        case encrypted(Bool)
    }

    struct Side {
        var machine: PairingMachine
        var inbox: [Item] = []
        var isAsked = false
        var prompt: PairingPrompt?
        var shown: UInt32?
        var hasTimer = false
        var isEncrypted = false
        var key: Key128?
        var result: PairingResult?
        var error: PairingError?
        var sentKeysInTheClear = false
    }

    private static let central = BluetoothAddress(0xC0FF_EE00_0001, kind: .randomDevice)
    private static let peripheral = BluetoothAddress(0x0012_3456_789A, kind: .publicDevice)

    private(set) var initiator: Side
    private(set) var responder: Side
    /// The number of losses, repetitions, refusals and early time-outs that may still happen.
    private var disturbances: Int
    private let allowed: Int
    /// Whether a side was left to its time-out though nothing went wrong between the two.
    private var wasLeftWaiting = false

    init(_ initiator: PairingConfiguration, _ responder: PairingConfiguration, disturbances: Int) {
        func side(_ role: PairingRole, _ configuration: PairingConfiguration) -> Side {
            let isInitiator = role == .initiator
            var context = PairingMachine.Context(
                initiatorAddress: Self.central,
                responderAddress: Self.peripheral,
                random: RandomSource(seed: 1).split(isInitiator ? 1 : 2)
            )
            let key = Key128(Block128(high: isInitiator ? 1 : 2, low: 0))
            let address = isInitiator ? Self.central : Self.peripheral
            context.ownIdentity = .init(key: key, address: address)
            return Side(machine: PairingMachine(role: role, configuration: configuration, context: context))
        }
        self.initiator = side(.initiator, initiator)
        self.responder = side(.responder, responder)
        (self.disturbances, allowed) = (disturbances, disturbances)
        handle(.start(PairingDemand()), at: .initiator)
    }

    subscript(role: PairingRole) -> Side {
        get { role == .initiator ? initiator : responder }
        set { if role == .initiator { initiator = newValue } else { responder = newValue } }
    }

    private static let roles: [PairingRole] = [.initiator, .responder]

    // MARK: Moves

    var moves: [Move] {
        let isStill = initiator.isStill && responder.isStill
        let own = Self.roles.flatMap { role -> [Move] in
            let side = self[role]
            var moves: [Move] = []
            if !side.inbox.isEmpty { moves.append(.deliver(role)) }
            if disturbances > 0, case .command = side.inbox.first { moves += [.lose(role), .double(role)] }
            if side.isAsked { moves += choices.map { .permit(role, $0) } }
            if let prompt = side.prompt, canAnswer(prompt, role) { moves += choices.map { .answer(role, $0) } }
            if side.hasTimer, isStill || disturbances > 0 { moves.append(.timeout(role)) }
            return moves
        }
        let isUnderWay = initiator.machine.isUnderWay || responder.machine.isUnderWay
        guard disturbances > 0 else { return own }
        let isEncrypting = Self.roles.allSatisfy { self[$0].inbox.contains(.encrypted(true)) }
        return own + (isEncrypting ? [.failEncryption] : []) + (isUnderWay ? [.loseLink] : [])
    }

    private var choices: [Bool] { disturbances > 0 ? [true, false] : [true] }

    private func canAnswer(_ prompt: PairingPrompt, _ role: PairingRole) -> Bool {
        switch prompt {
        case .showPasskey: false
        case .enterPasskey: self[role.other].shown != nil
        case .enterPasskeyOnBoth: true
        case .confirmPairing, .confirmReplacement, .compare: true
        }
    }

    mutating func perform(_ move: Move) {
        switch move {
        case .deliver(let role): deliver(self[role].inbox.removeFirst(), to: role)
        case .lose(let role):
            disturbances -= 1
            self[role].inbox.removeFirst()
        case .double(let role):
            disturbances -= 1
            self[role].inbox.insert(self[role].inbox[0], at: 0)
        case .permit(let role, let isPermitted):
            if !isPermitted { disturbances -= 1 }
            self[role].isAsked = false
            handle(.permitted(isPermitted), at: role)
        case .answer(let role, let agrees): answer(agrees, at: role)
        case .timeout(let role):
            if !(initiator.isStill && responder.isStill) {
                disturbances -= 1
            } else if disturbances == allowed {
                wasLeftWaiting = true
            }
            self[role].hasTimer = false
            handle(.timeout, at: role)
        case .failEncryption:
            disturbances -= 1
            for role in Self.roles {
                self[role].inbox = self[role].inbox.map { $0 == .encrypted(true) ? .encrypted(false) : $0 }
            }
        case .loseLink:
            disturbances -= 1
            for role in Self.roles {
                self[role].inbox = []
                handle(.linkLost, at: role)
                self[role].inbox = []
            }
        }
    }

    private mutating func deliver(_ item: Item, to role: PairingRole) {
        switch item {
        case .command(let octets): handle(.received(PacketBuffer(octets)), at: role)
        case .encrypted(let isEncrypted):
            self[role].isEncrypted = isEncrypted
            handle(.encrypted(isEncrypted), at: role)
        }
    }

    private mutating func answer(_ agrees: Bool, at role: PairingRole) {
        guard let prompt = self[role].prompt else { return }
        if !agrees { disturbances -= 1 }
        self[role].prompt = nil
        switch prompt {
        case .enterPasskey, .enterPasskeyOnBoth:
            let shown = self[role.other].shown ?? 0
            // A wrong passkey stands for all that a user does wrong.
            handle(.answered(.passkey(agrees ? shown : shown ^ 1)), at: role)
        case .confirmPairing, .confirmReplacement, .compare, .showPasskey:
            handle(.answered(agrees ? .accept : .refuse), at: role)
        }
    }

    private mutating func handle(_ event: PairingMachine.Event, at role: PairingRole) {
        for action in self[role].machine.handle(event) { perform(action, at: role) }
    }

    private mutating func perform(_ action: PairingMachine.Action, at role: PairingRole) {
        switch action {
        case .send(let command):
            let octets = command.framed().bytes
            if (0x06...0x0A).contains(octets.first ?? 0), !self[role].isEncrypted {
                self[role].sentKeysInTheClear = true
            }
            self[role.other].inbox.append(.command(octets))
        case .askPermission: self[role].isAsked = true
        case .ask(let prompt):
            self[role].prompt = prompt
            if case .showPasskey(let passkey) = prompt { self[role].shown = passkey }
        case .closePrompt: self[role].prompt = nil
        case .encrypt(let key):
            self[role].key = key
            if role == .initiator { encrypt() }
        case .startTimer: self[role].hasTimer = true
        case .stopTimer: self[role].hasTimer = false
        case .completed(let result): self[role].result = result
        case .failed(let error): self[role].error = error
        case .securityRequested, .failedByPeer, .peerPressedKey, .usedOwnData: break
        }
    }

    /// The central's controller starts encryption, which succeeds if both hosts give the same key.
    private mutating func encrypt() {
        let isEncrypted = initiator.key == responder.key
        for role in Self.roles { self[role].inbox.append(.encrypted(isEncrypted)) }
    }

    // MARK: Rules

    var key: String { wholeDescription((initiator, responder, disturbances)) }

    var fault: String? {
        if wasLeftWaiting { return "only a time-out ends the pairing" }
        for role in Self.roles {
            let side = self[role]
            if side.sentKeysInTheClear { return "the \(role) sends keys before encryption" }
            guard let result = side.result else { continue }
            if result.keySize < side.machine.configuration.minimumKeySize { return "the \(role) accepts a short key" }
            if !side.isEncrypted { return "the \(role) is done before encryption" }
        }
        if let one = initiator.result, let other = responder.result, let fault = one.disagreement(with: other) {
            return fault
        }
        return moves.isEmpty ? faultOfEnd : nil
    }

    private var faultOfEnd: String? {
        for role in Self.roles where self[role].machine.isUnderWay { return "the \(role) waits for ever" }
        guard disturbances == allowed else { return nil }
        // Nothing went wrong between them, so both succeed or both fail.
        guard (initiator.result == nil) == (responder.result == nil) else { return "one side succeeds" }
        guard initiator.result == nil, initiator.error == nil || responder.error == nil else { return nil }
        return "one side does not know that it failed"
    }
}

extension ExploredPairing.Side {
    /// Whether the side does nothing until a time-out.
    fileprivate var isStill: Bool {
        guard inbox.isEmpty, !isAsked else { return false }
        switch prompt {
        case nil, .showPasskey: return true
        default: return false
        }
    }
}

extension PairingResult {
    /// The difference between the results of two sides, if there is one.
    fileprivate func disagreement(with other: PairingResult) -> String? {
        if linkKey != other.linkKey { return "the sides have different keys" }
        if level != other.level { return "the sides disagree about the level of the key" }
        if keys.localKey != other.keys.peerKey || keys.peerKey != other.keys.localKey {
            return "the sides stored different keys"
        }
        if ownKeys != other.peerKeys || peerKeys != other.ownKeys {
            return "a side lacks keys that the other one has distributed"
        }
        return nil
    }
}
