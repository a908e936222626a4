import Administration
import AppStandIns
import BluetoothService
import CoreBluetooth
import EventLoops
import Foundation
import RadioEnergy
import TestBasics
import Testing

@testable import BluetoothSimulation
@testable import BluetoothTesting

/// The estimate for a real controller, beside the exact ledger of a virtual one.
@Suite struct EnergyEstimateTests {
    /// A device whose energy is both known and estimated.
    private struct Subject {
        let device: SimulatedDevice
        private let estimator: LoopBound<EnergyEstimator>

        /// Follows the packets of a device's next controller.
        init(_ device: SimulatedDevice, _ profile: RadioProfile) {
            self.device = device
            device.setController(isPluggedIn: false)
            estimator = device.withSystem { system in
                let estimator = EnergyEstimator(profile, loop: system.loop)
                device.interpose { estimator.wrap($0) }
                estimator.follow(system)
                system.energySource = estimator
                return LoopBound(estimator, loop: system.loop)
            }
            device.setController(isPluggedIn: true)
        }

        var estimate: EnergyReport { estimator.with { $0.report } }
        var exact: EnergyReport {
            get throws { try #require(world.energy(of: device.name)) }
        }
    }

    /// How far the estimate is away, of what is used from `begin` on, in percent.
    private struct Deviation: CustomStringConvertible {
        let charge, sending, listening: Double

        init(_ subject: Subject, since begin: (estimate: EnergyReport, exact: EnergyReport)) throws {
            let (estimate, exact) = (subject.estimate, try subject.exact)
            func percent(_ value: (EnergyReport) -> Double) -> Double {
                let right = value(exact) - value(begin.exact)
                return right == 0 ? 0 : ((value(estimate) - value(begin.estimate)) / right - 1) * 100
            }
            charge = percent(\.total.microampereHours)
            sending = percent { $0.usage.sending / .microseconds(1) }
            listening = percent { $0.usage.listening / .microseconds(1) }
        }

        var description: String { "charge \(charge) %, sending \(sending) %, listening \(listening) %" }
    }

    /// Measures a subject for a time.
    private func deviation(of subject: Subject, in seconds: Int) async throws -> Deviation {
        let begin = (subject.estimate, try subject.exact)
        await world.run(for: .seconds(seconds))
        return try Deviation(subject, since: begin)
    }

    private func subject(_ name: String, at x: Double = 0) async -> Subject {
        let subject = Subject(world.addDevice(named: name, at: Position(x: x)), .nrf54l15)
        await world.run(for: .seconds(2))
        return subject
    }

    private func expect(_ deviation: Deviation, within margin: Double, _ place: SourceLocation = #_sourceLocation) {
        #expect(abs(deviation.charge) < margin, "\(deviation)", sourceLocation: place)
        #expect(abs(deviation.sending) < margin, "\(deviation)", sourceLocation: place)
        #expect(abs(deviation.listening) < margin, "\(deviation)", sourceLocation: place)
    }

    @Test("the estimate of advertising is within 1 % of what the radio did", .world)
    func advertising() async throws {
        world.trackEnergy(.nrf54l15)
        let belt = await subject("Belt")
        belt.device.launch("belt") { _ in TestBelt() }
        await world.run(for: .seconds(1))
        expect(try await deviation(of: belt, in: 300), within: 1)
        let (estimate, exact) = (belt.estimate, try belt.exact)
        #expect(estimate.isEstimate)
        #expect(!exact.isEstimate)
        #expect(estimate.description.contains("estimate"))
        #expect(estimate.apps == exact.apps)
        #expect(estimate.charge(of: "belt", for: .advertising) > .zero)
    }

    @Test("the estimate of scanning is within 1 % of what the radio did, with and without others around", .world)
    func scanning() async throws {
        world.trackEnergy(.nrf54l15)
        let phone = await subject("Phone")
        phone.device.launch("app") { _ in AdviceCostTests.Scanner() }
        await world.run(for: .seconds(1))
        expect(try await deviation(of: phone, in: 60), within: 1)
        world.addDevice(named: "Belt", at: Position(x: 1)).launch("belt") { _ in TestBelt() }
        let begin = (phone.estimate, try phone.exact)
        await world.run(for: .seconds(60))
        let busy = try Deviation(phone, since: begin)
        #expect(abs(busy.charge) < 1, "\(busy)")
        #expect(abs(busy.listening) < 1, "\(busy)")
    }

    @Test("the estimate of a link without data is within 5 % of what the radio did, on both sides", .world)
    func idleLink() async throws {
        world.trackEnergy(.nrf54l15)
        let (belt, phone) = await (subject("Belt"), subject("Phone", at: 1))
        belt.device.launch("belt") { _ in TestBelt() }
        let follower = phone.device.launch("follower") { _ in TestFollower() }
        await world.until { follower.notes.all.last == "subscribed" }
        await world.run(for: .seconds(10))
        let begin = [(belt.estimate, try belt.exact), (phone.estimate, try phone.exact)]
        await world.run(for: .seconds(300))
        for (subject, begin) in zip([belt, phone], begin) {
            expect(try Deviation(subject, since: begin), within: 5)
            #expect(subject.estimate.apps == (try subject.exact).apps)
        }
    }

    /// A belt that sends as much as it can.
    private final class Streamer: PeripheralStandIn, @unchecked Sendable {
        let value = CBMutableCharacteristic(CBUUID(string: "2A37"), .notify)

        init() { super.init(service: TestBelt.service, [value]) }

        override func peripheralManager(
            _ peripheral: CBPeripheralManager,
            central: CBCentral,
            didSubscribeTo characteristic: CBCharacteristic
        ) {
            peripheral.stopAdvertising()
            send()
        }

        override func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { send() }

        private func send() {
            while manager?.updateValue(Data(repeating: 7, count: 150), for: value, onSubscribedCentrals: nil) == true {}
        }
    }

    @Test("the estimate of bulk transfer is within 8 % of what the radio did, on both sides", .world)
    func bulk() async throws {
        world.trackEnergy(.nrf54l15)
        let (sender, phone) = await (subject("Belt"), subject("Phone", at: 1))
        sender.device.launch("sender") { _ in Streamer() }
        let follower = phone.device.launch("follower") { _ in TestFollower() }
        await world.until { follower.notes.all.last == "7 bpm" }
        await world.run(for: .seconds(1))
        let count = follower.notes.all.count
        let begin = [(sender.estimate, try sender.exact), (phone.estimate, try phone.exact)]
        await world.run(for: .seconds(10))
        #expect(follower.notes.all.count > count + 100)
        for (subject, begin) in zip([sender, phone], begin) {
            expect(try Deviation(subject, since: begin), within: 8)
        }
        let updates = sender.estimate.items.first { item in
            if case .operation(.updates, _) = item.account.use { true } else { false }
        }
        #expect(updates?.account.app == "sender")
    }

    @Test("controllers that come and go lose nothing of the estimate, and the status marks it", .world)
    func status() async throws {
        world.trackEnergy(.nrf54l15)
        let phone = await subject("Phone")
        #expect(phone.device.withSystem { $0.status.energy?.apps.isEmpty } == true)
        phone.device.launch("app") { _ in AdviceCostTests.Scanner() }
        await world.run(for: .seconds(10))
        let before = phone.estimate.charge(of: "app")
        phone.device.setController(isPluggedIn: false)
        await world.run(for: .seconds(5))
        #expect(phone.estimate.charge(of: "app") == before)
        phone.device.setController(isPluggedIn: true)
        await world.run(for: .seconds(10))
        #expect(phone.estimate.charge(of: "app") > before)
        let status = phone.device.withSystem { $0.status }
        let energy = try #require(status.energy)
        #expect(energy.isEstimate)
        #expect(energy.apps.map(\.app) == ["app"])
        #expect(energy.apps[0].uses.map(\.use) == ["scanning"])
        #expect(energy.microampereHours == phone.estimate.total.microampereHours)
        #expect(status.lines.contains { $0.hasPrefix("energy (estimate, radio profile nRF54L15): ") })
        #expect(status.lines.contains { $0.hasPrefix("  app: ") && $0.contains("(scanning ") })
        let other = world.addDevice(named: "Other")
        #expect(other.withSystem { $0.status.energy } == nil)
    }
}
