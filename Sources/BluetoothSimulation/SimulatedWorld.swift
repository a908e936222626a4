import BluetoothService
import BluetoothTypes
import Bonds
import EventLoops
import Foundation
import Radio

/// A world of Bluetooth devices without hardware: one air, and devices on it whose apps run this process's Core Bluetooth
/// code.
///
/// On a ``VirtualEventLoop`` nothing waits, and a run is a function of the seed and of what the apps do: the same seed gives
/// the same packets. On a loop in real time the same world keeps pace with the wall clock.
///
/// Everything may be called from any thread.
public final class SimulatedWorld: Sendable {
    /// The time of the world.
    public let loop: any EventLoop
    /// What all randomness in the world follows from.
    public let seed: UInt64
    /// When the world began by the calendar, in seconds since the beginning of 1970, UTC.
    public let calendarStart: TimeInterval

    /// The beginning of 2001, for worlds whose calendar does not matter: with it captures depend on nothing but the seed.
    public static let defaultCalendarStart: TimeInterval = 978_307_200

    final class State {
        let radio: Radio
        let random: RandomSource
        var devices: [SimulatedDevice.Parts] = []

        init(radio: Radio, random: RandomSource) {
            self.radio = radio
            self.random = random
        }
    }

    let state: LoopBound<State>

    /// An empty world.
    ///
    /// - Parameters:
    ///   - seed: What all randomness follows from.
    ///   - loop: The time of the world; virtual unless given.
    ///   - calendarStart: Seconds since the beginning of 1970 at which the loop began.
    ///   - radio: What the air is like.
    public init(
        seed: UInt64,
        loop: any EventLoop = VirtualEventLoop(),
        calendarStart: TimeInterval = SimulatedWorld.defaultCalendarStart,
        radio configuration: Radio.Configuration = Radio.Configuration()
    ) {
        self.seed = seed
        self.loop = loop
        self.calendarStart = calendarStart
        state = loop.waitFor {
            let random = RandomSource(seed: seed)
            let radio = Radio(loop: loop, random: random.split(0), configuration: configuration)
            return LoopBound(State(radio: radio, random: random), loop: loop)
        }
    }

    /// Switches a new device on.
    ///
    /// - Parameters:
    ///   - name: What it is called; its name in the Generic Access service.
    ///   - position: Where it is, in metres.
    ///   - options: What kind of device it is.
    ///   - capture: Takes the octets of a btsnoop file with the device's HCI packets as they come, header first. Called on
    ///     the loop.
    public func addDevice(
        named name: String,
        at position: Position = Position(),
        options: DeviceOptions = DeviceOptions(),
        capture: (@Sendable ([UInt8]) -> Void)? = nil
    ) -> SimulatedDevice {
        addDevice(named: name, at: position, options: options, capture: capture) { _ in }
    }

    /// The same, with a last word on how the system behaves.
    ///
    /// - Parameters:
    ///   - number: Which controller it has: one number stands for one controller with one public address.
    ///   - bonds: Where its bonds are, in place of what the configuration says.
    func addDevice(
        named name: String,
        at position: Position = Position(),
        options: DeviceOptions = DeviceOptions(),
        number: UInt64? = nil,
        bonds: LoopBound<any BondStorage>? = nil,
        capture: (@Sendable ([UInt8]) -> Void)? = nil,
        configure: @escaping @Sendable (inout SystemConfiguration) -> Void
    ) -> SimulatedDevice {
        loop.waitFor { [self] in
            var configuration = SystemConfiguration(options)
            configuration.deviceName = name
            configuration.loopStart = calendarStart - Self.defaultCalendarStart
            configure(&configuration)
            return SimulatedDevice(
                named: name,
                in: self,
                at: position,
                options: options,
                number: number,
                configuration: configuration,
                bonds: bonds?.value,
                capture: capture
            )
        }
    }

    /// The time since the world began.
    public var now: Duration {
        let loop = loop
        return loop.waitFor { loop.now - .zero }
    }

    /// The time of the world for `Task.sleep(for:clock:)` and whatever else takes a clock.
    public var clock: SimulatedClock { SimulatedClock(loop: loop) }

    /// Lets time pass in a world in virtual time. No callback of an app runs any more when this returns, and what the last one asked for has
    /// been taken up.
    ///
    /// - Returns: Whether `condition` has come true, which is asked after everything that happens; then time stops there.
    @discardableResult
    public func run(for duration: Duration, until condition: @Sendable () -> Bool = { false }) -> Bool {
        guard let virtual = loop as? VirtualEventLoop else {
            preconditionFailure("time passes by itself in a world that runs on a loop in real time")
        }
        return virtual.run(until: virtual.now + duration, stopWhen: condition)
    }
}
