import BluetoothTypes
import Cryptography
import EventLoops
import HCI
import HCIHost
import L2CAP
import SMP

/// The security of all links of a device: bonds, pairing, prompts, and the controller's part in encryption (Core Vol 3
/// Part C 10).
///
/// Each link is attached when it is established and has a ``SecureLink`` from then on. All methods and handlers run on
/// the event loop.
package final class DeviceSecurity {
    /// The way the device pairs. A change applies to existing links from their next pairing on.
    package var configuration: PairingConfiguration {
        didSet { for link in links { link.reconfigure() } }
    }
    package var policy = SecurityPolicy() {
        didSet { for link in links { link.reconfigure() } }
    }
    /// Shows prompts to the user. Without it every prompt is declined, and nothing that needs one is started (AB-A14).
    package weak var prompter: (any PairingPrompter)? {
        didSet {
            for link in links { link.reconfigure() }
            if prompter == nil { perform(prompts.handle(.prompterRemoved)) }
        }
    }
    /// Resolves the private addresses of bonded peers. It is kept up to date with the bonds.
    package weak var privacy: DevicePrivacy? {
        didSet { updatePrivacy() }
    }
    /// The identity behind this device's private addresses, which bonded peers receive. Initially that of the bond
    /// store.
    package var identity: LocalIdentity?
    /// The out-of-band data that this device has given to a peer.
    ///
    /// The first pairing with a peer that claims to have it uses it up, whatever the outcome: its public key would
    /// identify this device behind each of its addresses.
    package private(set) var ownOutOfBand: OwnOutOfBandData? {
        didSet { for link in links { link.reconfigure() } }
    }
    /// Out-of-band data from a peer whose address is not known yet. It applies to every peer until the next successful
    /// pairing.
    package private(set) var outOfBandOfNext: OutOfBandData? {
        didSet { for link in links { link.reconfigure() } }
    }
    /// Called when a pairing has created, changed or removed a bond, or when a bond has proved lost.
    package var onBondChange: ((BondIdentifier) -> Void)?
    /// The bond store; without one no pairing creates a bond. Links look up their bond when they are attached.
    package var bonds: BondStore? {
        didSet {
            identity = bonds?.identity
            for link in links { link.bondsChanged() }
            updatePrivacy()
        }
    }

    private(set) var host: HCIHost?
    package let loop: any EventLoop
    let random: RandomSource
    private let stackEvents: StackEventSink
    // Weak: the links belong to their owners.
    private var attached: [ConnectionHandle: WeakLink] = [:]
    private var lastLink: UInt64 = 0
    private var backOff = PairingBackOff()
    private var prompts = PromptQueue()
    private var lastTicket: UInt64 = 0
    /// The number of prompts that were opened. Answers to earlier ones are ignored.
    private var shown: UInt64 = 0

    /// Creates the security of a device, which has no links until ``begin(on:_:)`` gives it a controller.
    package init(
        loop: any EventLoop,
        random: RandomSource,
        bonds: BondStore? = nil,
        configuration: PairingConfiguration = PairingConfiguration(),
        stackEvents: StackEventSink
    ) {
        self.loop = loop
        self.random = random
        self.bonds = bonds
        self.configuration = configuration
        self.stackEvents = stackEvents
        identity = bonds?.identity
    }

    /// Starts serving the links of `host`. Those of an earlier host are over.
    package func begin(on host: HCIHost, _ privacy: DevicePrivacy?) {
        self.host = host
        self.privacy = privacy
        listen(to: host)
    }

    /// Sends a command to the controller. It fails if there is no controller.
    func send<C: HCICommand>(
        _ command: C,
        _ completion: @escaping (Result<C.Response, HCICommandError>) -> Void = { _ in }
    ) {
        guard let host else { return completion(.failure(.host(.notRunning))) }
        host.send(command, completion)
    }

    /// Starts securing a new link, including the Security Manager channel on it.
    ///
    /// As central, the device encrypts a link to a bonded peer at once; ``SecureLink/prepare(_:)`` waits for that.
    ///
    /// A peer can have only one link (Core Vol 6 Part B 1.1.1). If the existing link is encrypted, its peer has proved
    /// its identity: that link stays, and the new one is refused. If it is not encrypted, it gives way to the new one.
    /// So a device that replays an old private address can neither end the real peer's link nor take its place
    /// (AB-G03).
    ///
    /// - Parameters:
    ///   - connection: The HCI connection of the link.
    ///   - l2cap: The L2CAP connection of the link.
    ///   - ownAddress: The address that this device uses on the link, unless the controller generated one.
    /// - Returns: The link; nil if it is refused, in which case its disconnection has been requested.
    package func attach(
        _ connection: HCIConnection,
        _ l2cap: L2CAPConnection,
        ownAddress: BluetoothAddress
    ) -> SecureLink? {
        link(connection.handle)?.end()
        let peer = peer(behind: connection.peerAddress)
        let others = links.filter { $0.peer == peer }
        guard !others.contains(where: { $0.manager.encryption != nil }) else {
            stackEvents.report(SecurityEvent(.secondLinkRefused, peer: peer, link: connection.handle))
            send(Disconnect(handle: connection.handle, reason: .remoteUserTerminated))
            return nil
        }
        for other in others { other.giveWay() }
        lastLink += 1
        let link = SecureLink(
            number: lastLink,
            connection: connection,
            l2cap: l2cap,
            ownAddress: connection.localResolvableAddress ?? ownAddress,
            device: self
        )
        attached[connection.handle] = WeakLink(link: link)
        link.begin()
        return link
    }

    /// Offers out-of-band data of this device to peers, in place of earlier data. ``ownOutOfBand`` has it until a peer
    /// uses it.
    package func offerOutOfBand(_ own: OwnOutOfBandData) { ownOutOfBand = own }

    /// Ends the offer of out-of-band data on all links, because a peer has used it.
    func outOfBandIsUsed() { ownOutOfBand = nil }

    /// Expects the next peer to have this out-of-band data; nil expects nothing of it.
    package func expectOutOfBand(_ data: OutOfBandData?) { outOfBandOfNext = data }

    /// Removes a bond at the user's request (behaviour 6.12). The link to the peer ends.
    package func forget(_ identifier: BondIdentifier) throws(BondError) {
        guard let bonds else { return }
        if let bond = bonds.bond(identifier) { backOff.succeeded(bond.address) }
        try bonds.remove(identifier)
        bondChanged(identifier)
    }
}

// MARK: - Interface to links

extension DeviceSecurity {
    private struct WeakLink {
        weak var link: SecureLink?
    }

    /// The links, oldest first.
    private var links: [SecureLink] { attached.values.compactMap(\.link).sorted { $0.number < $1.number } }

    func link(_ handle: ConnectionHandle) -> SecureLink? { attached[handle]?.link }

    /// Notifies the links and the owner that a bond was created, changed or removed, or has proved lost.
    package func bondChanged(_ identifier: BondIdentifier) {
        for link in links { link.bondsChanged() }
        updatePrivacy()
        onBondChange?(identifier)
    }

    /// Passes the bonds to ``privacy`` when they have changed or been used.
    func updatePrivacy() {
        privacy?.peers = bonds?.bonds.map { PrivatePeer($0) } ?? []
    }

    /// Ends the other links to a peer that a pairing has identified. They were established before its identity was
    /// known.
    func settle(on link: SecureLink) {
        for other in links where other !== link && peer(behind: other.connection.peerAddress) == link.peer {
            other.giveWay()
        }
    }

    /// Returns the peer's identity address if it is known, or else `address`.
    private func peer(behind address: BluetoothAddress) -> BluetoothAddress {
        bond(behind: address)?.address ?? address.plain
    }

    /// Returns the bond with the peer behind an address; nil if there is none.
    func bond(behind address: BluetoothAddress) -> Bond? {
        guard let bonds else { return nil }
        let address = address.plain
        if let bond = bonds.bond(identity: address) { return bond }
        guard address.randomKind == .resolvable else { return nil }
        if let privacy { return privacy.peer(at: address).flatMap { bonds.bond(identity: $0.identity) } }
        return bonds.bonds.first { $0.keys.identityKey.map { address.isResolved(by: $0) } ?? false }
    }

    var outOfBand: OutOfBand { OutOfBand(peer: outOfBandOfNext, own: ownOutOfBand) }

    /// Returns the identity that this device distributes on a link.
    ///
    /// An address that stays the same is its own identity and has no key: a peer with a key would expect private
    /// addresses (Core Vol 3 Part H 2.4.2.1, Vol 6 Part B 6).
    func identity(for ownAddress: BluetoothAddress) -> LocalIdentity? {
        ownAddress.canStay ? identity.map { _ in LocalIdentity(address: ownAddress.plain, key: .zero) } : identity
    }

    /// Whether the peer has waited long enough after its failures (AB-S12).
    func mayPair(with peer: BluetoothAddress, isStranger: Bool = false) -> Bool {
        backOff.mayTry(peer, isStranger: isStranger, at: loop.now)
    }

    /// Counts a pairing that a stranger begins. Returns false if strangers have begun too many (AB-S18).
    func strangerBegins() -> Bool { backOff.strangerBegins(at: loop.now) }

    /// Lets peers whose pairings failed try again at once, at the user's request.
    func resetBackOff() { backOff = PairingBackOff() }

    func pairingFailed(with peer: BluetoothAddress, isStranger: Bool = false) {
        backOff.failed(peer, isStranger: isStranger, at: loop.now)
    }

    func pairingSucceeded(with peer: BluetoothAddress, isStranger: Bool = false) {
        backOff.succeeded(peer)
        if isStranger { backOff.strangerSucceeded() }
        // Out-of-band data is valid for one pairing.
        if outOfBandOfNext != nil { outOfBandOfNext = nil }
    }

    func report(_ event: @autoclosure () -> SecurityEvent) { stackEvents.report(event()) }

    func ended(_ link: SecureLink) {
        if self.link(link.connection.handle) === link { attached[link.connection.handle] = nil }
        closePrompt(of: link)
    }
}

// MARK: - Prompts

extension DeviceSecurity {
    func ask(_ prompt: PairingPrompt, of link: SecureLink, answer: @escaping (PairingAnswer) -> Void) {
        // Without a prompter the answer is no (AB-A14).
        guard prompter != nil else { return answer(.refuse) }
        lastTicket += 1
        link.promptWaits(lastTicket, answer: answer)
        let entry = PromptQueue.Entry(link: link.number, prompt: prompt, ticket: lastTicket, cause: link.cause)
        report(SecurityEvent(.asks(prompt, link.cause), peer: link.peer, link: link.connection.handle))
        perform(prompts.handle(.ask(entry)))
    }

    /// Moves the prompt of a link forward if the pairing has a cause of higher precedence by now.
    func causeChanged(of link: SecureLink) {
        if link.hasPrompt { perform(prompts.handle(.caused(link: link.number, link.cause))) }
    }

    func closePrompt(of link: SecureLink) {
        link.promptEnded()
        perform(prompts.handle(.close(link: link.number)), ended: link)
    }

    private func perform(_ actions: [PromptQueue.Action], ended: SecureLink? = nil) {
        for action in actions {
            switch action {
            case .open(let entry): open(entry)
            case .close(let number):
                guard let link = link(number) ?? ended else { continue }
                prompter?.closePrompt(link.prompted(link.cause))
            case .answer(let entry, let answer): link(entry.link)?.answerPrompt(entry.ticket, answer)
            }
        }
    }

    private func open(_ entry: PromptQueue.Entry) {
        guard let link = link(entry.link) else { return perform(prompts.handle(.close(link: entry.link))) }
        guard let prompter else { return perform(prompts.handle(.prompterRemoved)) }
        shown += 1
        prompter.prompt(entry.prompt, peer: link.prompted(entry.cause)) { [weak self, shown] answer in
            guard let self, self.shown == shown else { return }
            perform(prompts.handle(.answered(ticket: entry.ticket, answer)))
        }
    }

    private func link(_ number: UInt64) -> SecureLink? { links.first { $0.number == number } }
}

extension AdapterIdentity {
    /// Creates the identity of a controller, to which the bonds of a store belong (AB-H08).
    package init(_ controller: ControllerInformation) {
        self.init(
            address: controller.publicAddress ?? .none,
            company: controller.companyIdentifier,
            place: controller.place
        )
    }
}
