import BluetoothTypes
import EventLoops
import HCI

/// How a link takes trains that its peer tells of (Core Vol 4 Part E 7.8.91).
struct SyncTransferRules: Hashable {
    var mode = LESyncTransferMode.ignore
    var skip: UInt16 = 0
    var timeout: UInt16 = 0
}

// Periodic Advertising Sync Transfer (Core Vol 6 Part B 5.1.13).
extension VirtualController {
    /// What a peer is told of a train: an event of the train by an event of the link that comes before it.
    func indication(
        of sync: (UInt16, Int64) -> SyncInfo,
        at event: (anchor: Instant, counter: UInt16),
        on link: Link
    ) -> PeriodicSyncIndication {
        let interval = link.interval.microseconds
        let distance = (event.anchor - link.anchor).microseconds
        // An offset of less than one unit would be none.
        let events = Int((Double(distance - SyncInfo.shortUnit) / Double(interval)).rounded(.down))
        var pdu = PeriodicSyncIndication()
        pdu.sync = sync(event.counter, distance - Int64(events) * interval)
        pdu.reference = link.counter &+ UInt16(truncatingIfNeeded: events)
        pdu.syncCounter = link.counter
        pdu.lastCounter = event.counter
        pdu.accuracy = ClockAccuracy(code: configuration.clockAccuracy.rawValue)
        return pdu
    }

    /// The peer of a link has told of a train.
    func take(_ pdu: PeriodicSyncIndication, from link: Link) {
        let rules = link.transferRules
        guard rules.mode != .ignore, let phy = pdu.phy.single, supportedPHYs.isSuperset(of: pdu.phy)
        else { return }
        let device = privacy.device(pdu.advertiser) ?? HeardDevice(address: pdu.advertiser, identity: pdu.advertiser)
        guard !synchronizer.isFollowing(.init(advertiser: device.identity.device, sid: pdu.sid)) else { return }
        let events = Int(Int16(bitPattern: pdu.reference &- link.counter))
        let train = PeriodicTrain(
            advertiser: device.identity,
            address: pdu.advertiser,
            sid: pdu.sid,
            phy: phy,
            sync: pdu.sync,
            responses: pdu.responses,
            anchor: link.anchor + link.interval * events + .microseconds(pdu.sync.offset),
            reckonedAt: loop.now,
            // The clocks of three devices are in it: the worse of the two others counts for both.
            uncertainty: ClockAccuracy(code: min(pdu.sync.accuracy.code, pdu.accuracy.code))
        )
        guard let train = synchronizer.followable(train) else { return }
        synchronizer.follow(
            train,
            PeriodicRules(
                skip: rules.skip,
                timeout: .milliseconds(Int64(rules.timeout) * 10),
                reports: rules.mode == .reports
            ),
            .told(link.handle, serviceData: pdu.serviceData)
        )
    }
}

extension LEPHYs {
    /// The PHY, if it is one.
    var single: LEPHY? {
        switch self {
        case .le1M: .le1M
        case .le2M: .le2M
        case .coded: .coded
        default: nil
        }
    }
}
