import BluetoothTypes
import CoreBluetooth
import Foundation
import ServiceMessages

/// Discovery with a result for each call.
///
/// The delegate is called too, and first. Every call ends: with the result or an error, at the latest when the
/// connection ends, when the deadline passes, or at once when the task is cancelled (behaviour 15.11).
extension CBPeripheral {
    /// Discovers services of the peripheral.
    ///
    /// - Parameters:
    ///   - uuids: The services to look for. Nil or an empty list discovers all, which takes longer (behaviour 4.1).
    ///   - deadline: The time limit, by the clock of the service. Nil for none.
    /// - Returns: The services that were asked for. The peripheral's `services` also has those discovered before
    ///   (behaviour 4.2).
    /// - Throws: `CBError`, `CBATTError`, ``ExtrasError/deadlinePassed`` or `CancellationError`.
    @discardableResult
    public func discover(services uuids: [CBUUID]?, deadline: Duration? = nil) async throws -> [CBService] {
        let event = try await answer(to: .discoverServices(uuids.wanted), within: deadline)
        guard case .servicesDiscovered(let result) = event else { throw event.isNoAnswer }
        return try objects(result, { $0.handle }) { service(at: $0) }.named(by: uuids)
    }

    /// Discovers the services that a service includes.
    ///
    /// - Parameters:
    ///   - uuids: The services to look for. Nil or an empty list discovers all (behaviour 4.1).
    ///   - service: The service. If it is no longer valid the call throws `CBError.invalidHandle` (behaviour 4.16).
    ///   - deadline: The time limit, by the clock of the service. Nil for none.
    /// - Returns: The included services that were asked for.
    /// - Throws: `CBError`, `CBATTError`, ``ExtrasError/deadlinePassed`` or `CancellationError`.
    @discardableResult
    public func discover(
        includedServices uuids: [CBUUID]?,
        for service: CBService,
        deadline: Duration? = nil
    ) async throws -> [CBService] {
        let request = LinkRequest.discoverIncludedServices(of: service.handle, uuids.wanted)
        let event = try await answer(to: request, of: service, within: deadline)
        guard case .includedServicesDiscovered(_, let result) = event else { throw event.isNoAnswer }
        return try objects(result, { $0.handle }) { self.service(at: $0) }.named(by: uuids)
    }

    /// Discovers the characteristics of a service.
    ///
    /// - Parameters:
    ///   - uuids: The characteristics to look for. Nil or an empty list discovers all (behaviour 4.1).
    ///   - service: The service. If it is no longer valid the call throws `CBError.invalidHandle` (behaviour 4.16).
    ///   - deadline: The time limit, by the clock of the service. Nil for none.
    /// - Returns: The characteristics that were asked for.
    /// - Throws: `CBError`, `CBATTError`, ``ExtrasError/deadlinePassed`` or `CancellationError`.
    @discardableResult
    public func discover(
        characteristics uuids: [CBUUID]?,
        for service: CBService,
        deadline: Duration? = nil
    ) async throws -> [CBCharacteristic] {
        let request = LinkRequest.discoverCharacteristics(of: service.handle, uuids.wanted)
        let event = try await answer(to: request, of: service, within: deadline)
        guard case .characteristicsDiscovered(_, let result) = event else { throw event.isNoAnswer }
        return try objects(result, { $0.handle }) { characteristic(at: $0) }.named(by: uuids)
    }

    /// Discovers the descriptors of a characteristic.
    ///
    /// - Parameters:
    ///   - characteristic: The characteristic. If it is no longer valid the call throws `CBError.invalidHandle`
    ///     (behaviour 4.16).
    ///   - deadline: The time limit, by the clock of the service. Nil for none.
    /// - Returns: The descriptors.
    /// - Throws: `CBError`, `CBATTError`, ``ExtrasError/deadlinePassed`` or `CancellationError`.
    @discardableResult
    public func discover(
        descriptorsFor characteristic: CBCharacteristic,
        deadline: Duration? = nil
    ) async throws -> [CBDescriptor] {
        let request = LinkRequest.discoverDescriptors(of: characteristic.handle)
        let event = try await answer(to: request, of: characteristic, within: deadline)
        guard case .descriptorsDiscovered(_, let result) = event else { throw event.isNoAnswer }
        return try objects(result, { $0.handle }) { descriptor(at: $0) }
    }

    /// The objects for what was found, as far as they are still valid.
    private func objects<Found, Object>(
        _ result: Result<[Found], ServiceError>,
        _ handle: (Found) -> AttributeHandle,
        _ object: (AttributeHandle) -> Object?
    ) throws -> [Object] {
        try result.orThrow().compactMap { object(handle($0)) }
    }
}

extension Array where Element: CBAttribute {
    fileprivate func named(by uuids: [CBUUID]?) -> [Element] {
        guard let uuids, !uuids.isEmpty else { return self }
        return filter { uuids.contains($0.uuid) }
    }
}
