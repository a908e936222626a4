/// A world that devices are added to: a ``SimulatedWorld``, or a type around one, such as `TestWorld` of
/// BluetoothTesting.
///
/// Modules that build devices, such as Accessories, extend this protocol, so that both have their methods.
public protocol WorldOfDevices: Sendable {
    /// The simulated world. All methods of it may be called from any thread.
    var simulation: SimulatedWorld { get }

    /// Returns a function that receives the octets of a btsnoop file with the packets of a new device, for devices that
    /// are added without a capture; nil for none.
    func capture(ofDevice name: String) -> (@Sendable ([UInt8]) -> Void)?
}

extension WorldOfDevices {
    /// Returns nil: a world keeps no captures by itself.
    public func capture(ofDevice name: String) -> (@Sendable ([UInt8]) -> Void)? { nil }
}

extension SimulatedWorld: WorldOfDevices {
    /// This world, so that what extends the protocol works on it directly.
    public var simulation: SimulatedWorld { self }
}
