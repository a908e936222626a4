import BluetoothTypes
import HCI
import RadioEnergy
import Testing

@testable import LinkLayer

/// The charge of connection and advertising events of virtual controllers, against figures that others have published.
///
/// No data sheet lists what the processor draws for an event. So the wake-up charge of each built-in profile is derived
/// from published figures, which are marked here, and so are the ramp-ups of CC2340R5. The others are predicted.
@Suite struct PublishedChargeTests {
    /// A published average current.
    struct Figure: CustomTestStringConvertible, Sendable {
        let profile: RadioProfile
        /// The published value, in microamperes, and the supply at which it was measured.
        let microamperes: Double
        var volts = 3.0
        let kind: Kind
        let source: String
        /// Whether the profile was fitted to this figure.
        var isFitted = false

        enum Kind: Sendable {
            case connection(LEPHYs, LECodedPHYOption = LECodedPHYOption(rawValue: 0), octets: Int = 0)
            case advertising(LEAdvertisingKind, interval: UInt16, octets: Int)
        }

        var testDescription: String { "\(profile.name), \(source)" }
    }

    static let figures: [Figure] = [
        Figure(
            profile: .cc2340r5,
            microamperes: 7,
            kind: .connection(.le1M),
            source: "TI SWRA793A, Table 6-1, 1M, 0 dBm, connection interval of 1 s",
            isFitted: true
        ),
        Figure(
            profile: .cc2340r5,
            microamperes: 6.6,
            kind: .connection(.le2M),
            source: "TI SWRA793A, Table 6-1, 2M, 0 dBm, connection interval of 1 s"
        ),
        Figure(
            profile: .cc2340r5,
            microamperes: 11.5,
            kind: .connection(.coded, .s2),
            source: "TI SWRA793A, Table 6-1, Coded S2, 0 dBm, connection interval of 1 s"
        ),
        Figure(
            profile: .cc2340r5,
            microamperes: 13.1,
            kind: .connection(.coded, .s8),
            source: "TI SWRA793A, Table 6-1, Coded S8, 0 dBm, connection interval of 1 s"
        ),
        Figure(
            profile: .cc2340r5,
            microamperes: 11.6,
            kind: .advertising(.connectableScannable, interval: 1_600, octets: 0),
            source: "TI SWRA793A, Table 6-2, 1M, 0 dBm, 1 s, 0 octets",
            isFitted: true
        ),
        Figure(
            profile: .nrf52832,
            microamperes: 6.4,
            volts: 3.3,
            kind: .connection(.le1M, octets: 3),
            source:
                "Nordic Online Power Profiler, peripheral, 1000 ms, 3 octets, as recorded in hutscape/palm, power.md",
            isFitted: true
        ),
        Figure(
            profile: .nrf52832,
            microamperes: 57,
            volts: 3.3,
            kind: .advertising(.connectableScannable, interval: 244, octets: 0),
            source:
                "Nordic Online Power Profiler, connectable, 152.5 ms, 0 octets, as recorded in hutscape/palm, power.md",
            isFitted: true
        ),
        Figure(
            // The charge of the event, 16.281 µJ at 2.99 V, each second, and the sleep current of the data sheet.
            profile: .nrf54l15,
            microamperes: 16.281 / 2.99 / 1.005 + 2.9,
            kind: .advertising(.nonConnectable, interval: 1_600, octets: 17),
            source: "BlueJoule, captures/js220/nrf-54-dk/zephyr-3V0, 1 s, 17 octets, 0 dBm",
            isFitted: true
        ),
    ]

    @Test("the model is within 5 % of published figures", arguments: figures)
    func published(figure: Figure) throws {
        let profile = figure.profile.supplied(at: figure.volts)
        let (usage, time) = try measure(figure.kind)
        let charge = profile.charge(of: usage) + profile.sleepCharge(for: time)
        let current = charge.scaled(from: time, to: .seconds(3_600)).microampereHours
        let deviation = (current / figure.microamperes - 1) * 100
        #expect(abs(deviation) < 5, "\(current) µA, \(deviation) %")
    }

    /// Lets virtual controllers do what was measured, and returns what the radio of the measured one did.
    private func measure(_ kind: Figure.Kind) throws -> (RadioUsage, Duration) {
        let world = LinkLayerWorld()
        let (central, peripheral) = (world.host(), world.host(at: 1) { $0.transmitPower = 0 })
        func total() -> RadioTime {
            peripheral.controller.radioTime.values.reduce(into: RadioTime()) { $0.add($1, since: RadioTime()) }
        }
        let time: Duration
        let before: RadioTime
        switch kind {
        case .advertising(let kind, let interval, let octets):
            time = .seconds(1_000)
            peripheral.send(LESetAdvertisingData(data: PacketBuffer([UInt8](repeating: 7, count: octets))))
            peripheral.advertise(kind, interval: interval)
            before = total()
            world.run(time)
        case .connection(let phy, let option, let octets):
            time = .seconds(200)
            peripheral.advertise()
            central.connect(to: peripheral.address, interval: 800, timeout: 3_200)
            world.run(.seconds(5))
            let handle = try #require(peripheral.controller.links.first).handle
            central.setPHY(handle, phy, option)
            peripheral.setPHY(handle, phy, option)
            world.run(.seconds(30))
            before = total()
            for _ in 0..<200 {
                if octets > 0 { peripheral.send([UInt8](repeating: 7, count: octets), on: handle) }
                world.run(.seconds(1))
            }
        }
        var spent = RadioTime()
        spent.add(total(), since: before)
        return (RadioUsage(spent, powers: peripheral.controller.node.powers), time)
    }
}
