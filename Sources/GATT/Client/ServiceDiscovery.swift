import ATT
import BluetoothTypes

/// Discover All Primary Services and Discover Primary Service by Service UUID (Core Vol 3 Part G 4.4).
struct ServiceDiscovery: GATTProcedure {
    static let onlyReads = true

    private let uuid: BluetoothUUID?
    private let isOne: Bool
    private var range = SearchRange(1...UInt16.max)
    private var services: [DiscoveredService] = []

    /// Discovers all services, or those with the given UUID.
    ///
    /// - Parameter isOne: Whether the first response is enough because a server has the service at most once.
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
        case .readByGroupTypeResponse(let response):
            for entry in response.entries {
                guard let uuid = BluetoothUUID(declared: entry.value) else {
                    return .fault(.malformedDeclaration(at: entry.group.start))
                }
                if let fault = add(entry.group, uuid) { return .fault(fault) }
            }
        case .findByTypeValueResponse(let response):
            for group in response.groups {
                if let fault = add(group, uuid ?? 0) { return .fault(fault) }
            }
        default: return .fault(.unexpectedResponse)
        }
        return isOne || range.isDone ? .finished(services) : begin(mtu: mtu)
    }

    mutating func handle(_ error: ATTErrorResponse, mtu: Int) -> GATTStep<[DiscoveredService]> {
        error.code == .attributeNotFound ? .finished(services) : .failed(.att(error))
    }

    private mutating func add(_ group: ATTHandleRange, _ uuid: BluetoothUUID) -> GATTServerFault? {
        if let fault = range.pass(group.start, through: group.end) { return fault }
        guard services.count < GATTClient.maximumServices else { return .tooMany(limit: GATTClient.maximumServices) }
        services.append(DiscoveredService(handles: group.start...group.end, uuid: uuid))
        return nil
    }
}

/// Find Included Services (Core Vol 3 Part G 4.5.1). The declaration omits a 128-bit UUID, which is then read from the
/// included service itself.
struct IncludeDiscovery: GATTProcedure {
    static let onlyReads = true

    private let service: DiscoveredService
    private var range: SearchRange
    private var included: [DiscoveredService] = []
    /// The indices of the services in `included` whose UUID is still to be read.
    private var unnamed: [Int] = []

    init(of service: DiscoveredService) {
        self.service = service
        range = SearchRange(service.handles)
    }

    mutating func begin(mtu: Int) -> GATTStep<[DiscoveredService]> {
        .request(.readByTypeRequest(.init(range.handles, type: GATTUUID.include)))
    }

    mutating func handle(_ response: ATTPDU, mtu: Int) -> GATTStep<[DiscoveredService]> {
        switch response {
        case .readByTypeResponse(let response):
            for entry in response.entries {
                if let fault = add(entry) { return .fault(fault) }
            }
        case .readResponse(let response):
            guard let index = unnamed.first else { return .fault(.unexpectedResponse) }
            guard let uuid = BluetoothUUID(declared: response.value) else {
                return .fault(.malformedDeclaration(at: included[index].handles.lowerBound))
            }
            included[index].uuid = uuid
            unnamed.removeFirst()
        default: return .fault(.unexpectedResponse)
        }
        return next(mtu: mtu)
    }

    mutating func handle(_ error: ATTErrorResponse, mtu: Int) -> GATTStep<[DiscoveredService]> {
        guard error.request == .readByTypeRequest, error.code == .attributeNotFound else { return .failed(.att(error)) }
        return .finished(included)
    }

    private mutating func next(mtu: Int) -> GATTStep<[DiscoveredService]> {
        if let index = unnamed.first {
            return .request(.readRequest(ATTReadRequest(handle: included[index].handles.lowerBound)))
        }
        return range.isDone ? .finished(included) : begin(mtu: mtu)
    }

    private mutating func add(_ entry: ATTReadByTypeResponse.Entry) -> GATTServerFault? {
        if let fault = range.pass(entry.handle) { return fault }
        guard entry.value.count == 4 || entry.value.count == 6 else {
            return .malformedDeclaration(at: entry.handle)
        }
        let start = UInt16(entry.value[0]) | UInt16(entry.value[1]) << 8
        let end = UInt16(entry.value[2]) | UInt16(entry.value[3]) << 8
        guard start > 0, start <= end else { return .endBeforeStart(start) }
        guard start != service.handles.lowerBound else { return .selfInclusion(start) }
        guard included.count < GATTClient.maximumIncludes else { return .tooMany(limit: GATTClient.maximumIncludes) }
        if entry.value.count == 4 { unnamed.append(included.count) }
        let uuid = BluetoothUUID(declared: entry.value.suffix(after: 4)) ?? 0
        included.append(DiscoveredService(handles: start...end, uuid: uuid))
        return nil
    }
}
