import ATT
import BluetoothService
import BluetoothTypes
import DequeModule
import GATT
import ServiceMessages

/// Reads a server's whole attribute table, one procedure at a time. Lives on the loop.
final class TableWalk {
    typealias Table = AttributeTable<DiscoveredCharacteristic>

    private let client: GATTClient
    private let completion: (Result<Table, GATTError>) -> Void
    /// The part of the table that has been read so far.
    private(set) var table: Table
    /// The services, in the order of those of the table.
    private var services: [DiscoveredService] = []
    private var steps = Deque<() -> Void>()
    /// The steps that failed, and why.
    private var failures: [String] = []
    /// The maximum number of services. A server could nest included services without end (AB-A07).
    private static let maximumServices = GATTClient.maximumServices

    init(
        _ client: GATTClient,
        for device: DeviceDocument,
        isRaw: Bool,
        completion: @escaping (Result<Table, GATTError>) -> Void
    ) {
        self.client = client
        table = Table(listing: AttributeListing(device: device, isRaw: isRaw))
        self.completion = completion
    }

    func begin() {
        client.discoverServices { [weak self] result in
            switch result {
            case .failure(let error): self?.completion(.failure(error))
            case .success(let services):
                for service in services { self?.add(service, isPrimary: true) }
                self?.next()
            }
        }
    }

    /// Processes the result of a step, then starts the next step. A step that fails becomes a flaw of the table, unless
    /// the link has ended.
    private func proceed<Value>(
        _ result: Result<Value, GATTError>,
        _ doing: @autoclosure () -> String,
        _ take: (TableWalk, Value) -> Void
    ) {
        switch result {
        case .failure(let error) where error.isOfBearer: return completion(.failure(error))
        case .failure(let error): failures.append("\(doing()) cannot be discovered: \(error.words)")
        case .success(let value): take(self, value)
        }
        next()
    }

    private func next() {
        if let step = steps.popFirst() { return step() }
        table.listing.flaws = client.tableFlaws.map(\.description) + failures
        completion(.success(table))
    }

    private func add(_ service: DiscoveredService, isPrimary: Bool) {
        let index = services.count
        guard index < Self.maximumServices else { return }
        services.append(service)
        table.listing.services.append(
            .init(uuid: service.uuid, handle: service.handles.lowerBound, isPrimary: isPrimary)
        )
        steps.append { [weak self] in self?.exploreIncludes(index) }
        steps.append { [weak self] in self?.exploreCharacteristics(index) }
    }

    private func exploreIncludes(_ index: Int) {
        let service = services[index]
        client.discoverIncludedServices(of: service, among: services) { [weak self] result in
            self?.proceed(result, "what \(nameOf(service.uuid)) includes") { walk, included in
                walk.table.listing.services[index].includes = included.map {
                    .init(uuid: $0.uuid, handle: $0.handles.lowerBound)
                }
                // Secondary services can only be found as included ones.
                for service in included
                where !walk.services.contains(where: { $0.handles.lowerBound == service.handles.lowerBound }) {
                    walk.add(service, isPrimary: false)
                }
            }
        }
    }

    private func exploreCharacteristics(_ index: Int) {
        let service = services[index]
        client.discoverCharacteristics(of: service, among: services) { [weak self] result in
            self?.proceed(result, "the characteristics of \(nameOf(service.uuid))") { walk, found in
                walk.table.listing.services[index].characteristics = found.map {
                    .init(uuid: $0.uuid, handle: $0.value, properties: $0.properties.rawValue)
                }
                walk.table.characteristics.merge(found.map { ($0.value, $0) }) { first, _ in first }
                for position in found.indices.reversed() {
                    walk.steps.prepend { [weak walk] in walk?.exploreDescriptors(of: found[position], index, position) }
                    guard found[position].properties.contains(.read) else { continue }
                    walk.steps.prepend { [weak walk] in walk?.readValue(index, position) }
                }
            }
        }
    }

    private func readValue(_ index: Int, _ position: Int) {
        client.read(table.listing.services[index].characteristics[position].handle) { [weak self] result in
            self?.proceed(Self.outcome(result), "a value") {
                $0.table.listing.services[index].characteristics[position].value = $1
            }
        }
    }

    private func exploreDescriptors(of characteristic: DiscoveredCharacteristic, _ index: Int, _ position: Int) {
        client.discoverDescriptors(of: characteristic) { [weak self] result in
            self?.proceed(result, "the descriptors of \(nameOf(characteristic.uuid))") { walk, found in
                walk.table.listing.services[index].characteristics[position].descriptors = found.map {
                    .init(uuid: $0.uuid, handle: $0.handle)
                }
                for number in found.indices.reversed() {
                    walk.steps.prepend { [weak walk] in walk?.readDescriptor(index, position, number) }
                }
            }
        }
    }

    private func readDescriptor(_ index: Int, _ position: Int, _ number: Int) {
        client.read(table.listing.services[index].characteristics[position].descriptors[number].handle) {
            [weak self] result in
            self?.proceed(Self.outcome(result), "a descriptor") {
                $0.table.listing.services[index].characteristics[position].descriptors[number].value = $1
            }
        }
    }

    /// A read that fails is a result to show, unless the link has ended.
    private static func outcome(
        _ result: Result<PacketBuffer, GATTError>
    ) -> Result<AttributeListing.Value, GATTError> {
        switch result {
        case .success(let value): .success(.known(value))
        case .failure(let error) where error.isOfBearer: .failure(error)
        case .failure(let error): .success(.refused(error.response.map { "\($0.code)" } ?? error.words))
        }
    }
}

extension GATTError {
    /// Whether the attribute protocol, or the link, has ended.
    var isOfBearer: Bool {
        switch self {
        case .bearer(.closed): true
        case .notSecured(let error, because: _): error.isOfBearer
        default: false
        }
    }

    /// The error for people: a clause.
    var words: String { ServiceError(self).reason ?? "the attribute protocol failed" }
}

/// A peer's attributes: for display, and as objects by the handles of their values.
struct AttributeTable<Characteristic: Sendable>: Sendable {
    var listing: AttributeListing
    var characteristics: [UInt16: Characteristic] = [:]

    /// Returns the first characteristic with this UUID.
    func characteristic(_ uuid: BluetoothUUID) -> Characteristic? {
        listing.services.flatMap(\.characteristics).first { $0.uuid == uuid }.flatMap { characteristics[$0.handle] }
    }
}
