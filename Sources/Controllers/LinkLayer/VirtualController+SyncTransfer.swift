import BluetoothTypes
import EventLoops
import HCI

// Periodic Advertising Sync Transfer (Core Vol 6 Part B 5.1.13).
extension VirtualController {
    /// Returns the description of a train for a peer: an event of the train relative to an earlier event of the link.
    func indication(
        of sync: (UInt16, Int64) -> SyncInfo,
        at event: (anchor: Instant, counter: UInt16),
        on link: Link
    ) -> PeriodicSyncIndication {
        let interval = link.interval.microseconds
        let distance = (event.anchor - link.anchor).microseconds
        // An offset of less than one unit would be encoded as 0, which means none.
        let events = Int((Double(distance - SyncInfo.shortUnit) / Double(interval)).rounded(.down))
        var pdu = PeriodicSyncIndication()
        pdu.sync = sync(event.counter, distance - Int64(events) * interval)
        pdu.reference = link.counter &+ UInt16(truncatingIfNeeded: events)
        pdu.syncCounter = link.counter
        pdu.lastCounter = event.counter
        pdu.accuracy = ClockAccuracy(code: configuration.clockAccuracy.rawValue)
        return pdu
    }

    /// Handles a periodic advertising train transferred by a link's peer.
    func receive(_ pdu: PeriodicSyncIndication, from link: Link) {
        let rules = link.transferRules
        guard rules.mode != .ignore, let phy = pdu.phy.single, supportedPHYs.isSuperset(of: pdu.phy)
        else { return }
        let device = privacy.device(pdu.advertiser) ?? ResolvedDevice(address: pdu.advertiser, identity: pdu.advertiser)
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
            estimatedAt: now,
            // The clocks of three devices are involved. The worse of the two remote ones counts for both.
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
            .transferred(link.handle, serviceData: pdu.serviceData)
        )
    }
}

extension LEPHYs {
    /// The PHY, if the set contains exactly one.
    var single: LEPHY? {
        switch self {
        case .le1M: .le1M
        case .le2M: .le2M
        case .coded: .coded
        default: nil
        }
    }
}
