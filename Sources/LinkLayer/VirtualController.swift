import BluetoothTypes
import Cryptography
import EventLoops
import HCI
import Radio

/// A Bluetooth LE controller without hardware: HCI on one side, a node of the simulated air on the other.
///
/// It lives on the loop of its radio, and works as long as somebody holds it; letting go of it, on the loop, switches it
/// off in the middle of whatever it does.
package final class VirtualController {
    /// What the link layer can do, as LE Read Local Supported Features tells it.
    package static let supportedFeatures: LEFeatures = [
        .encryption, .connectionParametersRequest, .extendedReject, .peripheralInitiatedFeaturesExchange, .ping,
        .dataLengthExtension, .phy2M, .phyCoded, .extendedAdvertising, .channelSelectionAlgorithm2,
        .minimumUsedChannels, .sleepClockAccuracyUpdates, .privacy, .extendedScannerFilterPolicies,
        .remotePublicKeyValidation, .connectionSubrating, .periodicAdvertising, .periodicSyncTransferSender,
        .periodicSyncTransferRecipient, .periodicResponsesAdvertiser, .periodicResponsesScanner,
    ]

    /// What the controller is like.
    package let configuration: VirtualControllerConfiguration
    /// Its antenna: the position, and the account of its air time.
    package let node: RadioNode

    /// What ``node`` was used for: all of its air time since the controller was made, by link and purpose,
    /// and within a link by what went over it.
    package var airTime: [RadioUse: RadioNode.AirTime] { arbiter.uses }

    let loop: any EventLoop
    let random: RandomSource
    let host: HostPort
    let arbiter: RadioArbiter
    // Made at the end of the initializer, since they know their controller.
    private(set) var advertiser: Advertiser!
    private(set) var scanner: Scanner!
    private(set) var initiator: Initiator!
    private(set) var synchronizer: Synchronizer!

    /// The advertising sets of the extended commands, by their handles.
    var advertisers: [UInt8: Advertiser] = [:]

    // What the host has set, and a reset takes back.
    var advertisingCommands = AdvertisingCommands.none
    var randomAddress: BluetoothAddress?
    var acceptList: AcceptList
    let privacy: LinkPrivacy
    var channelMap = ChannelMap.all {
        didSet { for advertiser in advertisers.values { advertiser.secondary.map = channelMap } }
    }
    var suggestedOctets = DataLength.minimumOctets
    var suggestedTime = DataLength.minimumTime
    var defaultPHYs: PHYPreferences
    /// What LE Read Local P-256 Public Key has drawn last.
    var keyPair: P256KeyPair?
    /// What the host completes of the features.
    var hostFeatures: LEFeatures = []
    /// What links to come take as central of what peripherals ask for.
    var acceptableSubrate = SubrateRequest.initial
    /// How links to come take trains that their peers tell of.
    var defaultTransferRules = SyncTransferRules()
    /// What lies between the radio and the antenna, in tenths of a dB.
    var pathCompensation: (transmit: Int16, receive: Int16) = (0, 0)
    /// The host's room for data, and the link that gets it first next time.
    var hostFlow = HostFlow()
    var nextToPass = 0
    /// The line with the quirks, if there are any.
    private let quirks: QuirkLine?
    /// How often a peer was told the version once more.
    var versionsRepeated = 0
    /// Requests to connect that were to be sent, and those of them that were not.
    var requests = (made: 0, lost: 0)

    /// The links, in the order of their making.
    var links: [Link] = []
    private var lastHandle: UInt16 = 0

    /// A controller at the other end of a host's transport.
    ///
    /// - Parameters:
    ///   - transport: the controller's end of the line to the host.
    ///   - node: the antenna; nobody else may use it.
    ///   - loop: the loop of the radio.
    ///   - random: for addresses, delays and backoff; `split` one off for each controller.
    ///   - configuration: what it is like.
    package init(
        transport: any HCITransport,
        node: RadioNode,
        loop: any EventLoop,
        random: RandomSource,
        configuration: VirtualControllerConfiguration
    ) {
        self.configuration = configuration
        self.node = node
        self.loop = loop
        self.random = random
        quirks =
            configuration.quirks.isEmpty
            ? nil : QuirkLine(transport, configuration.quirks, loop: loop, random: random.split(2))
        let transport: any HCITransport = quirks ?? transport
        host = HostPort(transport: transport)
        arbiter = RadioArbiter(node: node, loop: loop)
        acceptList = AcceptList(size: configuration.acceptListSize)
        privacy = LinkPrivacy(size: configuration.resolvingListSize, loop: loop, random: random)
        defaultPHYs = .init()
        defaultPHYs = PHYPreferences(tx: supportedPHYs, rx: supportedPHYs)
        advertiser = makeAdvertiser(AdvertisingSet())
        let accuracy = ClockAccuracy(code: configuration.clockAccuracy.rawValue)
        scanner = Scanner(
            arbiter: arbiter,
            loop: loop,
            random: random,
            power: power,
            accuracy: accuracy,
            owner: self
        )
        initiator = Initiator(
            arbiter: arbiter,
            loop: loop,
            random: random,
            power: power,
            accuracy: accuracy,
            owner: self
        )
        synchronizer = Synchronizer(self)
        transport.onReceive = { [weak self] in self?.receive($0) }
        transport.onClose = { [weak self] _ in self?.reset() }
    }

    deinit {
        // Nothing is left on the loop that would come back to it.
        stopEverything()
    }

    /// How often the controller has misbehaved as its configuration says.
    package var quirksShown: [ControllerQuirk: Int] {
        var shown = quirks?.shown ?? [:]
        if versionsRepeated > 0 { shown[.versionRepeated] = versionsRepeated }
        if requests.lost > 0 { shown[.connectionsFail] = requests.lost }
        return shown
    }

    /// An advertiser for one set.
    func makeAdvertiser(_ set: AdvertisingSet) -> Advertiser {
        var set = set
        set.txPower = min(set.parameters.txPower, configuration.transmitPower)
        set.knowsAlgorithm2 = knowsAlgorithm2
        let advertiser = Advertiser(
            set,
            arbiter: arbiter,
            loop: loop,
            random: random,
            isPrecise: configuration.clockAccuracy.rawValue >= LEClockAccuracy.ppm50.rawValue,
            owner: self
        )
        advertiser.secondary.map = channelMap
        return advertiser
    }

    /// The power in dBm.
    var power: Double { Double(configuration.transmitPower) }

    /// The PHYs that the features tell of.
    var supportedPHYs: LEPHYs {
        var phys: LEPHYs = .le1M
        if configuration.features.contains(.phy2M) { phys.insert(.le2M) }
        if configuration.features.contains(.phyCoded) { phys.insert(.coded) }
        return phys
    }

    /// What a link of this controller can receive.
    var receiveLength: DataLength {
        guard configuration.features.contains(.dataLengthExtension) else {
            return DataLength(rxOctets: DataLength.minimumOctets, rxTime: DataLength.minimumTime)
        }
        let isCoded = configuration.features.contains(.phyCoded)
        return DataLength(
            rxOctets: DataLength.maximumOctets,
            rxTime: isCoded ? DataLength.maximumTimeCoded : DataLength.maximumTimeUncoded
        )
    }

    /// The initial state (Core Vol 4 Part E 7.3.2). Links are gone without a word: their peers find out by themselves.
    func reset() {
        stopEverything()
        links.removeAll()
        advertiser = makeAdvertiser(AdvertisingSet())
        advertisers.removeAll()
        scanner.settings = ScanSettings()
        advertisingCommands = .none
        host.reset()
        randomAddress = nil
        acceptList.clear()
        privacy.reset()
        channelMap = .all
        (suggestedOctets, suggestedTime) = (DataLength.minimumOctets, DataLength.minimumTime)
        defaultPHYs = PHYPreferences(tx: supportedPHYs, rx: supportedPHYs)
        pathCompensation = (0, 0)
        keyPair = nil
        hostFeatures = []
        acceptableSubrate = .initial
        defaultTransferRules = SyncTransferRules()
        hostFlow = HostFlow()
    }

    private func stopEverything() {
        scanner.stop()
        initiator.stop()
        advertiser.stop()
        for advertiser in advertisers.values {
            advertiser.stop()
            advertiser.train?.stop()
        }
        synchronizer?.reset()
        for link in links { link.drop() }
    }

    // MARK: From the host

    private func receive(_ packet: HCIPacket) {
        switch packet.kind {
        case .command: receiveCommand(packet.bytes)
        case .acl: receiveData(packet.bytes)
        // There are neither synchronous nor isochronous links.
        case .event, .synchronous, .isochronous: break
        }
    }

    private func receiveCommand(_ bytes: PacketBuffer) {
        // Octets that are no command at all have no opcode to answer to.
        guard let command = try? CommandPacket(reading: bytes) else { return }
        host.answering { CommandTable.shared.carryOut(command, on: self) }
    }

    private func receiveData(_ bytes: PacketBuffer) {
        guard let packet = try? ACLPacket(reading: bytes), let link = link(packet.handle) else { return }
        let stored = links.reduce(0) { $0 + $1.queue.packetCount }
        guard stored < Int(configuration.aclPacketCount), packet.payload.count <= Int(configuration.aclPacketLength)
        else {
            // The host does not keep to LE Read Buffer Size: the packet is lost (Core Vol 4 Part E 7.7.26).
            return host.send(DataBufferOverflow(linkKind: 1))
        }
        // Nothing to send takes no buffer for longer than this.
        guard !packet.payload.isEmpty, packet.boundary != .complete else { return self.link(link, completed: 1) }
        link.send(packet.payload, isStart: packet.boundary.isStart)
    }

    // MARK: Links

    /// The link with this handle.
    func link(_ handle: ConnectionHandle) -> Link? {
        links.first { $0.handle == handle }
    }

    /// Whether there is a link between these two devices already.
    func isConnected(_ own: BluetoothAddress?, _ peer: BluetoothAddress) -> Bool {
        links.contains { $0.parameters.identities.areThose(of: own, and: peer) }
    }

    /// A handle that no link has. Handles come round late, so that a stale one is noticed.
    func newHandle() -> ConnectionHandle {
        repeat {
            lastHandle = lastHandle >= ConnectionHandle.maximum.rawValue ? 1 : lastHandle + 1
        } while link(ConnectionHandle(rawValue: lastHandle)) != nil
        return ConnectionHandle(rawValue: lastHandle)
    }

    /// The address on the air for a kind, unless it is a private one of the controller's making.
    func ownAddress(_ kind: OwnAddressKind) -> OwnAddress {
        OwnAddress(kind: kind, fallback: kind.isRandom ? randomAddress : configuration.publicAddress)
    }
}
