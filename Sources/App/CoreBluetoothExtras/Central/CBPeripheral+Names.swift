import CoreBluetooth
import ServiceMessages

/// The names of a device that this system has stored (behaviour 15.7).
///
/// The `name` of a `CBPeripheral` is the GAP device name if that is known, and the advertised name before
/// (behaviour 2.23).
public struct PeripheralNames: Hashable, Sendable {
    /// A name and its age.
    public struct Name: Hashable, Sendable {
        /// The name as the device sent it.
        public var text: String
        /// The time since the name was last received; nil if that was before the system started.
        public var age: Duration?
    }

    /// The name in the device's advertisements.
    public var advertised: Name?
    /// The GAP device name, which is read after connecting.
    public var device: Name?

    init(_ known: KnownNames) {
        advertised = known.advertised.map { Name(text: $0, age: known.advertisedAge.map { .milliseconds($0) }) }
        device = known.device.map { Name(text: $0, age: known.deviceAge.map { .milliseconds($0) }) }
    }
}

extension CBPeripheral {
    /// Both names of the device, each with its age (behaviour 15.7). Reading them blocks until the service has
    /// answered.
    public var names: PeripheralNames {
        guard case .names(let known) = reply(to: .names(identifier)) else { return PeripheralNames(KnownNames()) }
        return PeripheralNames(known)
    }

    /// Discards the system's cache of the device's services, from this connection and earlier ones, and discovers them
    /// anew (behaviour 15.6).
    ///
    /// This is for a device that changes its services without Service Changed. All objects for its services become
    /// invalid, for every app that is connected to the device: delegates receive `peripheral(_:didModifyServices:)`,
    /// and ``serviceChanges`` has them too.
    ///
    /// - Parameter deadline: The time limit, by the clock of the service. Nil for none.
    /// - Returns: The services, as new objects.
    /// - Throws: `CBError`, `CBATTError`, ``ExtrasError/deadlinePassed`` or `CancellationError`.
    @discardableResult
    public func refreshServices(deadline: Duration? = nil) async throws -> [CBService] {
        let event = try await answer(to: .refreshServices, within: deadline)
        guard case .servicesDiscovered(let result) = event else { throw event.isNoAnswer }
        return try result.orThrow().compactMap { service(at: $0.handle) }
    }
}
