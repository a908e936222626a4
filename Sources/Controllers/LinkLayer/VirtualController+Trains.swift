import BluetoothTypes
import EventLoops
import HCI

// Connections made from trains with responses (Core Vol 6 Part B 4.4.2.12), and the reports of such trains.
extension VirtualController: PeriodicAdvertiserOwner {
    func train(_ train: PeriodicAdvertiser, wantsDataFrom first: UInt8, count: UInt8) {
        host.send(LEPeriodicAdvertisingSubeventDataRequest(set: train.set, first: first, count: count))
    }

    func train(_ train: PeriodicAdvertiser, reports report: LEPeriodicAdvertisingResponseReport) {
        host.send(report)
    }

    /// The train with a pending connection request, if any.
    var connectingTrain: PeriodicAdvertiser? {
        trains.values.first { $0.pendingConnect != nil }
    }

    /// Returns the device to connect to, under the private address that it used last if its addresses are resolved.
    private func device(_ pendingConnect: PendingConnectRequest) -> ResolvedDevice {
        let named = pendingConnect.command.peerAddress
        guard named.kind.isIdentity else { return sender(named) }
        return ResolvedDevice(address: privacy.list.seenAddress(of: named) ?? named.device, identity: named)
    }

    func train(
        _ train: PeriodicAdvertiser,
        prepares pendingConnect: PendingConnectRequest,
        endingAt end: Instant
    ) -> ConnectIndication? {
        let device = device(pendingConnect)
        let command = pendingConnect.command
        let own = train.phy == .coded ? command.coded : train.phy == .le2M ? command.le2M : command.le1M
        guard let parameters = own ?? command.le1M ?? command.le2M ?? command.coded,
            let address = privacy.address(pendingConnect.own, towards: device),
            let data = connectionData(
                to: device,
                as: pendingConnect.own,
                parameters,
                LinkStart(end: end, phy: train.phy, isAuxiliary: true)
            )
        else { return nil }
        return ConnectIndication(
            initiator: address,
            advertiser: device.address,
            link: data,
            // The bit is reserved in AUX_CONNECT_REQ (2.3.3.1).
            knowsAlgorithm2: false
        )
    }

    func train(
        _ train: PeriodicAdvertiser,
        requested request: ConnectIndication,
        for pendingConnect: PendingConnectRequest,
        _ start: LinkStart
    ) {
        let origin = LinkTrain(set: train.set)
        addCentral(
            request,
            to: device(pendingConnect),
            as: pendingConnect.own,
            usesAlgorithm2: true,
            start,
            train: origin
        )
    }

    func train(_ train: PeriodicAdvertiser, failed pendingConnect: PendingConnectRequest) {
        reportFailedConnection(
            .connectionFailedToBeEstablished,
            role: .central,
            peer: pendingConnect.command.peerAddress,
            train: LinkTrain(set: train.set)
        )
    }

}

extension VirtualController: SynchronizerOwner {
    /// Whether a connection request in a subevent is for this device and can be accepted (AB-L03).
    func canAccept(_ request: ConnectIndication) -> Bool {
        guard let own = identity(behind: request.advertiser), request.link.isValid,
            links.count < configuration.maximumLinks, let peer = privacy.device(request.initiator)
        else { return false }
        return !isConnected(own, peer.identity)
    }

    /// Returns this device's identity address behind an address; nil if the address is not this device's.
    private func identity(behind address: BluetoothAddress) -> BluetoothAddress? {
        if address == configuration.publicAddress || address == randomAddress { return address }
        guard address.randomKind == .resolvable, privacy.isOwn(address) else { return nil }
        return randomAddress ?? configuration.publicAddress
    }

    func accept(_ request: ConnectIndication, at end: Instant, of follower: PeriodicFollower) {
        let own = identity(behind: request.advertiser)
        addLink(
            .init(
                handle: linkTable.newHandle(),
                role: .peripheral,
                own: request.advertiser,
                peer: request.initiator,
                data: request.link,
                usesAlgorithm2: true,
                ownAccuracy: .init(code: configuration.clockAccuracy.rawValue),
                peerAccuracy: .init(code: request.link.clockAccuracy),
                transmitPower: power,
                drift: configuration.clockDrift,
                start: LinkStart(end: end, phy: follower.train.phy, isAuxiliary: true),
                identities: .init(
                    own: own == request.advertiser ? own : nil,
                    ownPrivate: own == request.advertiser ? nil : request.advertiser,
                    peer: sender(request.initiator)
                ),
                train: LinkTrain(sync: follower.handle)
            )
        )
    }
}
