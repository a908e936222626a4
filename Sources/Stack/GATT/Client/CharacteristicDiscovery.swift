import ATT
import BluetoothTypes

/// Discover All Characteristics of a Service, and Discover Characteristics by UUID, which sends the same requests and
/// filters the result (Core Vol 3 Part G 4.6).
struct CharacteristicDiscovery: GATTProcedure {
    static let onlyReads = true

    private let uuid: BluetoothUUID?
    private let service: ClosedRange<UInt16>
    /// The handles of other services that lie inside of this one.
    private let holes: [ClosedRange<UInt16>]
    private var range: SearchRange
    private var found: [DiscoveredCharacteristic] = []
    /// The handles of all declarations, also of those that were left out.
    private var declarations: Set<UInt16> = []
    private(set) var flaws = TableFlaws()

    /// - Parameter holes: The handles of other services inside of `service`, whose characteristics are left out.
    init(in service: ClosedRange<UInt16>, uuid: BluetoothUUID?, holes: [ClosedRange<UInt16>] = []) {
        self.uuid = uuid
        self.service = service
        self.holes = holes
        range = SearchRange(service)
    }

    mutating func begin(mtu: Int) -> GATTStep<[DiscoveredCharacteristic]> {
        .request(.readByTypeRequest(.init(range.handles, type: GATTUUID.characteristic)))
    }

    mutating func handle(_ response: ATTPDU, mtu: Int) -> GATTStep<[DiscoveredCharacteristic]> {
        guard case .readByTypeResponse(let response) = response else { return .fault(.unexpectedResponse) }
        for entry in response.entries { add(entry) }
        guard declarations.count <= GATTClient.maximumCharacteristics else {
            return .fault(.tooMany(limit: GATTClient.maximumCharacteristics))
        }
        if let fault = range.endResponse() { return .fault(fault) }
        return range.isDone || isFull ? .finished(characteristics()) : begin(mtu: mtu)
    }

    mutating func handle(_ error: ATTErrorResponse, mtu: Int) -> GATTStep<[DiscoveredCharacteristic]> {
        error.code == .attributeNotFound ? .finished(characteristics()) : .failed(.att(error))
    }

    /// Whether no further characteristic fits behind the last value: it needs a declaration and a value (Core Vol 3
    /// Part G 3.3). This saves the last request for most services.
    private var isFull: Bool {
        found.last.map { Int($0.value) == Int($0.declaration) + 1 && Int($0.value) + 2 > Int(service.upperBound) }
            ?? false
    }

    private mutating func add(_ entry: ATTReadByTypeResponse.Entry) {
        guard range.pass(entry.handle) else { return flaws.add(.outsideOfRequest, at: entry.handle) }
        guard declarations.insert(entry.handle).inserted else { return flaws.add(.declaredTwice, at: entry.handle) }
        guard !holes.contains(where: { $0.contains(entry.handle) }) else { return }
        guard entry.value.count > 3 else { return flaws.add(.malformed, at: entry.handle) }
        guard let uuid = flaws.parseUUID(entry.value.suffix(after: 3), at: entry.handle) else { return }
        found.append(
            DiscoveredCharacteristic(
                declaration: entry.handle,
                value: UInt16(entry.value[1]) | UInt16(entry.value[2]) << 8,
                end: service.upperBound,
                properties: CharacteristicProperties(rawValue: entry.value[0]),
                uuid: uuid
            )
        )
    }

    /// The characteristics in the order of their declarations, each with a value of its own. Each ends before the next
    /// declaration.
    private mutating func characteristics() -> [DiscoveredCharacteristic] {
        // A value right behind a declaration belongs to that one.
        var owners = Dictionary(
            found.filter { Int($0.value) == Int($0.declaration) + 1 }.map { ($0.value, $0.declaration) },
            uniquingKeysWith: { first, _ in first }
        )
        let borders = (Array(declarations) + holes.map(\.lowerBound)).sorted()
        let kept = found.sorted { $0.declaration < $1.declaration }.compactMap { characteristic in
            var characteristic = characteristic
            let (declaration, value) = (characteristic.declaration, characteristic.value)
            guard hasRoom(for: value, of: declaration) else {
                flaws.add(.withoutValue, at: declaration)
                return DiscoveredCharacteristic?.none
            }
            let owner = owners[value, default: declaration]
            guard owner == declaration else {
                flaws.add(.sharesValue(owner), at: declaration)
                return nil
            }
            owners[value] = declaration
            if let next = borders.first(where: { $0 > declaration }) {
                if next < value { flaws.add(.valueAfterNext, at: declaration) }
                characteristic.end = max(value, next - 1)
            }
            return characteristic
        }
        guard let uuid else { return kept }
        return kept.filter { $0.uuid == uuid }
    }

    /// Whether a value may be at `value`: behind its declaration, in the service, and in place of no declaration.
    private func hasRoom(for value: UInt16, of declaration: UInt16) -> Bool {
        value > declaration && value <= service.upperBound && !declarations.contains(value)
            && !holes.contains { $0.contains(value) }
    }
}

/// Discover All Characteristic Descriptors (Core Vol 3 Part G 4.7.1).
struct DescriptorDiscovery: GATTProcedure {
    static let onlyReads = true

    private var range: SearchRange?
    private var found: [DiscoveredDescriptor] = []
    private(set) var flaws = TableFlaws()

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
            guard range?.pass(entry.handle) == true else {
                flaws.add(.outsideOfRequest, at: entry.handle)
                continue
            }
            guard !found.contains(where: { $0.handle == entry.handle }) else {
                flaws.add(.declaredTwice, at: entry.handle)
                continue
            }
            // What follows belongs to something else.
            if GATTUUID.declarations.contains(entry.type) {
                flaws.add(.amongDescriptors, at: entry.handle)
                return .finished(found)
            }
            guard found.count < GATTClient.maximumDescriptors else {
                return .fault(.tooMany(limit: GATTClient.maximumDescriptors))
            }
            found.append(DiscoveredDescriptor(handle: entry.handle, uuid: entry.type))
        }
        if let fault = range?.endResponse() { return .fault(fault) }
        return begin(mtu: mtu)
    }

    mutating func handle(_ error: ATTErrorResponse, mtu: Int) -> GATTStep<[DiscoveredDescriptor]> {
        error.code == .attributeNotFound ? .finished(found) : .failed(.att(error))
    }
}
