import BluetoothTypes
import GAP
import ServiceMessages

/// An advertisement with the parts that scans match against, parsed once for all scans.
struct ReceivedAdvertisement {
    let sighting: Sighting
    let services: [BluetoothUUID]
    let solicited: [BluetoothUUID]
    /// The overflow area, which hints at further services.
    let area: OverflowArea?

    init(_ sighting: Sighting) {
        self.sighting = sighting
        services = sighting.data.serviceUUIDs
        solicited = sighting.data.solicitedServiceUUIDs
        area = OverflowArea(in: sighting.data)
    }
}

/// The services that a scan asks for, hashed once for each scan: the cost of a match depends on the advertisement, not
/// on the number of services (AB-G05).
struct ScanFilter {
    private let wanted: Set<BluetoothUUID>
    private let solicited: Set<BluetoothUUID>
    /// The requested services in the app's order, each with its bit in the overflow area.
    private let hashed: [(service: BluetoothUUID, bit: Int)]
    private let area: OverflowArea

    init(_ request: ScanRequest) {
        let services = request.services ?? []
        wanted = Set(services)
        solicited = Set(request.solicitedServices)
        var seen: Set<BluetoothUUID> = []
        hashed = services.filter { seen.insert($0).inserted }.map { ($0, OverflowArea.index(of: $0)) }
        area = OverflowArea(bits: hashed.map(\.bit))
    }

    /// Whether any of the services is advertised, hinted at or solicited. A scan without services matches every
    /// advertisement (behaviours 2.4, 2.8, 2.34).
    func matches(_ heard: ReceivedAdvertisement) -> Bool {
        if wanted.isEmpty && solicited.isEmpty { return true }
        return heard.services.contains { wanted.contains($0) } || heard.solicited.contains { solicited.contains($0) }
            || heard.area.map(area.intersects) ?? false
    }

    /// Returns the requested services that only the overflow area hints at. The area can be tested for a service but
    /// not enumerated (behaviours 2.34, 2.38).
    func hints(in heard: ReceivedAdvertisement) -> [BluetoothUUID] {
        guard let area = heard.area else { return [] }
        return hashed.filter { area.contains(bit: $0.bit) && !heard.services.contains($0.service) }.map(\.service)
    }
}
