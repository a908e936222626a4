import Accessories
import BluetoothTypes
import CoreBluetooth
import CoreBluetoothExtras
import Foundation
import ServiceMessages
import Synchronization

// MARK: - harald record

extension DeviceClient {
    /// Returns an accessory with the attribute table of a device, its readable values, and its notifications. If the
    /// device is lost before the time is over, the error says how much was recorded.
    ///
    /// - Parameter pairs: Whether to pair for values that need it.
    func record(
        _ device: FoundDevice,
        for duration: Duration,
        pairs: Bool = false
    ) async throws(ToolError) -> (accessory: Accessory, loss: ToolError?) {
        device.peripheral.prefer(LinkWish(pairs: false))
        var table = try await discover(device)
        let name = device.candidate.names.first?.prefix(octets: AccessoryLimits.nameLength) ?? ""
        var accessory = Accessory(name: name.isEmpty ? "Recorded" : name)
        accessory.advertising.services = device.candidate.services.prefix(AccessoryLimits.services).map(\.attributeForm)
        var notifying: [CBCharacteristic] = []
        var places: [UInt16: (service: Int, characteristic: Int)] = [:]
        // By handle, so that included services come first where the device has them first.
        let services = table.listing.services.sorted { $0.handle < $1.handle }
        let described = services.filter { ![0x1800, 0x1801].contains($0.uuid.attributeForm) }
        for listed in described.prefix(AccessoryLimits.services) {
            var service = Accessory.Service(uuid: listed.uuid.attributeForm, isPrimary: listed.isPrimary)
            let known = accessory.services.map(\.uuid)
            service.includes = listed.includes.map(\.uuid.attributeForm).filter { uuid in
                known.count { $0 == uuid } == 1
            }
            for each in listed.characteristics.prefix(AccessoryLimits.characteristics) {
                guard let characteristic = table.characteristics[each.handle],
                    !Self.properties(of: characteristic).isEmpty
                else { continue }
                if !characteristic.properties.isDisjoint(with: [.notify, .indicate]) {
                    notifying.append(characteristic)
                }
                places[each.handle] = (accessory.services.count, service.characteristics.count)
                service.characteristics.append(try await recorded(characteristic, device, &table.listing))
            }
            accessory.services.append(service)
        }
        if pairs {
            for (handle, value) in try await securedValues(of: accessory, places, table, device) {
                guard let place = places[handle] else { continue }
                accessory.services[place.service].characteristics[place.characteristic].value = value
            }
        }
        let (recording, loss) = await notifications(of: notifying, device, for: duration)
        for (handle, values) in recording {
            guard let place = places[handle] else { continue }
            accessory.services[place.service].characteristics[place.characteristic].adopt(values)
        }
        return (accessory, loss)
    }

    /// Pairs, and returns the values that need it, by handle.
    private func securedValues(
        of accessory: Accessory,
        _ places: [UInt16: (service: Int, characteristic: Int)],
        _ table: DiscoveredTable,
        _ device: FoundDevice
    ) async throws(ToolError) -> [UInt16: Accessory.Value] {
        device.peripheral.prefer(LinkWish(pairs: true))
        var values: [UInt16: Accessory.Value] = [:]
        for (handle, place) in places.sorted(by: { $0.key < $1.key }) {
            let recorded = accessory.services[place.service].characteristics[place.characteristic]
            guard recorded.reading == .encrypted, let characteristic = table.characteristics[handle] else { continue }
            let answer = try await answer("reading \(nameOf(characteristic.uuid.uuid))", device) {
                try await device.peripheral.read(characteristic, deadline: Self.pairingLimit)
            }
            if case .success(let value) = answer { values[handle] = Accessory.Value([UInt8](value)) }
        }
        return values
    }

    private func recorded(
        _ characteristic: CBCharacteristic,
        _ device: FoundDevice,
        _ listing: inout AttributeListing
    ) async throws(ToolError) -> Accessory.Characteristic {
        let uuid = characteristic.uuid.uuid.attributeForm
        var result = Accessory.Characteristic(uuid: uuid, properties: Self.properties(of: characteristic))
        if characteristic.properties.contains(.read) {
            let answer = try await answer("reading \(nameOf(uuid))", device) {
                try await device.peripheral.read(characteristic, deadline: Self.answerLimit)
            }
            switch answer {
            case .success(let value): result.value = Accessory.Value([UInt8](value))
            case .failure(let error) where error.isAboutPairing: result.reading = .encrypted
            case .failure(let error): result.onRead.fault = .attError(max(1, UInt8(clamping: error.errorCode)))
            }
        }
        let descriptors = try await usable("discovering the descriptors of \(nameOf(uuid))", device, &listing) {
            try await device.peripheral.discover(descriptorsFor: characteristic, deadline: Self.answerLimit)
        }
        let described = descriptors.filter { [0x2901, 0x2904].contains($0.uuid.uuid) }
        for descriptor in described.prefix(AccessoryLimits.descriptors) {
            let answer = try await answer("reading a descriptor", device) {
                try await device.peripheral.read(descriptor, deadline: Self.answerLimit)
            }
            guard case .success(let value) = answer else { continue }
            result.adopt(descriptor.uuid.uuid, [UInt8](value))
        }
        return result
    }

    private static func properties(of characteristic: CBCharacteristic) -> Set<Accessory.Characteristic.Property> {
        let all: [(CBCharacteristicProperties, Accessory.Characteristic.Property)] = [
            (.read, .read), (.write, .write), (.writeWithoutResponse, .writeWithoutResponse), (.notify, .notify),
            (.indicate, .indicate),
        ]
        return Set(all.filter { characteristic.properties.contains($0.0) }.map(\.1))
    }

    /// Returns the values that characteristics notify or indicate, by handle, with the time of each, and the error if
    /// the device was lost meanwhile.
    private func notifications(
        of characteristics: [CBCharacteristic],
        _ device: FoundDevice,
        for duration: Duration
    ) async -> (values: [UInt16: [TimedValue]], loss: ToolError?) {
        guard !characteristics.isEmpty, duration > .zero else { return ([:], nil) }
        let (start, budget) = (ContinuousClock.now, RecordingBudget())
        return await withTaskGroup(of: (handle: UInt16, values: [TimedValue]).self) { group in
            for characteristic in characteristics {
                group.addTask {
                    (characteristic.handle, await Self.values(of: characteristic, device, since: start, budget))
                }
            }
            let loss = await loss(of: device, within: duration, since: start)
            group.cancelAll()
            return (await group.reduce(into: [:]) { $0[$1.handle] = $1.values }, loss)
        }
    }

    /// Waits for `duration`. Returns the error if the device is lost before.
    private func loss(
        of device: FoundDevice,
        within duration: Duration,
        since start: ContinuousClock.Instant
    ) async -> ToolError? {
        let ends = central.disconnections(of: device.peripheral)
        // It may have been lost before the stream existed.
        guard device.peripheral.state == .connected else {
            return cut(ToolError(CBError(.notConnected), doing: "recording", with: device.name), start, duration)
        }
        return await withTaskGroup(of: ToolError?.self) { group in
            group.addTask {
                await self.pause(duration)
                return nil
            }
            group.addTask {
                guard let end = try? await ends.first(where: { _ in true }) else { return nil }
                let error: ToolError =
                    switch end.cause {
                    case .asked: ToolError(CBError(.notConnected), doing: "recording", with: device.name)
                    case .lost(let error): ToolError(error, doing: "recording", with: device.name)
                    case .state(let state): .bluetooth(state)
                    }
                return self.cut(error, start, duration)
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
    }

    /// Adds to an error how much of the time was recorded.
    private func cut(_ error: ToolError, _ start: ContinuousClock.Instant, _ duration: Duration) -> ToolError {
        let seconds = ((ContinuousClock.now - start) / .milliseconds(100)).rounded(.down) / 10
        let note = "only \(seconds) s of \(duration / .seconds(1)) s were recorded"
        return switch explained(error) {
        case .peerVanished(let name, let doing, let reason):
            .peerVanished(name, doing: doing, reason: "\(reason.clause); \(note)")
        case .service(let text): .service("\(text); \(note)")
        case let other: other
        }
    }

    /// Returns the values until the task is cancelled: none if the device refuses the subscription.
    private static func values(
        of characteristic: CBCharacteristic,
        _ device: FoundDevice,
        since start: ContinuousClock.Instant,
        _ budget: RecordingBudget
    ) async -> [TimedValue] {
        var values: [TimedValue] = []
        do {
            for try await value in device.peripheral.notifications(of: characteristic) {
                guard values.count < AccessoryLimits.changes, budget.take(value.count) else { break }
                values.append(TimedValue(time: ContinuousClock.now - start, value: [UInt8](value)))
            }
        } catch {
            return values
        }
        return values
    }
}

/// The room for the notifications of a recording, which all characteristics of a device share. A device that notifies
/// without end fills no memory (AB-F06).
final class RecordingBudget: Sendable {
    /// The octets besides a value that a change takes in a file.
    private static let overhead = 32
    private let left = Mutex(AccessoryLimits.fileSize)

    /// Takes the room for a value. Returns false if there is none.
    func take(_ octets: Int) -> Bool {
        left.withLock { left in
            left -= octets + Self.overhead
            return left >= 0
        }
    }
}

extension Accessory {
    /// Returns the accessory without the later notifications, and then without the longest values, that a file has no
    /// room for. `harald serve` reads what is recorded, whatever the device had (AB-F06).
    ///
    /// - Throws: ``ToolError`` if the format cannot express the rest.
    func fitted() throws(ToolError) -> (accessory: Accessory, isCut: Bool) {
        var (fitted, limit) = (self, AccessoryLimits.changes)
        var length = AccessoryLimits.valueLength
        while true {
            do throws(AccessoryError) {
                return (try Accessory(json: fitted.json), fitted != self)
            } catch {
                guard length > 0 else { throw .incomplete("the device cannot be expressed as an accessory: \(error)") }
                if limit > 0 { limit /= 2 } else { length /= 2 }
                fitted.keep(changes: limit, length)
            }
        }
    }

    private mutating func keep(changes limit: Int, _ length: Int) {
        for service in services.indices {
            for place in services[service].characteristics.indices {
                let old = services[service].characteristics[place]
                services[service].characteristics[place].changes = Array(old.changes.prefix(limit))
                services[service].characteristics[place].repeatsChanges = old.repeatsChanges && limit > 0
                guard old.value.octets().count > length else { continue }
                services[service].characteristics[place].value = Value()
            }
        }
    }
}

/// A value of a recording.
struct TimedValue: Sendable {
    /// The time since the beginning of the recording.
    let time: Duration
    let value: [UInt8]
}

extension Accessory.Characteristic {
    /// Makes the recorded values changes over time, which start over.
    fileprivate mutating func adopt(_ values: [TimedValue]) {
        if value.parts.isEmpty, reading == .plain, let first = values.first { value = Accessory.Value(first.value) }
        var last = Duration.zero
        changes = values.prefix(AccessoryLimits.changes).map { each in
            defer { last = each.time }
            // Whole milliseconds, and at least one, as the format demands.
            let milliseconds = max(1, Int64((each.time - last) / .milliseconds(1)))
            return Accessory.Change(after: .milliseconds(milliseconds), value: Accessory.Value(each.value))
        }
        repeatsChanges = !changes.isEmpty
    }

    /// Adopts a descriptor if the format can express it.
    fileprivate mutating func adopt(_ uuid: BluetoothUUID, _ octets: [UInt8]) {
        switch uuid {
        case 0x2901:
            guard let text = String(validating: octets, as: UTF8.self) else { return }
            descriptors.append(Accessory.Descriptor(uuid: uuid, value: Accessory.Value([.text(text)])))
        case 0x2904 where octets.count == 7:
            descriptors.append(Accessory.Descriptor(uuid: uuid, value: Accessory.Value(octets)))
        default: break
        }
    }
}

extension CBATTError {
    fileprivate var isAboutPairing: Bool {
        [
            .insufficientAuthentication, .insufficientEncryption, .insufficientEncryptionKeySize,
            .insufficientAuthorization,
        ]
        .contains(code)
    }
}
