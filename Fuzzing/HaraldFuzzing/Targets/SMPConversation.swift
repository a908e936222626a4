import BluetoothTypes
import Cryptography
import EventLoops

@testable import L2CAP
@testable import SMP

/// Two security managers, and an attacker who changes what they send while the link is not encrypted. On an encrypted
/// link a change ends the link, unless one of the two peers is the attacker.
final class Conversation {
    /// The limit of commands in one conversation; no pairing needs as many.
    private static let maximumCommands = 400

    private let loop = VirtualEventLoop()
    private var input: FuzzInput
    private(set) var central: Side
    private(set) var peripheral: Side
    private var wire: [(to: Side, octets: PacketBuffer)] = []
    private var held: [(to: Side, octets: PacketBuffer)] = []
    private var isChanged = false
    private var commands = 0
    private let begins: UInt8
    /// Whether one of the two peers changes commands, so that they also change on the encrypted link.
    private var isPeerHostile: Bool { begins & 8 != 0 }
    /// Whether the two are bonded.
    private var isBonded: Bool { begins & 16 != 0 }

    init(_ input: FuzzInput) {
        var input = input
        let (first, second) = (input.octet(), input.octet())
        begins = input.octet()
        self.input = input
        central = Side(.initiator, first, loop)
        peripheral = Side(.responder, second, loop)
        central.other = peripheral
        peripheral.other = central
        if isBonded {
            central.remember()
            peripheral.remember()
        }
        // The user removes the bond while the link is being encrypted with it.
        if begins & 32 != 0 { (begins & 64 == 0 ? peripheral : central).forgetsMeanwhile = true }
        // The same out-of-band data, on one side or on both.
        guard first & 64 != 0, let own = OwnOutOfBandData(random: RandomSource(seed: 9)) else { return }
        central.manager.outOfBand.own = own
        peripheral.manager.outOfBand.peer = own.shared
        peripheral.person.hasData = true
        central.person.hasData = true
    }

    func run() {
        // The attacker is faster than the central.
        if begins & 128 != 0 {
            isChanged = true
            deliver(PacketBuffer(input.counted()), to: peripheral)
        }
        if begins & 1 != 0 { central.manager.pair() }
        if begins & 2 != 0 { peripheral.manager.secure(.encrypted) }
        if begins & 4 != 0 { central.manager.secure(.authenticated) }
        for _ in 0..<Self.maximumCommands {
            collect()
            if !wire.isEmpty {
                carry(wire.removeFirst())
            } else if !held.isEmpty {
                wire = held
                held = []
            } else if !central.live() && !peripheral.live() {
                break
            }
        }
        collect()
        hold(wire.count < 50, "\(wire.count) commands are in flight")
    }

    private func collect() {
        for side in [central, peripheral] {
            for octets in side.channel.sent { if let other = side.other { wire.append((other, octets)) } }
            side.channel.sent = []
        }
    }

    private func carry(_ item: (to: Side, octets: PacketBuffer)) {
        commands += 1
        let isEncrypted = central.manager.encryption != nil || peripheral.manager.encryption != nil
        let change = isEncrypted && !isPeerHostile ? 0 : input.octet() & 7
        if change != 0 { isChanged = true }
        switch change {
        case 1: break
        case 2:
            deliver(item.octets, to: item.to)
            deliver(item.octets, to: item.to)
        case 3:
            var octets = item.octets.bytes
            let place = Int(input.octet()) % octets.count
            octets[place] ^= 1 << (input.octet() & 7)
            deliver(PacketBuffer(octets), to: item.to)
        case 4:
            // Reflected to its sender.
            if let sender = item.to.other { deliver(item.octets, to: sender) }
        case 5: held.append(item)
        case 6: deliver(PacketBuffer(input.counted()), to: item.to)
        case 7:
            var octets = item.octets.bytes
            let place = Int(input.octet()) % octets.count
            for (index, octet) in input.octets(4).enumerated() where place + index < octets.count {
                octets[place + index] = octet
            }
            deliver(PacketBuffer(octets), to: item.to)
        default: deliver(item.octets, to: item.to)
        }
    }

    private func deliver(_ octets: PacketBuffer, to side: Side) { side.channel.arrive(octets) }

    func end() {
        loop.run(for: .seconds(31))
        collect()
        let (a, b) = (central, peripheral)
        if let mine = a.keys, let theirs = b.keys, a.pairings == 1, b.pairings == 1 {
            hold(mine.level == theirs.level, "two levels of one pairing: \(mine.level), \(theirs.level)")
            if mine.level.isSecureConnections {
                hold(mine.peerKey == theirs.localKey, "both have paired, with different keys")
            }
        }
        // An undisturbed request that can be satisfied must succeed.
        if !isChanged, !isBonded, begins & 7 == 1, a.isWilling, b.isWilling {
            hold(a.pairings == 1 && b.pairings == 1, "an undisturbed pairing failed")
        }
        for side in [a, b] {
            let level = side.manager.encryption
            let isKept = level == nil || side.manager.isPairing || side.manager.keys?.level == level
            hold(isKept, "a level without a key that is kept")
            side.manager.linkLost()
            hold(side.person.prompt == nil, "a prompt is left open")
        }
    }

    /// One end of the conversation.
    final class Side: SecurityManagerDelegate {
        let manager: SecurityManager
        let channel = FuzzedChannel()
        let person = FuzzedPerson()
        let isWilling: Bool
        weak var other: Side?
        private(set) var keys: PeerKeys?
        private(set) var pairings = 0
        /// Whether the bond is removed before encryption is on.
        var forgetsMeanwhile = false
        private let loop: VirtualEventLoop
        private var key: EncryptionKey?
        private var hasAnswered = true

        init(_ role: PairingRole, _ setup: UInt8, _ loop: VirtualEventLoop) {
            self.loop = loop
            isWilling = setup & 32 == 0
            var configuration = PairingConfiguration()
            configuration.ioCapability = IOCapability.all[Int(setup & 7) % 5]
            configuration.legacy = setup & 8 == 0 ? .whenPeerOffersNothingElse : .only
            configuration.minimumKeySize = setup & 16 == 0 ? 16 : 7
            configuration.givenKeys = [.encryption, .identity, .signing]
            configuration.wantedKeys = [.encryption, .identity, .signing]
            let isCentral = role == .initiator
            let addresses = [
                BluetoothAddress(0xC0FF_EE00_0001, kind: .randomDevice), BluetoothAddress(2, kind: .publicDevice),
            ]
            manager = SecurityManager(
                channel: channel,
                role: role,
                ownAddress: addresses[isCentral ? 0 : 1],
                peerAddress: addresses[isCentral ? 1 : 0],
                loop: loop,
                random: RandomSource(seed: UInt64(setup) << 1 | (isCentral ? 1 : 0)),
                configuration: configuration,
                identity: LocalIdentity(
                    address: addresses[isCentral ? 0 : 1],
                    key: Key128(Block128(high: isCentral ? 1 : 2, low: 1))
                )
            )
            manager.delegate = self
        }

        /// Performs pending actions: the controller encrypts, the user answers. Returns false if there are none.
        func live() -> Bool {
            if let key {
                self.key = nil
                encrypt(key)
                return true
            }
            guard !hasAnswered, let prompt = person.prompt else { return false }
            hasAnswered = true
            guard isWilling else {
                person.reply(.refuse)
                return true
            }
            switch prompt {
            case .confirmPairing, .confirmReplacement, .compare: person.reply(.accept)
            case .showPasskey: break
            case .enterPasskey, .enterPasskeyOnBoth:
                guard case .showPasskey(let passkey)? = other?.person.prompt else {
                    person.reply(.passkey(111_111))
                    return true
                }
                person.reply(.passkey(passkey))
            }
            return true
        }

        private func encrypt(_ key: EncryptionKey) {
            guard let other else { return }
            let isOn = manager.encryption != nil
            let isProof = other.trusts(key)
            let theirs = other.manager.longTermKey(random: key.random, diversifier: key.diversifier)
            hold(!isProof || theirs == key.key, "a peer with the bond's key is refused")
            for side in [self, other] where side.forgetsMeanwhile { side.forget() }
            guard theirs == key.key else {
                if theirs != nil { other.manager.encryptionChanged(.failed(.other)) }
                return manager.encryptionChanged(.failed(theirs == nil ? .keyMissing : .other))
            }
            for side in [other, self] {
                side.channel.history.encryptionChanged()
                side.manager.encryptionChanged(isOn ? .refreshed : .on)
            }
        }

        /// Keeps the keys of an earlier pairing.
        func remember() {
            var keys = PeerKeys(level: KeyLevel(keySize: 16, isAuthenticated: true, isSecureConnections: true))
            keys.localKey = EncryptionKey(key: Key128(Block128(high: 5, low: 6)))
            keys.peerKey = keys.localKey
            self.keys = keys
        }

        /// Whether `key` belongs to the bond, and no state of this side contradicts it.
        private func trusts(_ key: EncryptionKey) -> Bool {
            keys?.localKey == key && manager.machine.state != .ended && manager.machine.pairing.agreedKey == nil
                && manager.encryption == nil
        }

        private func forget() {
            guard keys != nil else { return }
            keys = nil
            manager.forget()
        }

        func securityManager(_ manager: SecurityManager, perform action: SecurityManager.Action) {
            switch action {
            case .encrypt(let key): self.key = key
            case .ask(let prompt, let answer):
                hasAnswered = false
                person.ask(prompt, answer)
            case .closePrompt: person.close()
            case .askPermission:
                person.begin()
                manager.permitted(true)
            case .store(let keys, _):
                hold(isWilling || person.hasAgreed || person.hasData, "a pairing that the user refused")
                person.check(manager, keys)
                self.keys = keys
                pairings += 1
                manager.stored(true)
            case .peerPressedKey, .usedOutOfBand, .encryptionChanged, .fail, .endLink: break
            }
        }

        func securityManagerKeys(_ manager: SecurityManager) -> PeerKeys? { keys }
        func securityManager(_ manager: SecurityManager, keep keys: PeerKeys) throws { self.keys = keys }
    }
}
