import BluetoothTypes
import EventLoops
import HCI

// How links are made, what they report, and how they end.

extension VirtualController: ScannerOwner {
    func scanner(_ scanner: Scanner, reports report: AdvertisingReport) {
        host.send(LEAdvertisingReport(reports: [report]))
    }

    func scanner(_ scanner: Scanner, reports report: DirectedAdvertisingReport) {
        host.send(LEDirectedAdvertisingReport(reports: [report]))
    }

    func scanner(_ scanner: Scanner, reports report: ExtendedAdvertisingReport) {
        host.send(LEExtendedAdvertisingReport(reports: [report]))
    }

    func scanner(_ scanner: Scanner, received train: PeriodicTrain) {
        synchronizer.receive(train)
    }

    func scannerTimedOut(_ scanner: Scanner) {
        host.send(LEScanTimeout())
    }
}

extension VirtualController: InitiatorOwner {
    func initiator(
        _ initiator: Initiator,
        prepares advertiser: ResolvedDevice,
        parameters: PHYConnectionParameters,
        start: LinkStart
    ) -> ConnectionData? {
        connectionData(to: advertiser, as: initiator.own, parameters, start)
    }

    /// Returns the parameters of a new link to a device; nil if there can be none.
    func connectionData(
        to advertiser: ResolvedDevice,
        as own: OwnAddressParameters,
        _ parameters: PHYConnectionParameters,
        _ start: LinkStart
    ) -> ConnectionData? {
        guard links.count < configuration.maximumLinks,
            !isConnected(privacy.lastingAddress(own, towards: advertiser.identity), advertiser.identity)
        else { return nil }
        var data = ConnectionData()
        data.accessAddress = AccessAddress.random(random)
        data.crcInit = UInt32(truncatingIfNeeded: random.next() >> 40)
        data.windowSize = 1
        data.interval = parameters.intervalMax
        data.windowOffset = AnchorPlacement.offset(
            first: start.end + .microseconds(start.windowDelay),
            interval: data.interval,
            others: links.map { ($0.anchor, $0.control.timing.interval) }
        )
        data.latency = parameters.maxLatency
        data.timeout = parameters.supervisionTimeout
        data.channelMap = channelMap
        data.hop = UInt8(5 + random.below(12))
        data.clockAccuracy = configuration.clockAccuracy.rawValue
        return data
    }

    func initiator(
        _ initiator: Initiator,
        requested request: ConnectIndication,
        to advertiser: ResolvedDevice,
        usesAlgorithm2: Bool,
        start: LinkStart
    ) {
        addCentral(request, to: advertiser, as: initiator.own, usesAlgorithm2: usesAlgorithm2, start)
    }

    /// Adds the link made by a connection request.
    func addCentral(
        _ request: ConnectIndication,
        to advertiser: ResolvedDevice,
        as own: OwnAddressParameters,
        usesAlgorithm2: Bool,
        _ start: LinkStart,
        train: LinkTrain = .none
    ) {
        addLink(
            .init(
                handle: linkTable.newHandle(),
                role: .central,
                own: request.initiator,
                peer: request.advertiser,
                data: request.link,
                usesAlgorithm2: start.isAuxiliary || knowsAlgorithm2 && usesAlgorithm2,
                ownAccuracy: .init(code: configuration.clockAccuracy.rawValue),
                peerAccuracy: .init(code: 0),
                transmitPower: power,
                drift: configuration.clockDrift,
                start: start,
                identities: .init(
                    own: privacy.lastingAddress(own, towards: advertiser.identity),
                    ownPrivate: request.initiator == own.fallback ? nil : request.initiator,
                    peer: advertiser
                ),
                train: train
            )
        )
    }

    func initiator(_ initiator: Initiator, overheard pdu: AdvertisingPDU, _ frame: ReceivedFrame, on phy: LEPHY) {
        scanner.reportPassively(pdu, frame, on: phy)
    }

    func initiator(
        _ initiator: Initiator,
        overheard pdu: ExtendedAdvertisement,
        _ frame: ReceivedFrame,
        on trail: AuxiliaryTrail
    ) {
        scanner.reportPassively(pdu, frame, on: trail)
    }
}

extension VirtualController: LinkOwner {
    var hostRoom: Int? { linkTable.flow.room }

    func link(_ link: Link, received payload: PacketBuffer, isStart: Bool) {
        linkTable.sent(from: link)
        host.send(ACLPacket(handle: link.handle, boundary: isStart ? .start : .continuation, payload: payload))
    }

    func link(_ link: Link, completed packets: Int) {
        let entry = CompletedPackets(handle: link.handle, count: UInt16(truncatingIfNeeded: packets))
        host.send(NumberOfCompletedPackets(entries: [entry]))
    }

    func link(_ link: Link, endedWith reason: HCIStatus) {
        linkTable.remove(link)
        host.send(DisconnectionComplete(handle: link.handle, reason: reason))
        linkTable.passOn()
    }

    func link(_ link: Link, reports report: LinkControl.Report) {
        switch report {
        case .version(let status, let peer): host.send(link.versionComplete(status, peer))
        case .features(let status, let features):
            host.send(LEReadRemoteFeaturesComplete(status: status, handle: link.handle, features: features))
        case .dataLength: host.send(link.dataLengthChange)
        case .phy(let status): host.send(link.phyComplete(status))
        case .parameters(let status): host.send(link.updateComplete(status))
        case .parameterRequest(let asked): host.send(link.parameterRequest(asked))
        case .clockAccuracy(let status, let accuracy):
            let code = LEClockAccuracy(rawValue: accuracy.code)
            host.send(LERequestPeerSCAComplete(status: status, handle: link.handle, accuracy: code))
        case .subrate(let status, let subrate): host.send(link.subrateChange(status, subrate))
        case .sounding(let report): reportSounding(report, on: link)
        case .encryption(let status): reportEncryption(status, link)
        case .keyRefresh(let status): host.send(EncryptionKeyRefreshComplete(status: status, handle: link.handle))
        case .longTermKeyRequest(let random, let diversifier):
            host.send(LELongTermKeyRequest(handle: link.handle, random: random, encryptedDiversifier: diversifier))
        }
    }

    func link(_ link: Link, heardOf train: PeriodicSyncIndication) {
        receive(train, from: link)
    }

    func link(_ link: Link, sounded report: Sounder.Report, config: UInt8) {
        reportSounding(report, config: config, on: link)
    }

    func supervisionTimedOut(_ link: Link) {
        host.send(AuthenticatedPayloadTimeoutExpired(handle: link.handle))
    }

    /// Sends Encryption Change; version 2 if the host has enabled it, from 5.3 on (7.7.8). A link's key always has 16
    /// octets; only the hosts know its effective size.
    private func reportEncryption(_ status: HCIStatus, _ link: Link) {
        let state: EncryptionState = status == .success ? .on : .off
        let knowsKeySize = configuration.version >= .v5_3 && host.isWanted(EncryptionChangeV2.self)
        guard knowsKeySize else {
            return host.send(EncryptionChange(status: status, handle: link.handle, state: state))
        }
        let keySize: UInt8 = status == .success ? 16 : 0
        host.send(
            EncryptionChangeV2(EncryptionChange(status: status, handle: link.handle, state: state), keySize: keySize)
        )
    }
}

extension VirtualController {
    func sender(_ address: BluetoothAddress) -> ResolvedDevice {
        privacy.device(address) ?? ResolvedDevice(address: address, identity: address)
    }

    var knowsAlgorithm2: Bool { configuration.features.contains(.channelSelectionAlgorithm2) }

    var ownVersion: VersionIndication {
        VersionIndication(
            version: configuration.version,
            company: configuration.companyIdentifier,
            subversion: configuration.subversion
        )
    }

    func reportConnection(_ link: Link, _ timing: LinkTiming) {
        let accuracy = link.isCentral ? 0 : link.parameters.peerAccuracy.code
        var event = LEEnhancedConnectionComplete()
        event.handle = link.handle
        event.role = link.isCentral ? .central : .peripheral
        let identities = link.parameters.identities
        event.peerAddress = identities.peer.identity
        if let address = identities.ownPrivate { event.localResolvableAddress = address }
        if let address = identities.peerPrivate { event.peerResolvableAddress = address }
        event.interval = timing.interval
        event.latency = timing.latency
        event.supervisionTimeout = timing.timeout
        event.centralClockAccuracy = LEClockAccuracy(rawValue: accuracy)
        sendConnectionComplete(event, link.parameters.train)
        let isAlgorithm2 = link.parameters.usesAlgorithm2
        host.send(
            LEChannelSelectionAlgorithm(handle: link.handle, algorithm: isAlgorithm2 ? .algorithm2 : .algorithm1)
        )
    }

    /// Reports to the host that a pending connection was not established.
    func reportFailedConnection(
        _ status: HCIStatus,
        role: LERole,
        peer: BluetoothAddress,
        train: LinkTrain = .none
    ) {
        var event = LEEnhancedConnectionComplete()
        event.status = status
        event.role = role
        event.peerAddress = peer
        sendConnectionComplete(event, train)
    }

    /// Sends the newest of the three connection events that the host has enabled (7.7.65.10).
    private func sendConnectionComplete(_ event: LEEnhancedConnectionComplete, _ train: LinkTrain) {
        if host.isWanted(LEEnhancedConnectionCompleteV2.self) {
            var newest = LEEnhancedConnectionCompleteV2()
            (newest.v1, newest.set, newest.syncHandle) = (event, train.set, train.sync)
            return host.send(newest)
        }
        if host.isWanted(LEEnhancedConnectionComplete.self) { return host.send(event) }
        var plain = LEConnectionComplete()
        plain.status = event.status
        plain.handle = event.handle
        plain.role = event.role
        // This form has no identity addresses: it carries the address on the air (7.7.65.1).
        plain.peerAddress = event.peerAddress.kind.isIdentity ? event.peerResolvableAddress : event.peerAddress
        plain.interval = event.interval
        plain.latency = event.latency
        plain.supervisionTimeout = event.supervisionTimeout
        plain.centralClockAccuracy = event.centralClockAccuracy
        host.send(plain)
    }
}
