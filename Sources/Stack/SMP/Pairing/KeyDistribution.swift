import BluetoothTypes
import Cryptography

/// The keys that one device distributes once the link is encrypted (Core Vol 3 Part H 2.4.3, 3.6.1).
package struct DistributedKeys: Hashable, Sendable {
    /// The identity behind private addresses.
    package struct Identity: Hashable, Sendable {
        /// The key that resolves the addresses (IRK); zero for a device that has none.
        package var key: Key128
        package var address: BluetoothAddress

        package init(key: Key128, address: BluetoothAddress) { (self.key, self.address) = (key, address) }
    }

    package var encryption: EncryptionKey?
    package var identity: Identity?
    /// The connection signature resolving key (CSRK).
    package var signing: Key128?

    var kinds: KeyKinds {
        var kinds: KeyKinds = []
        if encryption != nil { kinds.insert(.encryption) }
        if identity != nil { kinds.insert(.identity) }
        if signing != nil { kinds.insert(.signing) }
        return kinds
    }

    /// The commands that distribute the keys, in the required order (3.6.1).
    var commands: [SMPCommand] {
        var commands: [SMPCommand] = []
        if let encryption {
            commands.append(.encryptionInformation(EncryptionInformation(encryption.key)))
            let (diversifier, random) = (encryption.diversifier, encryption.random)
            commands.append(.centralIdentification(CentralIdentification(diversifier: diversifier, random: random)))
        }
        if let identity {
            commands.append(.identityInformation(IdentityInformation(identity.key)))
            commands.append(.identityAddress(IdentityAddressInformation(identity.address)))
        }
        if let signing { commands.append(.signingInformation(SigningInformation(signing))) }
        return commands
    }
}

/// Key distribution in both directions: first the responder's keys, then the initiator's (Core Vol 3 Part H 3.6.1).
struct KeyDistribution {
    enum Action: Hashable {
        case send(SMPCommand)
        case done(DistributedKeys)
        case fail(PairingFailure)
    }

    private let role: PairingRole
    private let given: DistributedKeys
    /// The identity of this device, whether or not it is distributed.
    private let own: DistributedKeys.Identity
    /// The commands that the peer still has to send, in order. Others, and duplicates, are rejected (AB-S11).
    private var expected: [SMPCode]
    private var received = DistributedKeys()

    init(role: PairingRole, given: DistributedKeys, own: DistributedKeys.Identity, expected kinds: KeyKinds) {
        self.role = role
        self.given = given
        self.own = own
        expected = []
        if kinds.contains(.encryption) { expected += [.encryptionInformation, .centralIdentification] }
        if kinds.contains(.identity) { expected += [.identityInformation, .identityAddressInformation] }
        if kinds.contains(.signing) { expected.append(.signingInformation) }
    }

    mutating func begin() -> [Action] {
        // The initiator distributes its keys once it has received all of the responder's.
        role == .responder || expected.isEmpty ? distribute() : []
    }

    mutating func receive(_ command: SMPCommand) -> [Action] {
        guard expected.first == command.code else { return [.fail(.unspecifiedReason)] }
        expected.removeFirst()
        guard store(command) else { return [.fail(.keyRejected)] }
        guard expected.isEmpty else { return [] }
        return role == .initiator ? distribute() : [.done(received)]
    }

    private func distribute() -> [Action] {
        given.commands.map(Action.send) + (expected.isEmpty ? [.done(received)] : [])
    }

    /// Stores a key of the peer; returns false if the key must not be used.
    private mutating func store(_ command: SMPCommand) -> Bool {
        switch command {
        case .encryptionInformation(let packet):
            received.encryption = EncryptionKey(key: packet.longTermKey)
            return packet.longTermKey != .zero
        case .centralIdentification(let packet):
            received.encryption?.diversifier = packet.diversifier
            received.encryption?.random = packet.random
        case .identityInformation(let packet):
            received.identity = .init(key: packet.key, address: .none)
            // With our own key, the peer's addresses would resolve as ours (AB-S11).
            return packet.key == .zero || packet.key != own.key
        case .identityAddress(let packet):
            // The address must be public or static random (3.6.5), and not our own (AB-S11).
            let address = packet.address
            guard address.kind == .publicDevice || address.kind == .randomDevice && address.randomKind == .static,
                address != own.address
            else { return false }
            received.identity?.address = address
        case .signingInformation(let packet):
            received.signing = packet.key
            return packet.key != .zero
        default: return false
        }
        return true
    }
}
