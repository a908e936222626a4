import ATT
import BluetoothTypes

/// Find Included Services (Core Vol 3 Part G 4.5.1). The declaration omits a 128-bit UUID, which is then read from the
/// included service itself.
struct IncludeDiscovery: GATTProcedure {
    /// An include; `uuid` is nil until it is known.
    private struct Include {
        let declaration: UInt16
        let handles: ClosedRange<UInt16>
        var uuid: BluetoothUUID?
    }

    static let onlyReads = true

    private let service: DiscoveredService
    /// The handles of other services that lie inside of this one.
    private let holes: [ClosedRange<UInt16>]
    private var range: SearchRange
    private var seen = 0
    private var included: [Include] = []
    /// The indices of the services in `included` whose UUID is still to be read.
    private var unnamed: [Int] = []
    private(set) var flaws = TableFlaws()

    /// - Parameter holes: The handles of other services inside of `service`, whose includes are left out.
    init(of service: DiscoveredService, holes: [ClosedRange<UInt16>] = []) {
        self.service = service
        self.holes = holes
        range = SearchRange(service.handles)
    }

    mutating func begin(mtu: Int) -> GATTStep<[DiscoveredService]> {
        .request(.readByTypeRequest(.init(range.handles, type: GATTUUID.include)))
    }

    mutating func handle(_ response: ATTPDU, mtu: Int) -> GATTStep<[DiscoveredService]> {
        switch response {
        case .readByTypeResponse(let response):
            for entry in response.entries { add(entry) }
            guard seen <= GATTClient.maximumIncludes else { return .fault(.tooMany(limit: GATTClient.maximumIncludes)) }
            if let fault = range.endResponse() { return .fault(fault) }
        case .readResponse(let response):
            guard let index = unnamed.first else { return .fault(.unexpectedResponse) }
            unnamed.removeFirst()
            included[index].uuid = flaws.parseUUID(response.value, at: included[index].handles.lowerBound)
        default: return .fault(.unexpectedResponse)
        }
        return next(mtu: mtu)
    }

    /// Ends the search, or leaves out an include whose service is not there. Any other error might be temporary.
    mutating func handle(_ error: ATTErrorResponse, mtu: Int) -> GATTStep<[DiscoveredService]> {
        guard error.request == .readRequest, let index = unnamed.first else {
            return error.code == .attributeNotFound ? .finished(services) : .failed(.att(error))
        }
        guard error.code == .invalidHandle || error.code == .attributeNotFound else { return .failed(.att(error)) }
        unnamed.removeFirst()
        flaws.add(.includesNothing, at: included[index].declaration)
        return next(mtu: mtu)
    }

    private var services: [DiscoveredService] {
        included.compactMap { include in include.uuid.map { DiscoveredService(handles: include.handles, uuid: $0) } }
    }

    private mutating func next(mtu: Int) -> GATTStep<[DiscoveredService]> {
        if let index = unnamed.first {
            return .request(.readRequest(ATTReadRequest(handle: included[index].handles.lowerBound)))
        }
        return range.isDone ? .finished(services) : begin(mtu: mtu)
    }

    private mutating func add(_ entry: ATTReadByTypeResponse.Entry) {
        guard range.pass(entry.handle) else { return flaws.add(.outsideOfRequest, at: entry.handle) }
        seen += 1
        guard !holes.contains(where: { $0.contains(entry.handle) }) else { return }
        guard entry.value.count >= 4 else { return flaws.add(.malformed, at: entry.handle) }
        let start = UInt16(entry.value[0]) | UInt16(entry.value[1]) << 8
        let end = UInt16(entry.value[2]) | UInt16(entry.value[3]) << 8
        guard start > 0, start <= end else { return flaws.add(.malformed, at: entry.handle) }
        guard start != service.handles.lowerBound else { return flaws.add(.includesItself, at: start) }
        if service.handles.contains(start) { flaws.add(.liesIn(service.handles.lowerBound), at: start) }
        guard !included.contains(where: { $0.handles.lowerBound == start }) else { return }
        var include = Include(declaration: entry.handle, handles: start...end)
        if entry.value.count == 4 {
            unnamed.append(included.count)
        } else {
            include.uuid = flaws.parseUUID(entry.value.suffix(after: 4), at: entry.handle)
            if entry.value.count == 20 { flaws.add(.longIncludeUUID, at: entry.handle) }
        }
        included.append(include)
    }
}
