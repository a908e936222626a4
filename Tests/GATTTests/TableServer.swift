import ATT
import BluetoothTypes
import EventLoops
import GATT

/// An attribute of a table that need not follow the rules.
struct TableAttribute: Hashable, Sendable {
    var handle: UInt16
    var type: BluetoothUUID
    var value: [UInt8]
    /// The last handle of a service.
    var end: UInt16 = 0
}

/// An attribute server that serves any table as it stands: it looks at the handles and types of requests, and never at
/// whether the table follows the rules.
struct TableServer: Sendable {
    var attributes: [TableAttribute]
    /// Whether each response lists its attributes in reverse.
    var isReversed = false
    /// An attribute that each response has besides those that were requested.
    var stray: UInt16?
    var mtu = 23

    init(_ attributes: [TableAttribute]) {
        self.attributes = attributes
    }

    func answer(_ request: [UInt8]) -> [UInt8] {
        let octets = PacketBuffer(request)
        switch request[0] {
        case 0x02: return [0x03, UInt8(mtu), 0]
        case 0x04: return information(octets)
        case 0x08, 0x10: return byType(octets, isGroup: request[0] == 0x10)
        case 0x0A, 0x0C:
            let handle = integer(octets, 1)
            let offset = request[0] == 0x0C ? Int(integer(octets, 3)) : 0
            guard let found = attributes.first(where: { $0.handle == handle }) else {
                return refusal(request[0], handle, .invalidHandle)
            }
            return [request[0] + 1] + found.value.dropFirst(offset).prefix(mtu - 1)
        default: return refusal(request[0], 0, .requestNotSupported)
        }
    }

    private func integer(_ octets: PacketBuffer, _ index: Int) -> UInt16 {
        UInt16(octets[index]) | UInt16(octets[index + 1]) << 8
    }

    private func octets(_ number: UInt16) -> [UInt8] { [UInt8(truncatingIfNeeded: number), UInt8(number >> 8)] }

    private func refusal(_ opcode: UInt8, _ handle: UInt16, _ code: ATTErrorCode) -> [UInt8] {
        [0x01, opcode] + octets(handle) + [code.rawValue]
    }

    /// Joins entries of one length as far as there is room, in the server's order.
    private func joined(_ entries: [[UInt8]], room: Int) -> [[UInt8]] {
        let length = entries[0].count
        let fitting = Array(entries.prefix { $0.count == length }.prefix(max(1, room / max(length, 1))))
        return isReversed ? fitting.reversed() : fitting
    }

    private func information(_ request: PacketBuffer) -> [UInt8] {
        let (start, end) = (integer(request, 1), integer(request, 3))
        var entries = attributes.filter { (start...end).contains($0.handle) }
            .map { octets($0.handle) + $0.type.attributeForm.littleEndianBytes }
        guard let first = entries.first else { return refusal(0x04, start, .attributeNotFound) }
        if let stray, (mtu - 2) / first.count > 1 { entries.insert(octets(stray) + first.dropFirst(2), at: 0) }
        return [0x05, first.count == 4 ? 1 : 2] + joined(entries, room: mtu - 2).flatMap(\.self)
    }

    private func byType(_ request: PacketBuffer, isGroup: Bool) -> [UInt8] {
        let (start, end) = (integer(request, 1), integer(request, 3))
        let type = BluetoothUUID(littleEndian: request.suffix(after: 5))
        var entries = attributes.filter { (start...end).contains($0.handle) && $0.type == type }.map {
            octets($0.handle) + (isGroup ? octets($0.end) : []) + $0.value.prefix(mtu - (isGroup ? 6 : 4))
        }
        guard let first = entries.first else { return refusal(request[0], start, .attributeNotFound) }
        // Among services any handle would be a service.
        if let stray, (mtu - 2) / first.count > 1 {
            entries.insert(octets(isGroup ? 0 : stray) + first.dropFirst(2), at: 0)
        }
        return [request[0] + 1, UInt8(first.count)] + joined(entries, room: mtu - 2).flatMap(\.self)
    }
}

/// The result of a client that discovers all of a table, as far as it can: what each attribute is, by its handle.
final class DiscoveredWalk: @unchecked Sendable {
    // Safe: changed by the initializer only.
    private(set) var found: Set<String> = []
    private(set) var failures: [GATTError] = []
    private(set) var flaws: [TableFlaw] = []
    private(set) var requests = 0
    /// The handles of the primary services.
    private(set) var ranges: [ClosedRange<UInt16>] = []
    private let server: ScriptedServer
    /// The maximum number of services to follow.
    private static let maximumServices = 64

    init(_ table: TableServer) {
        server = ScriptedServer(table.answer)
        let client = server.client
        client.onFlaw = { [weak self] in self?.flaws.append($0) }
        if table.mtu > 23 { _ = wait { client.exchangeMTU(completion: $0) } }
        let services = findServices()
        for service in services { findCharacteristics(of: service, among: services) }
        requests = server.requests.count
    }

    private func wait<T>(_ body: (@escaping (Result<T, GATTError>) -> Void) -> Void) -> T? {
        var value: T?
        body { [weak self] in
            switch $0 {
            case .success(let result): value = result
            case .failure(let error): self?.failures.append(error)
            }
        }
        server.loop.run(for: .seconds(1))
        return value
    }

    private func findServices() -> [DiscoveredService] {
        let client = server.client
        var services = wait { client.discoverServices(completion: $0) } ?? []
        ranges = services.map(\.handles)
        var index = 0
        while index < min(services.count, Self.maximumServices) {
            let service = services[index]
            index += 1
            found.insert("service \(service.handles.lowerBound)")
            let all = wait { client.discoverIncludedServices(of: service, among: services, completion: $0) } ?? []
            for included in all {
                let start = included.handles.lowerBound
                found.insert("\(service.handles.lowerBound) includes \(start)")
                if !services.contains(where: { $0.handles.lowerBound == start }) { services.append(included) }
            }
        }
        return services
    }

    private func findCharacteristics(of service: DiscoveredService, among services: [DiscoveredService]) {
        let client = server.client
        let all = wait { client.discoverCharacteristics(of: service, among: services, completion: $0) } ?? []
        for characteristic in all {
            let declaration = characteristic.declaration
            found.insert("\(service.handles.lowerBound) has \(declaration) with value \(characteristic.value)")
            for descriptor in wait({ client.discoverDescriptors(of: characteristic, completion: $0) }) ?? [] {
                found.insert("\(declaration) has descriptor \(descriptor.handle)")
            }
        }
    }
}
