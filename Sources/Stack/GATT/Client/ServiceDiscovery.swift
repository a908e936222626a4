import ATT
import BluetoothTypes

/// Discover All Primary Services and Discover Primary Service by Service UUID (Core Vol 3 Part G 4.4).
///
/// Services that overlap are kept. The outer one is shortened, unless it goes on behind the inner one: then the two
/// share handles, and ``CharacteristicDiscovery`` leaves out those of the inner one. An outer service may hide another
/// one, because a response has UUIDs of one width only. That one is found as an included service, or not at all.
struct ServiceDiscovery: GATTProcedure {
    /// A service as the server declares it; `end` is nil if it ends before it begins.
    private struct Group {
        let start: UInt16
        var end: UInt16?
        let uuid: BluetoothUUID
    }

    static let onlyReads = true

    private let uuid: BluetoothUUID?
    private let isOne: Bool
    private var range = SearchRange(1...UInt16.max)
    private var found: [Group] = []
    /// The first handles of all groups, also of those that were left out.
    private var starts: Set<UInt16> = []
    private(set) var flaws = TableFlaws()

    /// Discovers all services, or those with the given UUID. With `isOne` the first is enough, because a server has it
    /// at most once.
    init(uuid: BluetoothUUID?, isOne: Bool = false) {
        self.uuid = uuid
        self.isOne = isOne
    }

    mutating func begin(mtu: Int) -> GATTStep<[DiscoveredService]> {
        guard let uuid else {
            return .request(.readByGroupTypeRequest(.init(range.handles, type: GATTUUID.primaryService)))
        }
        let value = PacketBuffer(uuid.attributeForm.littleEndianBytes)
        return .request(.findByTypeValueRequest(.init(range.handles, type: 0x2800, value: value)))
    }

    mutating func handle(_ response: ATTPDU, mtu: Int) -> GATTStep<[DiscoveredService]> {
        switch response {
        case .readByGroupTypeResponse(let response): for entry in response.entries { add(entry.group, entry.value) }
        case .findByTypeValueResponse(let response): for group in response.groups { add(group, nil) }
        default: return .fault(.unexpectedResponse)
        }
        guard starts.count <= GATTClient.maximumServices else {
            return .fault(.tooMany(limit: GATTClient.maximumServices))
        }
        if let fault = range.endResponse() { return .fault(fault) }
        return isOne && !found.isEmpty || range.isDone ? .finished(services()) : begin(mtu: mtu)
    }

    mutating func handle(_ error: ATTErrorResponse, mtu: Int) -> GATTStep<[DiscoveredService]> {
        error.code == .attributeNotFound ? .finished(services()) : .failed(.att(error))
    }

    private mutating func add(_ handles: ATTHandleRange, _ value: PacketBuffer?) {
        let (start, end) = (handles.start, handles.end)
        guard range.pass(start, through: end) else { return flaws.add(.outsideOfRequest, at: start) }
        guard starts.insert(start).inserted else { return flaws.add(.declaredTwice, at: start) }
        guard let uuid = value.map({ flaws.parseUUID($0, at: start) }) ?? uuid else { return }
        if end < start { flaws.add(.endsBeforeItBegins, at: start) }
        found.append(Group(start: start, end: end < start ? nil : end, uuid: uuid))
    }

    /// The services in the order of their handles, with ends that the next ones allow.
    private mutating func services() -> [DiscoveredService] {
        // From the last to the first, so that the ends of those behind are known.
        var services: [DiscoveredService] = []
        for group in found.sorted(by: { $0.start > $1.start }) {
            var end = group.end ?? services.last.map { $0.handles.lowerBound - 1 } ?? .max
            for inner in services.reversed().map(\.handles) where inner.lowerBound <= end {
                if inner.upperBound < end {
                    flaws.add(.liesIn(group.start), at: inner.lowerBound)
                } else {
                    flaws.add(.runsInto(inner.lowerBound), at: group.start)
                    end = inner.lowerBound - 1
                }
            }
            services.append(DiscoveredService(handles: group.start...end, uuid: group.uuid))
        }
        return services.reversed()
    }
}
