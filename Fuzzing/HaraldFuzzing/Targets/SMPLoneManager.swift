import BluetoothTypes
import Cryptography
import EventLoops

@testable import L2CAP
@testable import SMP

/// A channel that counts PDUs.
final class FuzzedChannel: L2CAPChannel {
    var onReceive: ((PacketBuffer, LinkMoment) -> Void)?
    var onClose: (() -> Void)?
    var onDrain: (() -> Void)?
    var queuedPDUs: Int { 0 }
    let history = LinkHistory()
    var sent: [PacketBuffer] = []

    func arrive(_ payload: PacketBuffer) {
        history.advance()
        onReceive?(payload, moment)
    }

    func send(_ payload: consuming PacketBuffer) { sent.append(payload) }
}

/// A security manager with a controller, a user and a store that may do anything.
final class LoneManager: SecurityManagerDelegate {
    private let loop = VirtualEventLoop()
    private let channel = FuzzedChannel()
    private let person = FuzzedPerson()
    private let manager: SecurityManager
    private var isPermitted = true
    private var storesKeys = true
    /// The stored keys of the peer.
    private var kept: PeerKeys?
    private var isGivenUp = false
    private var hasGivenKey = false
    private var isOver = false
    private var waiting = 0
    private var isDead = false

    struct Full: Error {}

    init(setup: UInt8, _ more: UInt8) {
        let role: PairingRole = setup & 1 == 0 ? .initiator : .responder
        var configuration = PairingConfiguration()
        configuration.ioCapability = IOCapability.all[Int(more & 7) % 5]
        configuration.legacy =
            [.refused, .whenPeerOffersNothingElse, .only, .whenPeerOffersNothingElse][Int(setup >> 1 & 3)]
        configuration.minimumKeySize = more & 8 == 0 ? 16 : 7
        configuration.notifiesKeypresses = more & 16 != 0
        configuration.givenKeys = [.encryption, .identity, .signing]
        configuration.wantedKeys = [.encryption, .identity, .signing]
        configuration.requiresProtection = more & 32 != 0
        let own = BluetoothAddress(0xC0FF_EE00_0001, kind: .randomDevice)
        manager = SecurityManager(
            channel: channel,
            role: role,
            ownAddress: own,
            peerAddress: BluetoothAddress(2, kind: .publicDevice),
            loop: loop,
            random: RandomSource(seed: 1),
            configuration: configuration,
            identity: LocalIdentity(address: own, key: Key128(Block128(high: 1, low: 1)))
        )
        kept = setup & 8 == 0 ? nil : Self.bond
        if more & 64 != 0 {
            person.hasData = true
            manager.outOfBand.peer = .legacy(Key128(Block128(high: 3, low: 3)))
        }
        manager.delegate = self
    }

    private static var bond: PeerKeys {
        var keys = PeerKeys(level: KeyLevel(keySize: 16, isAuthenticated: false, isSecureConnections: true))
        keys.localKey = EncryptionKey(key: Key128(Block128(high: 5, low: 5)))
        keys.peerKey = keys.localKey
        keys.localSigningKey = keys.localKey?.key
        keys.peerSigningKey = keys.localKey?.key
        return keys
    }

    func take(_ input: inout FuzzInput) {
        channel.sent = []
        let kind = input.octet() & 0xF
        let octets = input.counted()
        let value = octets.first ?? 0
        switch kind {
        case 0, 8, 9, 10: channel.arrive(PacketBuffer(octets))
        case 1: secure(value)
        case 2: person.reply(.accept)
        case 3: answer(value)
        case 4: report(value)
        case 5: askForKey(value)
        case 6: loop.run(for: .seconds(Int64(value & 31)))
        case 7: change(value)
        case 11:
            _ = manager.sign(PacketBuffer(octets)).map { hold($0.count == 12, "a signature of \($0.count) octets") }
        case 12: verify(octets)
        default: channel.arrive(PacketBuffer([value & 0xF] + octets.dropFirst()))
        }
        check()
    }

    private func check() {
        hold(channel.sent.count <= 16, "\(channel.sent.count) commands for one event")
        hold(!isDead || channel.sent.isEmpty, "something is sent after the timeout")
        for command in channel.sent {
            let again = try? SMPCommand(command)
            hold(again?.framed() == command, "\(command) cannot be read")
        }
        hold(waiting <= SecurityMachine.maximumWaiters, "too many callers wait")
        hold(manager.encryption == nil || hasGivenKey, "encrypted without a key")
        hold(manager.encryption == nil || !isGivenUp, "a level on a link that was given up")
        guard let level = manager.encryption, !manager.isPairing else { return }
        hold(manager.keys?.level == level, "a level without a key that is kept")
    }

    private func secure(_ value: UInt8) {
        waiting += 1
        var isAnswered = false
        let completion: (Result<Void, SecurityError>) -> Void = { [unowned self] result in
            hold(!isAnswered, "a request has two outcomes")
            isAnswered = true
            waiting -= 1
            if case .success = result { hold(manager.encryption != nil, "success without encryption") }
        }
        if value & 3 == 3 { return manager.pair(completion: completion) }
        let levels = [SecurityLevel.encrypted, .authenticated, .secureConnections]
        manager.secure(levels[Int(value & 3) % 3], completion: completion)
    }

    private func answer(_ value: UInt8) {
        switch value & 7 {
        case 0: person.reply(.refuse)
        case 1: person.reply(.passkey(UInt32(value) << 12))
        case 2: person.reply(.typing(KeypressNotification.Kind(rawValue: value >> 3)))
        default: person.reply(.accept)
        }
    }

    private func report(_ value: UInt8) {
        let reports: [EncryptionChangeReport] = [
            .on, .refreshed, .off, .failed(.keyMissing), .failed(.timedOut), .failed(.other), .on, .on,
        ]
        let report = reports[Int(value & 7)]
        if case .failed = report {} else { channel.history.encryptionChanged() }
        manager.encryptionChanged(report)
    }

    private func askForKey(_ value: UInt8) {
        let key = manager.longTermKey(random: UInt64(value >> 4), diversifier: UInt16(value & 1))
        hold(key != .zero, "a key of zeroes is given away")
        if key != nil { hasGivenKey = true }
    }

    private func change(_ value: UInt8) {
        switch value & 7 {
        case 0: forget(isAwareOfLoss: value & 8 != 0)
        case 1: if manager.encryption == nil { kept = Self.bond }
        case 2: isPermitted.toggle()
        case 3: storesKeys.toggle()
        case 4: manager.cancel()
        case 5: manager.configuration.isPairable.toggle()
        case 6: manager.outOfBand = OutOfBand(own: OwnOutOfBandData(random: RandomSource(seed: 4)))
        default:
            guard value > 0xF0 else { return }
            isOver = true
            manager.linkLost()
            hold(waiting == 0, "\(waiting) requests wait for a link that is gone")
        }
    }

    /// Removes the bond. On a link that is not encrypted yet, the manager may have to find out from the store.
    private func forget(isAwareOfLoss: Bool) {
        kept = nil
        if isAwareOfLoss || manager.encryption != nil { manager.forget() }
    }

    private func verify(_ octets: [UInt8]) {
        let signature = PacketBuffer(Array(octets.suffix(12)))
        let message = PacketBuffer(Array(octets.dropLast(12)))
        guard manager.verify(message, signature: signature) else { return }
        hold(!manager.verify(message, signature: signature), "a signature counts twice")
    }

    func end() {
        manager.linkLost()
        hold(waiting == 0, "\(waiting) requests wait for a link that is gone")
        hold(person.prompt == nil, "a prompt is left open")
        hold(manager.encryption == nil, "encrypted without a link")
        channel.sent = []
        channel.arrive([0x01, 3, 0, 0, 16, 0, 0])
        loop.run(for: .seconds(100))
        hold(channel.sent.isEmpty, "something is sent without a link")
    }

    // MARK: Delegate

    func securityManager(_ manager: SecurityManager, perform action: SecurityManager.Action) {
        switch action {
        case .encrypt(let key):
            hold(manager.role == .initiator && !isOver, "a peripheral encrypts")
            hold(key.key != .zero, "a key of zeroes")
            hasGivenKey = true
        case .ask(let prompt, let answer): person.ask(prompt, answer)
        case .closePrompt: person.close()
        case .askPermission:
            person.begin()
            manager.permitted(isPermitted)
        case .store(let keys, let isBonding):
            person.check(manager, keys)
            if storesKeys, isBonding { kept = keys }
            manager.stored(storesKeys)
        case .endLink: isGivenUp = true
        // A Security Request without a response does not end pairing on the link.
        case .fail: if manager.machine.pairing.isDead { isDead = true }
        case .peerPressedKey, .usedOutOfBand, .encryptionChanged: break
        }
    }

    func securityManagerKeys(_ manager: SecurityManager) -> PeerKeys? { kept }

    func securityManager(_ manager: SecurityManager, keep keys: PeerKeys) throws {
        guard storesKeys else { throw Full() }
        hold(keys.localSignCounter >= kept?.localSignCounter ?? 0, "a number decreases")
        hold(keys.peerSignCounter >= kept?.peerSignCounter ?? 0, "the peer's number decreases")
        kept = keys
    }
}
