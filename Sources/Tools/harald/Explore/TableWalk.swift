import ATT
import BluetoothService
import BluetoothTypes
import DequeModule
import GATT
import ServiceMessages

/// Reads a server's whole attribute table, one procedure at a time. Lives on the loop.
final class TableWalk {
    private let client: GATTClient
    private let completion: (Result<AttributeTable, GATTError>) -> Void
    /// The part of the table that has been read so far.
    private(set) var table = AttributeTable()
    private var steps = Deque<() -> Void>()
    /// The steps that failed, and why.
    private var failures: [String] = []
    /// The maximum number of services. A server could nest included services without end (AB-A07).
    private static let maximumServices = GATTClient.maximumServices

    init(_ client: GATTClient, completion: @escaping (Result<AttributeTable, GATTError>) -> Void) {
        self.client = client
        self.completion = completion
    }

    func begin() {
        client.discoverServices { [weak self] result in
            guard case .success(let services) = result else {
                self?.completion(result.map { _ in AttributeTable() })
                return
            }
            self?.proceed(.success(services), "") { walk, services in
                for service in services { walk.add(service, isPrimary: true) }
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
        table.flaws = client.tableFlaws.map(\.description) + failures
        completion(.success(table))
    }

    private func add(_ service: DiscoveredService, isPrimary: Bool) {
        let index = table.services.count
        guard index < Self.maximumServices else { return }
        table.services.append(.init(service: service, isPrimary: isPrimary))
        steps.append { [weak self] in self?.exploreIncludes(index) }
        steps.append { [weak self] in self?.exploreCharacteristics(index) }
    }

    private func exploreIncludes(_ index: Int) {
        let service = table.services[index].service
        client.discoverIncludedServices(of: service, among: table.services.map(\.service)) { [weak self] result in
            self?.proceed(result, "what \(nameOf(service.uuid)) includes") { walk, included in
                walk.table.services[index].includes = included
                // Secondary services can only be found as included ones.
                for service in included where !walk.table.services.contains(where: { $0.begins(with: service) }) {
                    walk.add(service, isPrimary: false)
                }
            }
        }
    }

    private func exploreCharacteristics(_ index: Int) {
        let service = table.services[index].service
        client.discoverCharacteristics(of: service, among: table.services.map(\.service)) { [weak self] result in
            self?.proceed(result, "the characteristics of \(nameOf(service.uuid))") { walk, found in
                walk.table.services[index].characteristics = found.map { .init(characteristic: $0) }
                for position in found.indices.reversed() {
                    walk.steps.prepend { [weak walk] in walk?.exploreDescriptors(index, position) }
                    guard found[position].properties.contains(.read) else { continue }
                    walk.steps.prepend { [weak walk] in walk?.readValue(index, position) }
                }
            }
        }
    }

    private func readValue(_ index: Int, _ position: Int) {
        let handle = table.services[index].characteristics[position].characteristic.value
        client.read(handle) { [weak self] result in
            self?.proceed(Self.outcome(result), "a value") {
                $0.table.services[index].characteristics[position].value = $1
            }
        }
    }

    private func exploreDescriptors(_ index: Int, _ position: Int) {
        let characteristic = table.services[index].characteristics[position].characteristic
        client.discoverDescriptors(of: characteristic) { [weak self] result in
            self?.proceed(result, "the descriptors of \(nameOf(characteristic.uuid))") { walk, found in
                walk.table.services[index].characteristics[position].descriptors = found.map { .init(descriptor: $0) }
                for number in found.indices.reversed() {
                    walk.steps.prepend { [weak walk] in walk?.readDescriptor(index, position, number) }
                }
            }
        }
    }

    private func readDescriptor(_ index: Int, _ position: Int, _ number: Int) {
        let handle = table.services[index].characteristics[position].descriptors[number].descriptor.handle
        client.read(handle) { [weak self] result in
            self?.proceed(Self.outcome(result), "a descriptor") {
                $0.table.services[index].characteristics[position].descriptors[number].value = $1
            }
        }
    }

    /// A read that fails is a result to show, unless the link has ended.
    private static func outcome(
        _ result: Result<PacketBuffer, GATTError>
    ) -> Result<AttributeTable.Value, GATTError> {
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
