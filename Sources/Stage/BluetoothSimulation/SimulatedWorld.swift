import BluetoothService
import BluetoothTypes
import Cryptography
import EventLoops
import Foundation
import LinkLayer
import Security
import Synchronization

/// A world of Bluetooth devices without hardware: one radio channel, and devices whose apps run Core Bluetooth code of
/// this process.
///
/// On a `VirtualEventLoop` nothing waits, and a run depends only on the seed and on what the apps do: the same seed
/// gives the same packets. ``run(for:at:until:)`` can also follow the wall clock.
///
/// All methods may be called from any thread.
public final class SimulatedWorld: Sendable {
    /// The event loop that determines the time of the world.
    public let loop: any EventLoop
    /// The seed of all randomness in the world.
    public let seed: UInt64
    /// The name of the world in log lines, such as that of its test; nil if it has none.
    public let name: String?
    /// The calendar time at which the world began, in seconds since the beginning of 1970, UTC.
    public let calendarStart: TimeInterval

    /// The beginning of 2001, in seconds since the beginning of 1970: for worlds whose calendar does not matter. With
    /// it captures depend on the seed alone.
    public static let defaultCalendarStart: TimeInterval = 978_307_200

    final class State {
        let radio: Radio
        let random: RandomSource
        var devices: [DeviceParts] = []
        /// The number of the last device that has its random numbers. Each draws once from those of the world.
        private var lastNumber: UInt64 = 0
        /// The name of each device, by its place on the radio channel.
        var names: [RadioNode.ID: String] = [:]
        /// The names of devices about whose apps no advice is given.
        var unadvised: Set<String> = []
        var watchers: [Watcher] = []

        init(radio: Radio, random: RandomSource) {
            self.radio = radio
            self.random = random
        }

        /// Returns the number of a new device.
        ///
        /// - Parameter wanted: The number of a device that is played back, nil for the next one. Its random numbers are
        ///   those of the recorded device unless it has come later than that.
        func nextNumber(_ wanted: UInt64?) -> UInt64 {
            while let wanted, lastNumber + 1 < wanted {
                _ = random.next()
                lastNumber += 1
            }
            lastNumber += 1
            return wanted ?? UInt64(devices.count + 1)
        }
    }

    let state: LoopBound<State>
    private let followsTime = Atomic(false)

    /// Whether the code of apps that are launched from now on has the time of the world, as far as `VirtualAppTime`
    /// can see to it. From any thread.
    package var appsFollowTime: Bool {
        get { followsTime.load(ordering: .acquiring) }
        set { followsTime.store(newValue, ordering: .releasing) }
    }

    /// Creates a world without devices.
    ///
    /// - Parameters:
    ///   - seed: The seed of all randomness in the world.
    ///   - name: The name of the world, which log lines contain besides the seed.
    ///   - loop: The event loop that determines the time; by default one in virtual time.
    ///   - calendarStart: The calendar time at which the loop began, in seconds since the beginning of 1970, UTC.
    ///   - configuration: The configuration of the radio channel.
    public init(
        seed: UInt64,
        named name: String? = nil,
        loop: any EventLoop = VirtualEventLoop(),
        calendarStart: TimeInterval = SimulatedWorld.defaultCalendarStart,
        radio configuration: Radio.Configuration = Radio.Configuration()
    ) {
        // If the library is missing, the program ends here with an explanation, not when the first device pairs.
        _ = CryptographyProviders.standard
        self.seed = seed
        self.name = name
        self.loop = loop
        self.calendarStart = calendarStart
        state = loop.waitFor {
            let random = RandomSource(seed: seed)
            let radio = Radio(loop: loop, random: random.split(0), configuration: configuration)
            return LoopBound(State(radio: radio, random: random), loop: loop)
        }
    }

    /// Adds a device to the world and switches it on.
    ///
    /// - Parameters:
    ///   - name: The name of the device, also its GAP device name.
    ///   - position: The position of the device, in metres.
    ///   - options: The kind of the device.
    ///   - capture: Receives the octets of a btsnoop file with the device's HCI packets as they come, beginning with
    ///     its header. Called on the loop.
    /// - Returns: The device.
    public func addDevice(
        named name: String,
        at position: Position = Position(),
        options: DeviceOptions = DeviceOptions(),
        capture: (@Sendable ([UInt8]) -> Void)? = nil
    ) -> SimulatedDevice {
        addDevice(named: name, at: position, options: options, capture: capture) { _ in }
    }

    /// Adds a device with changes to the configuration of its system.
    ///
    /// - Parameters:
    ///   - number: The number of the controller, which determines its public address.
    ///   - bonds: The storage of bonds, in place of that in the configuration.
    ///   - playback: The capture to play in place of a controller.
    package func addDevice(
        named name: String,
        at position: Position = Position(),
        options: DeviceOptions = DeviceOptions(),
        number: UInt64? = nil,
        bonds: LoopBound<any BondStorage>? = nil,
        playing playback: Playback? = nil,
        capture: (@Sendable ([UInt8]) -> Void)? = nil,
        configure: @escaping @Sendable (inout SystemConfiguration) -> Void
    ) -> SimulatedDevice {
        loop.waitFor { [self] in
            var configuration = SystemConfiguration(options)
            configuration.deviceName = name
            configuration.loopStart = calendarStart - Self.defaultCalendarStart
            configure(&configuration)
            let device = SimulatedDevice(
                named: name,
                in: self,
                at: position,
                options: options,
                number: number,
                playing: playback,
                configuration: configuration,
                bonds: bonds?.value,
                capture: capture
            )
            device.note("is switched on at \(position.text)")
            return device
        }
    }

    /// The time since the world began.
    public var now: Duration {
        let loop = loop
        return loop.waitFor { loop.now - .zero }
    }

    /// The clock of the world, for `Task.sleep(for:clock:)` and other uses of a clock.
    public var clock: SimulatedClock { SimulatedClock(loop: loop) }

    /// Lets time pass in the world, as fast as possible unless a pace is given.
    ///
    /// When the method returns, no callback of an app is running any more, and the requests of the last one have been
    /// handled.
    ///
    /// Timers of the app itself, such as `DispatchQueue.asyncAfter`, follow the wall clock, unless the world is that of
    /// a test of `BluetoothTesting`. With `at: .realTime` they fit the world's time. Such a run depends on the timing
    /// of the machine, and may differ from the next one.
    ///
    /// - Parameters:
    ///   - duration: The time to let pass.
    ///   - pace: The speed of the world's time relative to the wall clock; nil for as fast as possible.
    ///   - condition: Evaluated after each event. Time stops once it is true. Connection events without data may pass
    ///     many at a time, so a condition on the time alone may stop it later.
    /// - Returns: Whether `condition` became true.
    /// - Precondition: The loop is a `VirtualEventLoop`. On a loop in real time, time passes by itself.
    @discardableResult
    public func run(
        for duration: Duration,
        at pace: Pace? = nil,
        until condition: @Sendable () -> Bool = { false }
    ) -> Bool {
        guard let virtual = loop as? VirtualEventLoop else {
            preconditionFailure("run(for:at:until:) needs a VirtualEventLoop; in real time, time passes by itself")
        }
        return virtual.run(until: virtual.now + duration, at: pace, stopWhen: condition)
    }
}

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
