import ATT
import BluetoothTypes
import DequeModule
import GATT

/// Reads a server's whole attribute table, one procedure at a time. Lives on the loop.
final class TableWalk {
    private let client: GATTClient
    private let completion: (Result<AttributeTable, GATTError>) -> Void
    /// The part of the table that has been read so far.
    private(set) var table = AttributeTable()
    private var steps = Deque<() -> Void>()

    init(_ client: GATTClient, completion: @escaping (Result<AttributeTable, GATTError>) -> Void) {
        self.client = client
        self.completion = completion
    }

    func begin() {
        client.discoverServices { [weak self] result in
            self?.proceed(result) { walk, services in
                for service in services { walk.add(service, isPrimary: true) }
            }
        }
    }

    /// Processes the result of a step, then starts the next step.
    private func proceed<Value>(_ result: Result<Value, GATTError>, _ take: (TableWalk, Value) -> Void) {
        switch result {
        case .failure(let error): completion(.failure(error))
        case .success(let value):
            take(self, value)
            next()
        }
    }

    private func next() {
        if let step = steps.popFirst() { step() } else { completion(.success(table)) }
    }

    private func add(_ service: DiscoveredService, isPrimary: Bool) {
        let index = table.services.count
        table.services.append(.init(service: service, isPrimary: isPrimary))
        steps.append { [weak self] in self?.exploreIncludes(index) }
        steps.append { [weak self] in self?.exploreCharacteristics(index) }
    }

    private func exploreIncludes(_ index: Int) {
        client.discoverIncludedServices(of: table.services[index].service) { [weak self] result in
            self?.proceed(result) { walk, included in
                walk.table.services[index].includes = included
                // Secondary services can only be found as included ones.
                for service in included where !walk.table.services.contains(where: { $0.service == service }) {
                    walk.add(service, isPrimary: false)
                }
            }
        }
    }

    private func exploreCharacteristics(_ index: Int) {
        client.discoverCharacteristics(of: table.services[index].service) { [weak self] result in
            self?.proceed(result) { walk, found in
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
            self?.proceed(Self.outcome(result)) { $0.table.services[index].characteristics[position].value = $1 }
        }
    }

    private func exploreDescriptors(_ index: Int, _ position: Int) {
        let characteristic = table.services[index].characteristics[position].characteristic
        client.discoverDescriptors(of: characteristic) { [weak self] result in
            self?.proceed(result) { walk, found in
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
            self?.proceed(Self.outcome(result)) {
                $0.table.services[index].characteristics[position].descriptors[number].value = $1
            }
        }
    }

    /// A read that the server refuses is a result to show. Other errors end the walk.
    private static func outcome(
        _ result: Result<PacketBuffer, GATTError>
    ) -> Result<AttributeTable.Value, GATTError> {
        switch result {
        case .success(let value): .success(.known(value))
        case .failure(let error): error.response.map { .success(.refused("\($0.code)")) } ?? .failure(error)
        }
    }
}
