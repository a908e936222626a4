import BluetoothTypes
import Bonds
import Cryptography
import EventLoops
import GATT
import HCI
import HCIHost
import L2CAP
import Privacy
import SMP

/// The security of one link: its Security Manager, its bond, and how well it is protected at this moment.
///
/// A level is believed when this host has asked for encryption and the controller has told that it is on (AB-H05). A link
/// that loses its encryption ends.
package final class SecureLink {
    /// The link as HCI knows it.
    package let connection: HCIConnection
    /// Pairs, and finds the keys. Its delegate is this link.
    package let manager: SecurityManager
    /// The bond with the peer, as it is kept at this moment. That there is one says nothing about who is there now, until the
    /// link is encrypted with it (AB-G03).
    package var bond: Bond? { bondIdentifier.flatMap { device.bonds?.bond($0) } }
    /// What the link has, as far as it is believed.
    package private(set) var linkSecurity = LinkSecurity()
    /// What the peer is called by whoever owns the link: in prompts, and in the bond that a pairing makes.
    package var identifier: BondIdentifier?
    /// The peer's name, if somebody knows it.
    package var name: String?
    /// Whether the person lets the peer have what asks for that (Core Vol 3 Part C 10.5).
    package var isAuthorized = false {
        didSet { update() }
    }
    /// Why the keys of the last pairing were not kept, where ``SecurityError/keysRefused`` was told.
    package internal(set) var keysRefusal: BondError?
    /// The attribute protocol on the link, which is told first.
    package var tellAttributes: ((LinkSecurity) -> Void)?
    /// Called after each change of ``linkSecurity``; L2CAP and the attribute protocol know by then.
    package var onChange: ((LinkSecurity) -> Void)?
    /// Called when a pairing has succeeded, with the bond that it made, if any. It is durable.
    package var onPaired: ((Bond?) -> Void)?
    /// Called when the peer turns out to have no key for the bond that there is (behaviour 6.12).
    package var onBondLost: (() -> Void)?
    /// Called when a pairing or encryption came to nothing, whoever began it.
    package var onFailure: ((SecurityError) -> Void)?
    /// Called when another link has taken the place of this one, which is over: that it ends on the air may take a while.
    package var onReplaced: (() -> Void)?

    /// Unique within the device.
    package let number: UInt64
    package let device: DeviceSecurity
    /// Which bond is the peer's.
    var bondIdentifier: BondIdentifier?
    /// The prompt that is open or waits.
    var prompt: (ticket: UInt64, answer: (PairingAnswer) -> Void)?
    /// Where the pairing stands that is under way.
    var pairing = PairingStage.none
    /// Whether the peer has paired on this link without a bond: it says nothing about the bond that there is.
    var hasPairedWithoutBond = false
    var life = LinkLife.open(.none)
    private let l2cap: L2CAPConnection

    /// Told once whether it worked.
    package typealias Completion = (Result<Void, SecurityError>) -> Void

    init(
        number: UInt64,
        connection: HCIConnection,
        l2cap: L2CAPConnection,
        ownAddress: BluetoothAddress,
        device: DeviceSecurity
    ) {
        self.number = number
        self.connection = connection
        self.l2cap = l2cap
        self.device = device
        bondIdentifier = device.bond(behind: connection.peerAddress)?.identifier
        manager = SecurityManager(
            channel: l2cap.register(.securityManager, maximumPayload: SecurityManager.maximumPayload),
            role: connection.role == .central ? .initiator : .responder,
            ownAddress: ownAddress,
            peerAddress: (connection.peerResolvableAddress ?? connection.peerAddress).plain,
            loop: device.loop,
            random: device.random,
            configuration: device.configuration,
            identity: device.identity(for: ownAddress)
        )
        manager.delegate = self
        reconfigure()
    }

    /// Whether the link is there.
    var isOpen: Bool {
        if case .over = life { return false }
        return true
    }

    /// The peer: its identity if that is known, else its address on the air.
    package var peer: BluetoothAddress { bond?.address ?? connection.peerAddress.plain }

    /// The peer as persons are asked about it.
    var prompted: PromptedPeer {
        PromptedPeer(link: number, address: peer, name: name ?? bond?.name, identifier: bond?.identifier ?? identifier)
    }

    /// What is done when the peer does not have the bond any more.
    package var lostBonds: SecurityPolicy.LostBonds {
        let ofCentrals = connection.role == .peripheral ? device.policy.lostBondsOfCentrals : nil
        return ofCentrals ?? device.policy.lostBonds
    }

    /// Follows the device's configuration.
    func reconfigure() {
        var configuration = device.configuration
        // Keys that nobody keeps are not promised to be kept.
        configuration.bonds = configuration.bonds && device.bonds != nil
        if connection.role == .peripheral, let capability = device.policy.capabilityAsPeripheral {
            configuration.ioCapability = capability
        }
        // What nobody looks at shows nothing (AB-A14).
        if device.prompter == nil { configuration.ioCapability = .noInputNoOutput }
        manager.consent = !device.policy.asksConsent ? .given : device.prompter == nil ? .missing : .asked
        manager.configuration = configuration
        manager.outOfBand = device.outOfBand(from: peer)
        update()
    }

    /// Begins what the device does by itself.
    func begin() {
        guard connection.role == .central, bond != nil, device.policy.encryptsBondedPeers else { return }
        life.undertaking = .encrypting
        manager.secure(.encrypted) { [weak self] _ in self?.life.undertaking = .none }
    }

    /// Calls `completion` when what the device does by itself right after connecting is done: a link to a bonded peer is
    /// encrypted then, or could not be (behaviour 6.11). At once where there is nothing to do.
    package func prepare(_ completion: @escaping Completion) {
        guard case .encrypting = life.undertaking else { return completion(.success(())) }
        manager.secure(.encrypted, completion: completion)
    }

    /// The link is gone. Its owner tells, who knows first.
    package func end() {
        let undertaking = life.undertaking
        life = .over
        manager.linkLost()
        device.ended(self)
        guard case .replacing(let waiting) = undertaking else { return }
        for completion in waiting { completion(.failure(.linkLost)) }
    }
}

// MARK: - How well the link is protected

extension SecureLink {
    /// Tells GATT and L2CAP what holds now. A key that is worse than the device's configuration allows protects nothing
    /// (AB-S07).
    func update() {
        let floor = device.configuration.floor
        var inUse: KeyLevel?
        var hasKey = true
        if case .open = life {
            inUse = manager.encryption.flatMap { $0.isAtLeast(floor) ? $0 : nil }
            // A key that is not good enough is one that the peer has to show first (AB-A10).
            hasKey = inUse != nil || manager.keys != nil && manager.encryption == nil
        }
        var security = LinkSecurity()
        security.encryption = inUse
        security.usableKey = inUse ?? manager.keys.flatMap { $0.level.isAtLeast(floor) ? $0.level : nil }
        security.hasKey = hasKey
        security.isSecureConnectionsOnly = floor.isAuthenticated && floor.isSecureConnections
        security.isAuthorized = isAuthorized
        guard security != linkSecurity else { return }
        linkSecurity = security
        l2cap.protection = security
        tellAttributes?(security)
        onChange?(security)
    }

    /// Tells what has happened on the link.
    func tell(_ kind: @autoclosure () -> SecurityHappening.Kind) {
        device.happenings.tell(SecurityHappening(kind(), peer: peer, link: connection.handle))
    }

    /// Ends a link whose security is not what it was (Core Vol 3 Part C 10.3.2, AB-L07).
    func securityLost() {
        guard isOpen else { return }
        tell(.securityLost)
        disconnect()
    }

    func disconnect(_ reason: HCIStatus = .authenticationFailure) {
        if case .open(let undertaking) = life { life = .ending(undertaking) }
        update()
        device.send(Disconnect(handle: connection.handle, reason: reason))
    }

    /// There is another link to the peer, which counts.
    func giveWay() {
        guard isOpen else { return }
        tell(.gaveWay)
        disconnect(.remoteUserTerminated)
        end()
        onReplaced?()
    }
}

// MARK: - The controller's part

extension SecureLink {
    /// The key that the controller of a peripheral asks for; nil when there is none.
    func longTermKey(random: UInt64, diversifier: UInt16) -> Key128? {
        manager.longTermKey(random: random, diversifier: diversifier)
    }

    func encryptionChanged(_ status: HCIStatus, isOn: Bool) {
        guard status == .success else { return manager.encryptionChanged(.failed(EncryptionFailure(status))) }
        let wasEncrypted = manager.encryption != nil
        manager.encryptionChanged(isOn ? .on : .off)
        if wasEncrypted, !isOn { securityLost() }
    }

    func encryptionRefreshed(_ status: HCIStatus) {
        guard status != .success else { return manager.encryptionChanged(.refreshed) }
        manager.encryptionChanged(.failed(EncryptionFailure(status)))
        securityLost()
    }

    /// Bonds are others. A link to a peer that has none any more ends, whether it is encrypted or on its way there.
    func bondsChanged() {
        guard bondIdentifier != nil, bond == nil else { return reconfigure() }
        bondIdentifier = nil
        manager.forget()
    }
}
