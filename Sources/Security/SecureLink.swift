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

/// The security of one link: its Security Manager, its bond, and its current protection.
///
/// A level is trusted only if this host requested encryption and the controller reported that it is on (AB-H05). A link
/// that loses its encryption ends.
package final class SecureLink {
    /// The HCI connection of the link.
    package let connection: HCIConnection
    /// The Security Manager, whose delegate is this link.
    package let manager: SecurityManager
    /// The bond with the peer, as currently stored; nil if there is none.
    ///
    /// The existence of a bond does not prove the peer's identity until the link is encrypted with it (AB-G03).
    package var bond: Bond? { bondIdentifier.flatMap { device.bonds?.bond($0) } }
    /// The current security of the link, as far as it is trusted.
    package var linkSecurity: LinkSecurity { l2cap.linkSecurity }
    /// The owner's identifier for the peer, for prompts and for the bond that a pairing creates.
    package var identifier: BondIdentifier?
    /// The name of the peer; nil if it is unknown.
    package var name: String?
    /// Whether the user authorized the peer for what requires authorization (Core Vol 3 Part C 10.5).
    package var isAuthorized = false {
        didSet { update() }
    }
    /// The reason why the keys of the last pairing were not stored, after ``SecurityError/keysRefused``.
    package internal(set) var keysRefusal: BondError?
    /// Notifies the attribute protocol of changes of ``linkSecurity``, before ``onChange`` is called.
    package var tellAttributes: ((_ old: LinkSecurity) -> Void)?
    /// Called after each change of ``linkSecurity``, when the attribute protocol has been notified.
    package var onChange: ((LinkSecurity) -> Void)?
    /// Called when a pairing has succeeded, with the bond that it created, if any. The bond has been stored durably.
    package var onPaired: ((Bond?) -> Void)?
    /// Called when the peer proves to have no key for the existing bond (behaviour 6.12).
    package var onBondLost: (() -> Void)?
    /// Called when a pairing or encryption has failed, whichever side started it.
    package var onFailure: ((SecurityError) -> Void)?
    /// Called when another link to the peer has replaced this one. This link is over, although its disconnection on the
    /// air may take a while.
    package var onReplaced: (() -> Void)?

    /// The number of the link, unique within the device.
    package let number: UInt64
    package let device: DeviceSecurity
    /// The identifier of the peer's bond; nil if there is none.
    var bondIdentifier: BondIdentifier?
    /// The link's prompt, open or waiting.
    var prompt: (ticket: UInt64, answer: (PairingAnswer) -> Void)?
    /// The stage of the pairing in progress.
    var pairing = PairingStage.none
    /// Whether the peer has paired on this link without a bond. Such a pairing proves nothing about an existing bond.
    var hasPairedWithoutBond = false
    var life = LinkLife.open(.none)
    private let l2cap: L2CAPConnection

    /// Called once, with the outcome of a procedure.
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

    /// Whether the link has not ended.
    var isOpen: Bool {
        if case .over = life { return false }
        return true
    }

    /// The identity address of the peer if it is known, or else its address on the air.
    package var peer: BluetoothAddress { bond?.address ?? connection.peerAddress.plain }

    /// The description of the peer for prompts.
    var prompted: PromptedPeer {
        PromptedPeer(link: number, address: peer, name: name ?? bond?.name, identifier: bond?.identifier ?? identifier)
    }

    /// The response to a peer that no longer has the bond.
    package var lostBonds: SecurityPolicy.LostBonds {
        let ofCentrals = connection.role == .peripheral ? device.policy.lostBondsOfCentrals : nil
        return ofCentrals ?? device.policy.lostBonds
    }

    /// Applies the device's configuration and policy.
    func reconfigure() {
        var configuration = device.configuration
        // Without a bond store, bonding is not offered.
        configuration.bonds = configuration.bonds && device.bonds != nil
        if connection.role == .peripheral, let capability = device.policy.capabilityAsPeripheral {
            configuration.ioCapability = capability
        }
        // Without a prompter there is no input or output (AB-A14).
        if device.prompter == nil { configuration.ioCapability = .noInputNoOutput }
        manager.consent = !device.policy.asksConsent ? .given : device.prompter == nil ? .missing : .asked
        manager.configuration = configuration
        manager.outOfBand = device.outOfBand(from: peer)
        update()
    }

    /// Starts the procedures that the device performs on its own initiative.
    func begin() {
        guard connection.role == .central, bond != nil, device.policy.encryptsBondedPeers else { return }
        life.undertaking = .encrypting
        manager.secure(.encrypted) { [weak self] _ in self?.life.undertaking = .none }
    }

    /// Calls `completion` when the automatic encryption after connecting has finished, successfully or not (behaviour
    /// 6.11).
    ///
    /// If there is nothing to wait for, `completion` is called immediately.
    package func prepare(_ completion: @escaping Completion) {
        guard case .encrypting = life.undertaking else { return completion(.success(())) }
        manager.secure(.encrypted, completion: completion)
    }

    /// Ends the link because it was lost. Called by its owner, who is notified first.
    package func end() {
        let undertaking = life.undertaking
        life = .over
        manager.linkLost()
        device.ended(self)
        guard case .replacing(let waiting) = undertaking else { return }
        for completion in waiting { completion(.failure(.linkLost)) }
    }
}

// MARK: - Current protection

extension SecureLink {
    /// Records the current security of the link, and reports it to the layers above. A key below the minimum of the
    /// device's configuration protects nothing (AB-S07).
    func update() {
        let floor = device.configuration.floor
        var inUse: KeyLevel?
        var hasKey = true
        if case .open = life {
            inUse = manager.encryption.flatMap { $0.isAtLeast(floor) ? $0 : nil }
            // The peer has to prove that it has the key even if the key is too weak (AB-A10).
            hasKey = inUse != nil || manager.keys != nil && manager.encryption == nil
        }
        var new = LinkSecurity()
        new.encryption = inUse
        new.usableKey = inUse ?? manager.keys.flatMap { $0.level.isAtLeast(floor) ? $0.level : nil }
        new.hasKey = hasKey
        new.isSecureConnectionsOnly = floor.isAuthenticated && floor.isSecureConnections
        new.isAuthorized = isAuthorized
        let old = linkSecurity
        guard new != old else { return }
        l2cap.linkSecurity = new
        tellAttributes?(old)
        onChange?(new)
    }

    /// Reports an event on the link.
    func tell(_ kind: @autoclosure () -> SecurityHappening.Kind) {
        device.happenings.tell(SecurityHappening(kind(), peer: peer, link: connection.handle))
    }

    /// Ends a link whose security was lost (Core Vol 3 Part C 10.3.2, AB-L07).
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

    /// Ends the link in favour of another one to the same peer.
    func giveWay() {
        guard isOpen else { return }
        tell(.gaveWay)
        disconnect(.remoteUserTerminated)
        end()
        onReplaced?()
    }
}

// MARK: - Events from the controller

extension SecureLink {
    /// Returns the key that the controller of a peripheral requests; nil if there is none.
    func longTermKey(random: UInt64, diversifier: UInt16) -> Key128? {
        manager.longTermKey(random: random, diversifier: diversifier)
    }

    func encryptionChanged(_ status: HCIStatus, isOn: Bool) {
        guard status == .success else { return manager.encryptionChanged(.failed(EncryptionFailure(status))) }
        let wasEncrypted = manager.encryption != nil
        l2cap.encryptionChanged()
        manager.encryptionChanged(isOn ? .on : .off)
        if wasEncrypted, !isOn { securityLost() }
    }

    func encryptionRefreshed(_ status: HCIStatus) {
        guard status != .success else {
            l2cap.encryptionChanged()
            return manager.encryptionChanged(.refreshed)
        }
        manager.encryptionChanged(.failed(EncryptionFailure(status)))
        securityLost()
    }

    /// Handles changed bonds. If the peer's bond was removed, the link ends, whether it is encrypted or being
    /// encrypted.
    func bondsChanged() {
        guard bondIdentifier != nil, bond == nil else { return reconfigure() }
        bondIdentifier = nil
        manager.forget()
    }
}
