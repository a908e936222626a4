import ATT
import BluetoothTypes

/// Discover All Characteristics of a Service, and Discover Characteristics by UUID, which sends the same requests and
/// filters the result (Core Vol 3 Part G 4.6).
struct CharacteristicDiscovery: GATTProcedure {
    static let onlyReads = true

    private let uuid: BluetoothUUID?
    private let service: ClosedRange<UInt16>
    private var range: SearchRange
    private var found: [DiscoveredCharacteristic] = []

    /// Discovers all characteristics in the handles of a service, or only those with the given UUID.
    init(in service: ClosedRange<UInt16>, uuid: BluetoothUUID?) {
        self.uuid = uuid
        self.service = service
        range = SearchRange(service)
    }

    mutating func begin(mtu: Int) -> GATTStep<[DiscoveredCharacteristic]> {
        .request(.readByTypeRequest(.init(range.handles, type: GATTUUID.characteristic)))
    }

    mutating func handle(_ response: ATTPDU, mtu: Int) -> GATTStep<[DiscoveredCharacteristic]> {
        guard case .readByTypeResponse(let response) = response else { return .fault(.unexpectedResponse) }
        for entry in response.entries {
            if let fault = add(entry) { return .fault(fault) }
        }
        return range.isDone || isFull ? .finished(result) : begin(mtu: mtu)
    }

    mutating func handle(_ error: ATTErrorResponse, mtu: Int) -> GATTStep<[DiscoveredCharacteristic]> {
        error.code == .attributeNotFound ? .finished(result) : .failed(.att(error))
    }

    /// Whether no further characteristic fits behind the last value: it needs a declaration and a value (Core Vol 3
    /// Part G 3.3). This saves the last request for most services.
    private var isFull: Bool {
        found.last.map { Int($0.value) + 2 > Int(service.upperBound) } ?? false
    }

    private var result: [DiscoveredCharacteristic] {
        guard let uuid else { return found }
        return found.filter { $0.uuid == uuid }
    }

    private mutating func add(_ entry: ATTReadByTypeResponse.Entry) -> GATTServerFault? {
        if let fault = range.pass(entry.handle) { return fault }
        guard entry.value.count > 3, let uuid = BluetoothUUID(declared: entry.value.suffix(after: 3)) else {
            return .malformedDeclaration(at: entry.handle)
        }
        let value = UInt16(entry.value[1]) | UInt16(entry.value[2]) << 8
        guard value > entry.handle, value <= service.upperBound else { return .malformedDeclaration(at: entry.handle) }
        if let last = found.indices.last {
            guard found[last].value < entry.handle else { return .handleOutOfOrder(entry.handle) }
            found[last].end = entry.handle - 1
        }
        guard found.count < GATTClient.maximumCharacteristics else {
            return .tooMany(limit: GATTClient.maximumCharacteristics)
        }
        found.append(
            DiscoveredCharacteristic(
                declaration: entry.handle,
                value: value,
                end: service.upperBound,
                properties: CharacteristicProperties(rawValue: entry.value[0]),
                uuid: uuid
            )
        )
        return nil
    }
}

/// Discover All Characteristic Descriptors (Core Vol 3 Part G 4.7.1).
struct DescriptorDiscovery: GATTProcedure {
    static let onlyReads = true

    private var range: SearchRange?
    private var found: [DiscoveredDescriptor] = []

    /// Discovers the descriptors in `handles`. Nil means that there are none, and no request is sent.
    init(in handles: ClosedRange<UInt16>?) {
        range = handles.map(SearchRange.init)
    }

    mutating func begin(mtu: Int) -> GATTStep<[DiscoveredDescriptor]> {
        guard let range, !range.isDone else { return .finished(found) }
        return .request(.findInformationRequest(ATTFindInformationRequest(range.handles)))
    }

    mutating func handle(_ response: ATTPDU, mtu: Int) -> GATTStep<[DiscoveredDescriptor]> {
        guard case .findInformationResponse(let response) = response else { return .fault(.unexpectedResponse) }
        for entry in response.entries {
            if let fault = range?.pass(entry.handle) { return .fault(fault) }
            guard found.count < GATTClient.maximumDescriptors else {
                return .fault(.tooMany(limit: GATTClient.maximumDescriptors))
            }
            found.append(DiscoveredDescriptor(handle: entry.handle, uuid: entry.type))
        }
        return begin(mtu: mtu)
    }

    mutating func handle(_ error: ATTErrorResponse, mtu: Int) -> GATTStep<[DiscoveredDescriptor]> {
        error.code == .attributeNotFound ? .finished(found) : .failed(.att(error))
    }
}
