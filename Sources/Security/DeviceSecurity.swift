import BluetoothTypes
import Bonds
import Cryptography
import EventLoops
import HCI
import HCIHost
import L2CAP
import Privacy
import SMP

/// The security of all links of a device: who it is bonded with, how it pairs, who is asked, and the controller's part in
/// encryption (Core Vol 3 Part C 10).
///
/// Each link is attached when it is made, and has a ``SecureLink`` from then on.
package final class DeviceSecurity {
    /// Peers whose out-of-band data are kept. The one that came first makes room.
    package static let maximumOutOfBandPeers = 32

    /// How the device pairs. Links that there are follow with their next pairing.
    package var configuration: PairingConfiguration {
        didSet { for link in links { link.reconfigure() } }
    }
    /// What the device does by itself.
    package var policy = SecurityPolicy() {
        didSet { for link in links { link.reconfigure() } }
    }
    /// Who asks persons; without it, whatever would be asked is refused, and nothing is begun that would have to be (AB-A14).
    package weak var prompter: (any PairingPrompter)? {
        didSet {
            for link in links { link.reconfigure() }
            if prompter == nil { perform(prompts.handle(.prompterLeft)) }
        }
    }
    /// What recognises bonded peers by their private addresses, and remembers whose is whose. It is told of the bonds.
    package weak var privacy: DevicePrivacy? {
        didSet { tellPrivacy() }
    }
    /// Who this device is behind its private addresses, as peers learn it with a bond; that of the store at first.
    package var identity: LocalIdentity?
    /// What a peer got from this device another way. The first pairing with a peer that says that it has it uses it up,
    /// however that ends: its public key would show who this device is behind each of its addresses.
    package var ownOutOfBand: OwnOutOfBandData? {
        didSet { for link in links { link.reconfigure() } }
    }
    /// What came another way from a peer whose address is not known yet: it counts for any peer that has nothing of its own,
    /// until the next pairing.
    package var outOfBandOfNext: OutOfBandData? {
        didSet { for link in links { link.reconfigure() } }
    }
    /// Called when a bond was made, changed or removed by a pairing, or found to be lost.
    package var onBondChange: ((BondIdentifier) -> Void)?
    /// Where bonds are kept; without it, no pairing makes one. Links look their bond up when they are made.
    package var bonds: BondStore? {
        didSet {
            identity = bonds?.identity
            for link in links { link.bondsChanged() }
            tellPrivacy()
        }
    }

    private(set) var host: HCIHost?
    package let loop: any EventLoop
    let random: RandomSource
    let happenings: HappeningSink
    // Their owners keep them.
    private var attached: [ConnectionHandle: WeakLink] = [:]
    private var lastLink: UInt64 = 0
    private var backOff = PairingBackOff()
    private var outOfBand: [(peer: BluetoothAddress, data: OutOfBandData)] = []
    private var prompts = PromptQueue()
    private var lastTicket: UInt64 = 0

    /// Security for the links of a device; there are none before it has a controller.
    ///
    /// - Parameters:
    ///   - random: For keys.
    ///   - bonds: Where bonds are kept; without it, no pairing makes one.
    ///   - configuration: How the device pairs.
    package init(
        loop: any EventLoop,
        random: RandomSource,
        bonds: BondStore? = nil,
        configuration: PairingConfiguration = PairingConfiguration(),
        happenings: HappeningSink
    ) {
        self.loop = loop
        self.random = random
        self.bonds = bonds
        self.configuration = configuration
        self.happenings = happenings
        identity = bonds?.identity
    }

    /// From now on it is about the links of this host. Those of another one are over.
    package func begin(on host: HCIHost, _ privacy: DevicePrivacy?) {
        self.host = host
        self.privacy = privacy
        listen(to: host)
    }

    /// Sends a command to the controller; without one it fails.
    func send<C: HCICommand>(
        _ command: C,
        _ completion: @escaping (Result<C.Response, HCICommandError>) -> Void = { _ in }
    ) {
        guard let host else { return completion(.failure(.host(.notRunning))) }
        host.send(command, completion)
    }

    /// Takes care of a link from its first moment on, and of the Security Manager's channel on it. A central encrypts at
    /// once when it is bonded with the peer; ``SecureLink/prepare(_:)`` waits for it.
    ///
    /// A peer has one link (Core Vol 6 Part B 1.1.1). One that is encrypted has shown who is there: it stays, and the newcomer
    /// is refused. One that is not has shown nothing, and gives way. So whoever repeats an old private address neither ends
    /// the real peer's link nor keeps its place (AB-G03).
    ///
    /// - Parameter ownAddress: The address of this device on the air for this link, unless the controller made one.
    /// - Returns: Nil when the link is refused; its end is asked for.
    package func attach(
        _ connection: HCIConnection,
        _ l2cap: L2CAPConnection,
        ownAddress: BluetoothAddress
    ) -> SecureLink? {
        link(connection.handle)?.end()
        let peer = peer(behind: connection.peerAddress)
        let others = links.filter { $0.peer == peer }
        guard !others.contains(where: { $0.manager.encryption != nil }) else {
            happenings.tell(SecurityHappening(.secondLinkRefused, peer: peer, link: connection.handle))
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

    /// What came from a peer another way than over a link; nil to forget it.
    package func setOutOfBand(_ data: OutOfBandData?, from peer: BluetoothAddress) {
        outOfBand.removeAll { $0.peer == peer.plain }
        if let data {
            if outOfBand.count >= Self.maximumOutOfBandPeers { outOfBand.removeFirst() }
            outOfBand.append((peer.plain, data))
        }
        for link in links where link.peer == peer.plain { link.reconfigure() }
    }

    /// Removes a bond, as a person may (behaviour 6.12). The link to the peer ends.
    package func forget(_ identifier: BondIdentifier) throws(BondError) {
        guard let bonds else { return }
        if let bond = bonds.bond(identifier) { backOff.succeeded(bond.address) }
        try bonds.remove(identifier)
        bondChanged(identifier)
    }
}

// MARK: - What links ask

extension DeviceSecurity {
    private struct WeakLink {
        weak var link: SecureLink?
    }

    /// The links, the oldest first.
    private var links: [SecureLink] { attached.values.compactMap(\.link).sorted { $0.number < $1.number } }

    func link(_ handle: ConnectionHandle) -> SecureLink? { attached[handle]?.link }

    /// A bond was made, changed, removed, or found to be lost.
    package func bondChanged(_ identifier: BondIdentifier) {
        for link in links { link.bondsChanged() }
        tellPrivacy()
        onBondChange?(identifier)
    }

    /// Bonds are others, or were used.
    func tellPrivacy() {
        privacy?.peers = bonds?.bonds.map { PrivatePeer($0) } ?? []
    }

    /// A pairing has told who is on a link. Others to the same peer, made when nobody knew that, give way.
    func settle(on link: SecureLink) {
        for other in links where other !== link && peer(behind: other.connection.peerAddress) == link.peer {
            other.giveWay()
        }
    }

    /// The peer at an address: its identity if that is known.
    private func peer(behind address: BluetoothAddress) -> BluetoothAddress {
        bond(behind: address)?.address ?? address.plain
    }

    /// The bond with the peer behind an address.
    func bond(behind address: BluetoothAddress) -> Bond? {
        guard let bonds else { return nil }
        let address = address.plain
        if let bond = bonds.bond(identity: address) { return bond }
        guard address.randomKind == .resolvable else { return nil }
        if let privacy { return privacy.peer(at: address).flatMap { bonds.bond(identity: $0.identity) } }
        return bonds.bonds.first { $0.keys.identityKey.map { address.isResolved(by: $0) } ?? false }
    }

    func outOfBand(from peer: BluetoothAddress) -> OutOfBand {
        OutOfBand(peer: outOfBand.first { $0.peer == peer }?.data ?? outOfBandOfNext, own: ownOutOfBand)
    }

    /// Who this device says it is on a link. An address that stays is its own identity, and has no key: a peer that had one
    /// would wait for private addresses (Core Vol 3 Part H 2.4.2.1, Vol 6 Part B 6).
    func identity(for ownAddress: BluetoothAddress) -> LocalIdentity? {
        ownAddress.canStay ? identity.map { _ in LocalIdentity(address: ownAddress.plain, key: .zero) } : identity
    }

    func mayPair(with peer: BluetoothAddress) -> Bool { backOff.mayTry(peer, at: loop.now) }

    /// Lets those whose pairings have failed try again at once, as a person may want it.
    package func forgiveAll() { backOff = PairingBackOff() }

    func pairingFailed(with peer: BluetoothAddress) { backOff.failed(peer, at: loop.now) }

    func pairingSucceeded(with peer: BluetoothAddress) {
        backOff.succeeded(peer)
        // What came another way was for this pairing.
        outOfBand.removeAll { $0.peer == peer }
        if outOfBandOfNext != nil { outOfBandOfNext = nil }
    }

    func ended(_ link: SecureLink) {
        if self.link(link.connection.handle) === link { attached[link.connection.handle] = nil }
        closePrompt(of: link)
    }
}

// MARK: - Prompts

extension DeviceSecurity {
    func ask(_ prompt: PairingPrompt, of link: SecureLink, answer: @escaping (PairingAnswer) -> Void) {
        // Nobody to ask (AB-A14).
        guard prompter != nil else { return answer(.refuse) }
        lastTicket += 1
        link.prompt = (lastTicket, answer)
        perform(prompts.handle(.ask(PromptQueue.Entry(link: link.number, prompt: prompt, ticket: lastTicket))))
    }

    func closePrompt(of link: SecureLink) {
        link.prompt = nil
        perform(prompts.handle(.close(link: link.number)), ended: link)
    }

    private func perform(_ actions: [PromptQueue.Action], ended: SecureLink? = nil) {
        for action in actions {
            switch action {
            case .open(let entry): open(entry)
            case .close(let number):
                guard let link = link(number) ?? ended else { continue }
                prompter?.closePrompt(link.prompted)
            case .answer(let entry, let answer):
                guard let link = link(entry.link), let waiting = link.prompt, waiting.ticket == entry.ticket else {
                    continue
                }
                if case .typing = answer {} else { link.prompt = nil }
                waiting.answer(answer)
            }
        }
    }

    private func open(_ entry: PromptQueue.Entry) {
        guard let link = link(entry.link) else { return perform(prompts.handle(.close(link: entry.link))) }
        guard let prompter else { return perform(prompts.handle(.prompterLeft)) }
        prompter.prompt(entry.prompt, peer: link.prompted) { [weak self] answer in
            guard let self else { return }
            perform(prompts.handle(.answered(ticket: entry.ticket, answer)))
        }
    }

    private func link(_ number: UInt64) -> SecureLink? { links.first { $0.number == number } }
}
