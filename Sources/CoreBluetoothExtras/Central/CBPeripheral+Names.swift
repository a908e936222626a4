import BluetoothService
import CoreBluetooth

/// What this system knows of the names of a device (behaviour 15.7). The `name` of a `CBPeripheral` is the device's own where that is
/// known, and the advertised one before.
public struct PeripheralNames: Hashable, Sendable {
    /// A name, and how old it is.
    public struct Name: Hashable, Sendable {
        /// The name.
        public var text: String
        /// The time since it was last heard or read; nil when that was before the system began.
        public var age: Duration?
    }

    /// What it calls itself in advertisements.
    public var advertised: Name?
    /// What it calls itself in its Generic Access service, which is read after connecting.
    public var device: Name?

    init(_ known: KnownNames) {
        advertised = known.advertised.map { Name(text: $0, age: known.advertisedAge.map { .milliseconds($0) }) }
        device = known.device.map { Name(text: $0, age: known.deviceAge.map { .milliseconds($0) }) }
    }
}

extension CBPeripheral {
    /// Both names of the device, each with its age.
    public var names: PeripheralNames {
        guard case .names(let known) = reply(to: .names(identifier)) else { return PeripheralNames(KnownNames()) }
        return PeripheralNames(known)
    }

    /// Forgets what the system has kept of the device's services, on this connection and from earlier ones, and discovers them anew:
    /// for a device that changes them and does not say so (behaviour 15.6). All objects for them become void, for each app that is
    /// connected to the device: delegates are told by `didModifyServices`, others by ``serviceChanges``.
    ///
    /// - Returns: The services, as new objects.
    @discardableResult
    public func refreshServices(deadline: Duration? = nil) async throws -> [CBService] {
        let event = try await answer(to: .refreshServices, within: deadline)
        guard case .servicesDiscovered(let result) = event else { throw event.isNoAnswer }
        return try result.orThrow().compactMap { service(at: $0.handle) }
    }
}
