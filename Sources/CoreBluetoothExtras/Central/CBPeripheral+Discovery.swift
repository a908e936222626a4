import BluetoothService
import BluetoothTypes
import CoreBluetooth
import Foundation

/// Discovery, with a result for each call. The delegate is called too, and first. Every call ends: with what was found, with an
/// error, at the latest with that of the disconnection, when the time is over, or at once when the task is cancelled.
extension CBPeripheral {
    /// Discovers services; nil means all of them, which takes longer.
    ///
    /// - Returns: Those that were asked for; ``services`` has those found before as well.
    /// - Throws: `CBError`, `CBATTError`, ``ExtrasError/deadlinePassed`` or `CancellationError`.
    @discardableResult
    public func discoverServices(_ uuids: [CBUUID]?, deadline: Duration? = nil) async throws -> [CBService] {
        let event = try await answer(to: .discoverServices(uuids.wanted), within: deadline)
        guard case .servicesDiscovered(let result) = event else { throw event.isNoAnswer }
        return try objects(result, { $0.handle }) { service(at: $0) }.named(by: uuids)
    }

    /// Discovers the services that a service includes; nil means all of them.
    ///
    /// - Returns: Those that were asked for.
    @discardableResult
    public func discoverIncludedServices(
        _ uuids: [CBUUID]?,
        for service: CBService,
        deadline: Duration? = nil
    ) async throws -> [CBService] {
        let request = LinkRequest.discoverIncludedServices(of: service.handle, uuids.wanted)
        let event = try await answer(to: request, of: service, within: deadline)
        guard case .includedServicesDiscovered(_, let result) = event else { throw event.isNoAnswer }
        return try objects(result, { $0.handle }) { self.service(at: $0) }.named(by: uuids)
    }

    /// Discovers the characteristics of a service; nil means all of them.
    ///
    /// - Returns: Those that were asked for.
    @discardableResult
    public func discoverCharacteristics(
        _ uuids: [CBUUID]?,
        for service: CBService,
        deadline: Duration? = nil
    ) async throws -> [CBCharacteristic] {
        let request = LinkRequest.discoverCharacteristics(of: service.handle, uuids.wanted)
        let event = try await answer(to: request, of: service, within: deadline)
        guard case .characteristicsDiscovered(_, let result) = event else { throw event.isNoAnswer }
        return try objects(result, { $0.handle }) { characteristic(at: $0) }.named(by: uuids)
    }

    /// Discovers the descriptors of a characteristic.
    @discardableResult
    public func discoverDescriptors(
        for characteristic: CBCharacteristic,
        deadline: Duration? = nil
    ) async throws -> [CBDescriptor] {
        let request = LinkRequest.discoverDescriptors(of: characteristic.handle)
        let event = try await answer(to: request, of: characteristic, within: deadline)
        guard case .descriptorsDiscovered(_, let result) = event else { throw event.isNoAnswer }
        return try objects(result, { $0.handle }) { descriptor(at: $0) }
    }

    /// The objects for what was found, as far as they have not become void meanwhile.
    private func objects<Found, Object>(
        _ result: Result<[Found], ServiceError>,
        _ handle: (Found) -> AttributeHandle,
        _ object: (AttributeHandle) -> Object?
    ) throws -> [Object] {
        try result.orThrow().compactMap { object(handle($0)) }
    }
}

extension [CBUUID]? {
    /// The values for the service; no list and an empty one both mean all (behaviour 4.1).
    fileprivate var wanted: [BluetoothUUID]? {
        guard let self, !self.isEmpty else { return nil }
        return self.map(\.uuid)
    }
}

extension Array where Element: CBAttribute {
    /// Those that a list names.
    fileprivate func named(by uuids: [CBUUID]?) -> [Element] {
        guard let uuids, !uuids.isEmpty else { return self }
        return filter { uuids.contains($0.uuid) }
    }
}
