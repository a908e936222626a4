import BluetoothTypes
import EventLoops
import Foundation
import GAP
import HCI
import ServiceMessages

/// One manager's scan: which sightings it reports, and in what form (behaviours 2.2 to 2.9, 2.15, 2.34).
struct ScanSubscription {
    /// The number of devices that a scan remembers as reported. Beyond, the oldest may be reported again (AB-G02).
    static let maximumReported = 4_096

    let request: ScanRequest
    private let filter: ScanFilter
    /// Whether each device was reported with its scan response. The first reported device is the oldest.
    private var reported = RecencyTable<UUID, Bool>(limit: ScanSubscription.maximumReported)
    private(set) var presence: PresenceWatch?
    private var tally = ScanCounts()

    /// - Parameter old: The previous scan, if devices that it reported are not to be reported again (behaviour 2.17).
    init(_ request: ScanRequest, after old: ScanSubscription? = nil) {
        self.request = request
        filter = ScanFilter(request)
        if let old { reported = old.reported }
        presence = request.lostAfter.map { PresenceWatch(milliseconds: $0) }
    }

    var counts: ScanCounts {
        var counts = tally
        counts.remembered = reported.count
        return counts
    }

    /// Forgets which devices were reported (behaviour 15.29).
    mutating func forgetReported() {
        reported.removeAll()
    }

    mutating func forget(_ peer: UUID) {
        reported.removeValue(for: peer)
    }

    /// Removes and returns the devices that have been silent for too long. They are reported again when next received.
    mutating func takeLost(at now: Instant) -> [UUID] {
        let lost = presence?.takeLost(at: now) ?? []
        for peer in lost { reported.removeValue(for: peer) }
        return lost
    }

    /// Returns what to report of an advertisement; nil if the filter does not match or the manager has it already.
    ///
    /// - Parameter repeats: Whether duplicates may be reported if the app asked for them.
    mutating func report(
        _ heard: ReceivedAdvertisement,
        of peer: UUID,
        at now: Instant = .zero,
        repeats: Bool = true
    ) -> Advertisement? {
        guard filter.matches(heard) else { return nil }
        presence?.advertisementReceived(peer, at: now)
        tally.heard += 1
        guard isNews(heard.sighting, of: peer) || (repeats && request.allowsDuplicates) else {
            tally.suppressed += 1
            return nil
        }
        tally.reported += 1
        return Advertisement(heard, hints: filter.hints(in: heard))
    }

    private mutating func isNews(_ sighting: Sighting, of peer: UUID) -> Bool {
        guard let hadScanResponse = reported[peer] else {
            if reported.set(sighting.hasScanResponse, for: peer) != nil { tally.forgotten += 1 }
            return true
        }
        // With the scan response, the advertisement is reported again even without duplicates (behaviour 2.15).
        guard sighting.hasScanResponse, !hadScanResponse else { return false }
        reported.update(peer) { $0 = true }
        return true
    }
}

extension Advertisement {
    /// Creates what a scan reports. `hints` are the services of its filter that only the overflow area hints at.
    init(_ heard: ReceivedAdvertisement, hints: [BluetoothUUID]) {
        let (sighting, data) = (heard.sighting, heard.sighting.data)
        self.init()
        serviceUUIDs = heard.services
        solicitedServiceUUIDs = heard.solicited
        overflowServiceUUIDs = hints
        localName = data.localName?.text
        manufacturerData = data.manufacturerDataForApps
        for (service, octets) in data.serviceData { serviceData[service] = octets }
        txPowerLevel = data.txPowerLevel
        isConnectable = sighting.isConnectable
        if let phys = sighting.phys {
            (primaryPHY, secondaryPHY) = (Int(phys.primary.rawValue), Int(phys.secondary.rawValue))
        }
    }
}

extension AdvertisingData {
    /// The manufacturer data, unless they are for the system.
    fileprivate var manufacturerDataForApps: PacketBuffer? { manufacturerData.flatMap(Self.forApps) }

    /// All manufacturer data of the advertisement and the scan response, one after the other (behaviour 2.41).
    var joinedManufacturerData: PacketBuffer? {
        let parts = structures.filter { $0.type == .manufacturerData && $0.payload.count >= 2 }.map(\.payload)
        let visible = parts.compactMap(Self.forApps)
        return visible.isEmpty ? nil : PacketBuffer(visible.flatMap { Array($0) })
    }

    /// Returns manufacturer data, unless they are an overflow area or an iBeacon, which are not for apps
    /// (behaviour 2.29).
    private static func forApps(_ data: PacketBuffer) -> PacketBuffer? {
        let isApple = data.starts(with: [0x4C, 0x00])
        let isOverflowArea =
            isApple && data.count == OverflowArea.encodedLength - AdvertisingData.headerLength
            && data[2] == 0x01
        let isBeacon = isApple && data.count >= 4 && data[2] == 0x02 && data[3] == 0x15
        return isOverflowArea || isBeacon ? nil : data
    }
}
