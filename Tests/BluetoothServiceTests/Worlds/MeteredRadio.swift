import BluetoothTypes
import EventLoops
import LinkLayer
import RadioEnergy

@testable import BluetoothService
@testable import BluetoothSimulation
@testable import BluetoothTesting

/// Virtual controllers of one node of a radio channel, with the energy ledger of a simulated device.
final class MeteredRadio: WorldRadio {
    /// How far away a device is that is out of range, in metres.
    private static let farAway = 1_000_000.0

    private let socket: ControllerSocket
    private let place: Position
    private let loop: VirtualEventLoop
    private var tracker: EnergyTracker
    /// The idle time and the events of the controllers that have ended.
    private var ended = (idle: Int64(0), events: Int64(0))

    init(_ number: Int, on radio: Radio, loop: VirtualEventLoop, random: RandomSource) {
        self.loop = loop
        place = Position(x: Double(number))
        socket = ControllerSocket(
            "device \(number)",
            node: radio.add(at: place),
            loop: loop,
            random: random,
            configuration: .init(publicAddress: .init(0x0248_5244_0000 + UInt64(number), kind: .publicDevice)),
            playing: nil,
            log: PacketLog(calendarStart: 0, write: nil)
        )
        tracker = EnergyTracker(from: [:], of: 0, at: loop.now)
        socket.onRadio = { [weak self] in self?.take($1, at: $0) }
    }

    // The model of the random worlds asks for this. What the radio does is compared with the ledger instead.
    var isScanning: Bool { false }
    var isAdvertising: Bool { false }

    func open(isPluggedIn: Bool) -> ControllerSource {
        if isPluggedIn { socket.plugIn() }
        return socket.source
    }

    func observe(_ system: BluetoothSystem) {
        system.observers.add(EnergyTracker.kinds) { [weak socket] in socket?.note(.event($0)) }
    }

    func plugIn() { socket.plugIn() }
    func unplug() { socket.unplug() }
    func setInRange(_ isInRange: Bool) { socket.node.position = isInRange ? place : Position(x: Self.farAway) }

    // MARK: Energy

    private func take(_ reading: RadioReading?, at occasion: RadioOccasion) {
        tracker.take(reading, at: occasion)
        guard case .controllerEnds = occasion, let reading else { return }
        ended.idle += reading.idle
        ended.events += reading.events
    }

    /// Returns the report of the ledger, and what the radio itself has counted.
    func measure(_ profile: RadioProfile) -> (ledger: EnergyReport, radio: Measurement) {
        let reading = socket.radioReading
        if let reading { tracker.settle(reading) }
        let measurement = Measurement(
            air: socket.node.airTime,
            breakdown: socket.node.breakdown,
            powers: socket.node.powers,
            idle: ended.idle + (reading?.idle ?? 0),
            events: ended.events + (reading?.events ?? 0)
        )
        return (tracker.report(profile, at: loop.now), measurement)
    }

    /// The use of a radio as counted by its node, and by its controllers.
    struct Measurement {
        let air: RadioNode.AirTime
        let breakdown: RadioNode.Breakdown
        let powers: [Int8]
        let idle: Int64
        let events: Int64

        /// The charge in femtocoulombs without that of sleep, calculated from the numbers of a profile.
        func charge(_ profile: RadioProfile) -> Int128 {
            var sum = Int128(profile.idle) * Int128(idle) + profile.wakeUp.femtocoulombs * Int128(events)
            for (index, power) in powers.enumerated() {
                sum += Int128(profile.transmitCurrent(at: power)) * Int128(breakdown.sendingByPower[index])
            }
            for (index, modulation) in RadioPHY.Modulation.allCases.enumerated() {
                sum += Int128(profile.receiveCurrent(for: modulation)) * Int128(breakdown.listeningByModulation[index])
            }
            for (ramp, count) in [
                (profile.transmitRampUp, Int64(air.framesSent)), (profile.receiveRampUp, breakdown.listens),
            ] {
                sum += Int128(ramp.nanoamperes) * Int128(ramp.microseconds) * Int128(count)
            }
            return sum
        }
    }
}

extension RadioReading {
    fileprivate var idle: Int64 { times.values.reduce(0) { $0 + $1.idle } }
    fileprivate var events: Int64 { times.values.reduce(0) { $0 + $1.events } }
}
