import BluetoothService
import BluetoothSimulation
import CoreBluetooth

/// An ``Accessory`` as a device of a `SimulatedWorld`.
///
/// The accessory stays in its world even if this value is released. All methods may be called from any thread.
public struct SimulatedAccessory: Sendable {
    /// The device, for its position, its person and its traffic.
    public let device: SimulatedDevice
    /// Plays the accessory. It changes values on request.
    public let player: AccessoryPlayer

    /// The name of the accessory's app on its device.
    public static let app = "accessory"

    /// Switches the accessory off and on again. It starts with its initial values, and keeps its bonds.
    public func restart() {
        device.restart()
        device.open(Self.app)
    }
}

extension WorldOfDevices {
    /// Adds an accessory to the world and switches it on.
    ///
    /// Its person agrees to pair if the accessory pairs.
    ///
    /// - Parameters:
    ///   - accessory: The accessory.
    ///   - position: The position of the accessory, in metres.
    ///   - capture: Receives the octets of a btsnoop file with the accessory's HCI packets as they come, beginning with
    ///     its header. Called on the loop.
    /// - Returns: The device, and a handle for changing values.
    @discardableResult
    public func addAccessory(
        _ accessory: Accessory,
        at position: Position = Position(),
        capture: (@Sendable ([UInt8]) -> Void)? = nil
    ) -> SimulatedAccessory {
        var options = DeviceOptions.accessory
        if accessory.hasChannelSounding { options.channelSounding = .supported }
        let device = simulation.addDevice(
            named: accessory.name,
            at: position,
            options: options,
            capture: capture ?? self.capture(ofDevice: accessory.name)
        ) { accessory.configure(&$0) }
        simulation.leaveOutOfAdvice(device)
        device.person.behaves(accessory.security.allowsPairing ? .agrees(lookingAt: []) : .declines)
        let player = AccessoryPlayer(accessory)
        device.install(SimulatedAccessory.app) { app, _ in
            let queue = DispatchQueue(label: "accessory")
            let timer = app.timer(on: queue)
            player.start(on: queue, timer: timer)
            guard accessory.hasChannelSounding else { return (player, RangingService?.none) }
            let ranging = RangingService()
            ranging.start(on: queue, timer: timer, watching: app.device.watchReflections)
            return (player, ranging)
        }
        device.open(SimulatedAccessory.app)
        let simulated = SimulatedAccessory(device: device, player: player)
        simulated.schedule(accessory.faults)
        return simulated
    }

    /// Adds a ready-made accessory to the world and switches it on.
    ///
    /// - Parameters:
    ///   - accessory: The accessory.
    ///   - position: The position of the accessory, in metres.
    /// - Returns: The device, and a handle for changing values.
    @discardableResult
    public func addAccessory(_ accessory: ReadyMadeAccessory, at position: Position = Position()) -> SimulatedAccessory
    {
        addAccessory(accessory.accessory, at: position)
    }
}
