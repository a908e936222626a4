import CoreBluetooth
import CoreBluetoothExtras
import Foundation
import GatewayStore
import SensorRecords

/// Connects to all sensors in range, stores what they notify, and acknowledges what is stored.
struct Collector: Sendable {
    let manager: CBCentralManager
    let keeper: Keeper

    /// Searches for sensors until the process ends, with pauses: the radio has the connections to serve, too.
    func run() async throws {
        try await manager.poweredOn()
        let service = CBUUID(string: SensorService.uuid)
        await withDiscardingTaskGroup { group in
            while true {
                let end = Task {
                    try await Task.sleep(for: Limits.scanning)
                    manager.stopScan()
                }
                do {
                    for try await found in manager.scan(services: [service]) {
                        guard await keeper.begin(found.peripheral.identifier) else { continue }
                        group.addTask { await collect(from: found.peripheral) }
                    }
                } catch {
                    say("the scan ended: \(error)")
                }
                end.cancel()
                try? await Task.sleep(for: Limits.scanPause)
            }
        }
    }

    private func collect(from peripheral: CBPeripheral) async {
        do {
            try await manager.openConnection(to: peripheral, deadline: Limits.connecting)
            try await receive(from: peripheral)
        } catch {
            say("\(peripheral.name ?? "a sensor"): \(error)")
        }
        await manager.disconnect(peripheral)
        try? await Task.sleep(for: Limits.pause)
        await keeper.end(peripheral.identifier)
    }

    private func receive(from peripheral: CBPeripheral) async throws {
        let uuids = [SensorService.records, SensorService.acknowledged, SensorService.name].map { CBUUID(string: $0) }
        let services = try await peripheral.discover(
            services: [CBUUID(string: SensorService.uuid)],
            deadline: Limits.connecting
        )
        guard let service = services.first else { throw GatewayError.noService }
        let found = try await peripheral.discover(characteristics: uuids, for: service, deadline: Limits.connecting)
        let characteristics = uuids.compactMap { uuid in found.first { $0.uuid == uuid } }
        guard characteristics.count == uuids.count else { throw GatewayError.noService }
        let name = String(
            decoding: try await peripheral.read(characteristics[2], deadline: Limits.connecting),
            as: UTF8.self
        )
        // The name becomes part of a topic and of JSON.
        guard (1...20).contains(name.count), name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
            throw GatewayError.badName
        }
        let acknowledged = try await peripheral.read(characteristics[1], deadline: Limits.connecting)
        guard acknowledged.count == 4 else { throw GatewayError.noService }
        let session = SensorSession(name, after: UInt32(SensorRecord.integer(acknowledged)), keeper)
        try await withThrowingTaskGroup { group in
            group.addTask {
                for try await octets in peripheral.notifications(of: characteristics[0]) {
                    try await session.receive(octets)
                }
                throw GatewayError.disconnected
            }
            group.addTask {
                while true {
                    let last = try await session.store()
                    let octets = Data(SensorRecord.octets(UInt64(last), 4))
                    try await peripheral.write(octets, for: characteristics[1], deadline: Limits.connecting)
                }
            }
            group.addTask { try await session.watch() }
            // The first one that ends, ends all.
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}

enum GatewayError: Error {
    case noService
    case badName
    case disconnected
    /// A record is missing or no record. The sensor sends all again that are not acknowledged.
    case gap
    case silent
    case storeFull
    case tooFast
}

/// The records of one connection to a sensor.
actor SensorSession {
    private let name: String
    private let keeper: Keeper
    private var unstored: [SensorRecord] = []
    private var last: UInt32
    private var arrival = ContinuousClock.now
    private var waiting: CheckedContinuation<Void, Never>?

    /// - Parameter last: The number that the sensor has acknowledgements for. Its next record is the first one.
    init(_ name: String, after last: UInt32, _ keeper: Keeper) {
        (self.name, self.last, self.keeper) = (name, last, keeper)
    }

    /// Takes a notification. A record that does not follow the one before ends the connection: it is never
    /// acknowledged past a gap.
    func receive(_ octets: Data) throws {
        guard let record = SensorRecord(octets), record.sequence == last &+ 1 else {
            throw GatewayError.gap
        }
        guard unstored.count < Limits.unstored else { throw GatewayError.tooFast }
        last = record.sequence
        arrival = .now
        unstored.append(record)
        waiting?.resume()
        waiting = nil
    }

    /// Waits for records and stores them, all that have arrived in one transaction.
    ///
    /// - Returns: The sequence number to acknowledge.
    func store() async throws -> UInt32 {
        while unstored.isEmpty {
            await withTaskCancellationHandler {
                await withCheckedContinuation { waiting = $0 }
            } onCancel: {
                Task { await wake() }
            }
            try Task.checkCancellation()
        }
        let records = unstored
        unstored = []
        guard try await keeper.store(records, of: name) else { throw GatewayError.storeFull }
        return records.last?.sequence ?? 0
    }

    /// Throws when no record has come for too long.
    func watch() async throws {
        while ContinuousClock.now - arrival < Limits.silence { try await Task.sleep(for: .seconds(1)) }
        throw GatewayError.silent
    }

    private func wake() {
        waiting?.resume()
        waiting = nil
    }
}

/// The store for the records of all sensors, and the sensors that are in use.
actor Keeper {
    private let store: SharedStore
    private var sensors: Set<UUID> = []

    init(_ store: SharedStore) {
        self.store = store
    }

    /// Returns whether to connect to a sensor: it is not in use, and there is room for one more.
    func begin(_ sensor: UUID) -> Bool { sensors.count < Limits.sensors && sensors.insert(sensor).inserted }

    func end(_ sensor: UUID) { sensors.remove(sensor) }

    func store(_ records: [SensorRecord], of sensor: String) throws -> Bool {
        try store.use { try $0.add(records, of: sensor, received: microseconds()) }
    }
}
