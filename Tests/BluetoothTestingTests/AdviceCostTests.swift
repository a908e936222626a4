import CoreBluetooth
import Foundation
import RadioEnergy
import Synchronization
import TestBasics
import Testing

@testable import BluetoothTesting

/// The cost of what advice is about.
@Suite struct AdviceCostTests {
    /// An app with a number of central managers, the first of which scans from its launch on.
    final class Scanner: NSObject, CBCentralManagerDelegate, @unchecked Sendable {
        private let queue = DispatchQueue(label: "scanner")
        private var managers: [CBCentralManager] = []

        init(managers count: Int = 1) {
            super.init()
            managers = (0..<count).map { CBCentralManager(delegate: $0 == 0 ? self : nil, queue: queue) }
        }

        func centralManagerDidUpdateState(_ central: CBCentralManager) {
            if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
        }
    }

    /// An app that connects to a belt and asks nothing of it.
    final class Idler: NSObject, CBCentralManagerDelegate, @unchecked Sendable {
        let notes = Notes<String>()
        private var manager: CBCentralManager?

        override init() {
            super.init()
            manager = CBCentralManager(delegate: self, queue: DispatchQueue(label: "idler"))
        }

        func centralManagerDidUpdateState(_ central: CBCentralManager) {
            for belt in central.retrieveConnectedPeripherals(withServices: [TestBelt.service]) {
                held.withLock { $0 = belt }
                central.connect(belt)
            }
        }

        private let held = Mutex<CBPeripheral?>(nil)

        func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
            notes.add("connected")
        }
    }

    /// Lets an app scan for too long, and returns the advice about it.
    private func scan(managers: Int = 1) async -> [AdviceRule: Advice] {
        world.addDevice(named: "Phone").launch("app") { _ in Scanner(managers: managers) }
        await world.run(for: .seconds(61))
        let pairs = world.advice.map { ($0.rule, $0) }
        return Dictionary(pairs) { first, _ in first }
    }

    @Test("advice about a scan says what the app's scanning cost; other advice about it does not", .world)
    func scanning() async throws {
        world.trackEnergy()
        let advice = await scan()
        let cost = try #require(advice[.shortScans]?.cost)
        let energy = try #require(world.energy(of: "Phone"))
        let charge = energy.charge(of: "app", for: .scanning)
        #expect(cost.microampereHours == charge.microampereHours)
        #expect(cost.listening == energy.usage(of: "app").listening)
        #expect(cost.sending == energy.usage(of: "app").sending)
        #expect(cost.listening > .seconds(1))
        #expect(!cost.isEstimate)
        let text = advice[.shortScans]?.description ?? ""
        #expect(text.contains("swift:\(Self.scanLine)); all its scanning cost \(charge), with the radio on for "))
        #expect(text.contains(" s. Stop the scan after some seconds"))
        #expect(advice.keys.contains(.scanForServices))
        #expect(advice[.scanForServices]?.cost == nil)
    }

    private static let scanLine = 23

    @Test("without a ledger, and with one that began after the app, advice has no cost", .world)
    func unknown() async {
        let early = await scan()
        #expect(early[.shortScans] != nil)
        #expect(early[.shortScans]?.cost == nil)
        world.trackEnergy()
        await world.run(for: .seconds(100))
        #expect(world.energy(of: "Phone") != nil)
        #expect(world.advice.allSatisfy { $0.cost == nil })
    }

    @Test("the use of two managers of one kind cannot be told apart, so their advice has no cost", .world)
    func rivals() async {
        world.trackEnergy()
        let advice = await scan(managers: 2)
        #expect(advice[.shortScans] != nil)
        #expect(advice[.shortScans]?.cost == nil)
    }

    @Test("advice about an advertisement and about an idle connection has its account, on its device", .world)
    func advertisingAndLink() async throws {
        world.trackEnergy()
        let pair = TestPair(in: world)
        await world.until { pair.follower.notes.all.last == "subscribed" }
        let idle = pair.phone.launch("idle") { _ in Idler() }
        await world.until { idle.notes.all.last == "connected" }
        await world.run(for: .seconds(400))
        let (belt, phone) = try (#require(world.energy(of: "Belt")), #require(world.energy(of: "Phone")))
        let advertising = try #require(world.advice.first { $0.rule == .stopAdvertising })
        #expect(advertising.device == "Belt")
        #expect(advertising.cost?.microampereHours == belt.charge(of: "belt", for: .advertising).microampereHours)
        let link = try #require(world.advice.first { $0.rule == .idleConnection })
        let peer = try #require(link.peer)
        #expect(link.app == "idle")
        #expect(link.cost?.microampereHours == phone.charge(of: "idle", for: .link(peer)).microampereHours)
        #expect(link.cost?.use == "its share of the link")
    }
}
