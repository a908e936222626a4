import BluetoothTypes
import GAP

/// An advertisement with the parts that scans are matched against. They are read once for all scans.
struct HeardAdvertisement {
    /// The advertisement itself.
    let sighting: Sighting
    /// The services that it names.
    let services: [BluetoothUUID]
    /// The services that it solicits.
    let solicited: [BluetoothUUID]
    /// The services that it hints at.
    let area: OverflowArea?

    init(_ sighting: Sighting) {
        self.sighting = sighting
        services = sighting.data.serviceUUIDs
        solicited = sighting.data.solicitedServiceUUIDs
        area = OverflowArea(in: sighting.data)
    }
}

/// The services that a scan asks for, hashed once for each scan: the cost of a match depends on the advertisement, not on the number of
/// services (AB-G05).
struct ScanFilter {
    private let wanted: Set<BluetoothUUID>
    private let solicited: Set<BluetoothUUID>
    /// The wanted services in the order of the app, with the number of the bit of each.
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

    /// Whether any of the services is advertised, hinted at or solicited; true for a scan without services (behaviours 2.4, 2.8, 2.34).
    func matches(_ heard: HeardAdvertisement) -> Bool {
        if wanted.isEmpty && solicited.isEmpty { return true }
        return heard.services.contains { wanted.contains($0) } || heard.solicited.contains { solicited.contains($0) }
            || heard.area.map(area.intersects) ?? false
    }

    /// The wanted services that the overflow area alone hints at. The area only answers questions: it cannot be listed (behaviours 2.34, 2.38).
    func hints(in heard: HeardAdvertisement) -> [BluetoothUUID] {
        guard let area = heard.area else { return [] }
        return hashed.filter { area.contains(bit: $0.bit) && !heard.services.contains($0.service) }.map(\.service)
    }
}
