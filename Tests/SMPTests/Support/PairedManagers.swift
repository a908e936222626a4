import BluetoothTypes
import Cryptography
import EventLoops
import L2CAP
import LoopbackLinks
import Testing

@testable import SMP

/// Two security managers with a link between them, a controller that encrypts it, and a user and a store at each end.
final class PairedManagers {
    let loop = VirtualEventLoop()
    let air = Air()
    private(set) var central: SecuritySide
    private(set) var peripheral: SecuritySide

    init(
        central: PairingConfiguration = PairingConfiguration(),
        peripheral: PairingConfiguration = PairingConfiguration(),
        seed: UInt64 = 1,
        keys: (central: PeerKeys?, peripheral: PeerKeys?) = (nil, nil)
    ) {
        let (link, peer) = LoopbackLink.pair(loop: loop)
        self.central = SecuritySide(.initiator, link, loop, central, seed: seed, keys: keys.central)
        self.peripheral = SecuritySide(.responder, peer, loop, peripheral, seed: seed, keys: keys.peripheral)
        self.central.air = air
        self.peripheral.air = air
        self.central.other = self.peripheral
        self.peripheral.other = self.central
    }

    subscript(role: PairingRole) -> SecuritySide { role == .initiator ? central : peripheral }

    /// Runs until no events are left, but not until the timeout.
    func run(_ duration: Duration = .seconds(5)) { loop.run(for: duration) }

    /// Secures the link from one side, and returns the outcome for that side's caller.
    func secure(_ level: SecurityLevel, by role: PairingRole = .initiator) -> Outcome {
        let outcome = Outcome()
        self[role].manager.secure(level) { outcome.result = $0 }
        run()
        return outcome
    }

    final class Outcome {
        var result: Result<Void, SecurityError>?
        var error: SecurityError? { if case .failure(let error)? = result { error } else { nil } }
        var isSuccess: Bool { if case .success? = result { true } else { false } }
    }

    /// The air between the two controllers.
    final class Air {
        /// The keys that encrypted the link, in order.
        var keys: [Key128] = []
        /// The error with which encryption fails, whatever the keys.
        var failure: EncryptionFailure?
        /// Whether encryption never completes.
        var isSilent = false
    }
}

/// One end: its manager, and everything the manager needs.
final class SecuritySide: SecurityManagerDelegate {
    let manager: SecurityManager
    let link: LoopbackLink
    let connection: L2CAPConnection
    private let loop: VirtualEventLoop
    weak var other: SecuritySide?
    weak var air: PairedManagers.Air?

    var person = PairingBench.Person()
    /// The time that the user takes; nil for ever.
    var delay: Duration? = .milliseconds(100)
    var isPermitted = true
    var permissions = 0
    var storesKeys = true
    var prompts: [PairingPrompt] = []
    var isPromptOpen = false
    var pressed: [KeypressNotification.Kind] = []
    var stored: [(keys: PeerKeys, isBonding: Bool)] = []
    var failures: [SecurityError] = []
    var levels: [KeyLevel?] = []
    var keyChanges = 0
    /// The stored keys of the peer; several links may share one shelf.
    var shelf = Shelf()
    /// How often the manager requested a disconnection.
    var ends = 0
    /// How often the out-of-band data were used up.
    var usedOwnData = 0
    var answer: ((PairingAnswer) -> Void)?

    struct Full: Error {}

    final class Shelf {
        var keys: PeerKeys?
    }

    init(
        _ role: PairingRole,
        _ link: LoopbackLink,
        _ loop: VirtualEventLoop,
        _ configuration: PairingConfiguration,
        seed: UInt64,
        keys: PeerKeys?
    ) {
        self.link = link
        self.loop = loop
        let isCentral = role == .initiator
        connection = L2CAPConnection(link: link, role: isCentral ? .central : .peripheral, loop: loop)
        let own = isCentral ? PairingBench.central : PairingBench.peripheral
        manager = SecurityManager(
            channel: connection.register(.securityManager, maximumPayload: SecurityManager.maximumPayload),
            role: role,
            ownAddress: own,
            peerAddress: isCentral ? PairingBench.peripheral : PairingBench.central,
            loop: loop,
            random: RandomSource(seed: seed).split(isCentral ? 1 : 2),
            configuration: configuration,
            identity: LocalIdentity(address: own, key: Key128(Block128(high: isCentral ? 1 : 2, low: 0)))
        )
        shelf.keys = keys
        manager.delegate = self
    }

    /// The commands that this side has sent since the last call.
    func takeSent() -> [SMPCommand] { link.takeSent(on: 6).compactMap { try? SMPCommand(PacketBuffer($0)) } }

    // MARK: The controller

    func securityManager(_ manager: SecurityManager, perform action: SecurityManager.Action) {
        switch action {
        case .encrypt(let key): loop.schedule(after: .milliseconds(20)) { [weak self] in self?.encrypt(key) }
        case .encryptionChanged: levels.append(manager.encryption)
        case .ask(let prompt, let answer): ask(prompt, answer)
        case .closePrompt: isPromptOpen = false
        case .peerPressedKey(let kind): pressed.append(kind)
        case .askPermission:
            permissions += 1
            manager.permitted(isPermitted)
        case .store(let keys, let isBonding):
            if storesKeys {
                stored.append((keys, isBonding))
                if isBonding { shelf.keys = keys }
            }
            manager.stored(storesKeys)
        case .usedOutOfBand: usedOwnData += 1
        case .endLink:
            ends += 1
            levels.append(manager.encryption)
        case .fail(let error): failures.append(error)
        }
    }

    private func encrypt(_ key: EncryptionKey) {
        guard let other, let air, !air.isSilent else { return }
        let wasEncrypted = manager.encryption != nil
        guard let theirs = other.manager.longTermKey(random: key.random, diversifier: key.diversifier) else {
            return manager.encryptionChanged(.failed(air.failure ?? .keyMissing))
        }
        guard theirs == key.key, air.failure == nil else {
            manager.encryptionChanged(.failed(air.failure ?? .other))
            return other.manager.encryptionChanged(.failed(.other))
        }
        air.keys.append(theirs)
        for side in [other, self] {
            side.connection.encryptionChanged()
            side.manager.encryptionChanged(wasEncrypted ? .refreshed : .on)
        }
    }

    // MARK: The user

    private func ask(_ prompt: PairingPrompt, _ answer: @escaping (PairingAnswer) -> Void) {
        prompts.append(prompt)
        isPromptOpen = true
        self.answer = answer
        guard let delay else { return }
        loop.schedule(after: delay) { [weak self] in
            guard let self, let decision = decision(prompt) else { return }
            answer(decision)
        }
    }

    private func decision(_ prompt: PairingPrompt) -> PairingAnswer? {
        switch prompt {
        case .confirmPairing, .confirmReplacement, .compare: return person.accepts ? .accept : .refuse
        case .showPasskey: return nil
        case .enterPasskey, .enterPasskeyOnBoth:
            guard person.accepts else { return .refuse }
            for case .showPasskey(let passkey) in other?.prompts.reversed() ?? [] {
                return .passkey(person.entered ?? passkey)
            }
            return .passkey(person.entered ?? 111_111)
        }
    }

    // MARK: The store

    func securityManagerKeys(_ manager: SecurityManager) -> PeerKeys? { shelf.keys }

    func securityManager(_ manager: SecurityManager, keep keys: PeerKeys) throws {
        guard storesKeys else { throw Full() }
        keyChanges += 1
        shelf.keys = keys
    }
}
