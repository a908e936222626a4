import CoreBluetooth
import EventLoops
import Foundation
import GAP
import SMP
import Security
import ServiceMessages
import Testing

@testable import BluetoothService
@testable import BluetoothSimulation

/// A controller that is unplugged and plugged in again while two devices discover each other, connect, pair and read.
/// Whatever was in progress, the apps succeed, and stored data survives (behaviours 1.4, 1.9 to 1.14).
@Suite struct UnpluggingTests {
    /// Whether to test every step, which takes long: `HARALD_THOROUGH=1 swift test --filter UnpluggingTests`.
    private static let isThorough = ProcessInfo.processInfo.environment["HARALD_THOROUGH"] != nil

    /// The state that survives a change of controllers.
    private struct Kept: Equatable, Sendable {
        var identity: LocalIdentity?
        var bonds: [UUID: PeerKeys]

        init(_ system: BluetoothSystem) {
            let store = system.peers.bonds
            identity = store?.identity
            bonds = Dictionary(uniqueKeysWithValues: (store?.bonds ?? []).map { (UUID($0.identifier), $0.keys) })
        }
    }

    enum Side: CaseIterable {
        case phone, sensor
    }

    private struct Encounter {
        let trust: TrustWorld
        let reader: TenaciousReader

        init(seed: UInt64) {
            trust = TrustWorld(seed: seed)
            reader = trust.phone.launch("reader") { _ in TenaciousReader() }
        }

        var devices: [SimulatedDevice] { [trust.phone, trust.sensor] }

        func device(_ side: Side) -> SimulatedDevice { side == .phone ? trust.phone : trust.sensor }

        /// Runs until the reader has read another value. A person who is notified that the other device has lost the
        /// bond forgets it too. An unbonded device uses a new address after its controller was away, so an app that
        /// waits for the old address waits for ever (behaviour 3.1). This one therefore scans again after a while.
        func readsOnceMore(than before: Int) -> Bool {
            for _ in 0..<4 {
                let (reader, world) = (reader, trust.world)
                world.run(for: .seconds(90)) { reader.seen.values > before || reader.seen.isForgotten }
                guard reader.seen.values == before else { break }
                trust.phone.withSystem { system in
                    for peer in system.peers.bondedPeers where peer.hasForgottenUs {
                        try? system.peers.forget(peer.identifier)
                    }
                }
                reader.beginAnew()
            }
            return reader.seen.values > before
        }

        /// Unplugs a controller for some time, and describes what is wrong afterwards.
        func unplug(_ device: SimulatedDevice, for time: Duration) -> [String] {
            var faults: [String] = []
            let before = device.withSystem { Kept($0) }
            let old = device.withSystem { WeakDevice($0.controllers.device) }
            device.setController(isPluggedIn: false)
            trust.world.run(for: time)
            let links = device.withSystem { $0.links.all.count }
            if device.withSystem({ $0.controllers.attached != nil || $0.controllers.state != .unsupported }) {
                faults.append("the system does not know that its controller is gone")
            }
            if links != 0 { faults.append("\(links) links are left without a controller") }
            if device.withSystem({ _ in old.device != nil }) {
                faults.append("what belonged to the controller is left")
            }
            device.setController(isPluggedIn: true)
            trust.world.run(for: .milliseconds(200))
            let after = device.withSystem { Kept($0) }
            if before.identity != nil, before != after { faults.append("\(before) became \(after)") }
            if device.withSystem({ $0.controllers.state != .poweredOn }) {
                faults.append("the new controller is not used")
            }
            return faults
        }

        /// Describes the final conditions that do not hold.
        func faultsAtTheEnd(values: Int) -> [String] {
            var faults: [String] = []
            if !readsOnceMore(than: values) { faults.append("the value was not read again") }
            trust.world.run(for: .seconds(1))
            for device in devices {
                let (links, held) = device.withSystem { ($0.links.all.count, $0.peers.heldCount) }
                if links > 1 || held > 2 { faults.append("\(device.name) has \(links) links and holds \(held) peers") }
            }
            return faults
        }
    }

    private struct WeakDevice: @unchecked Sendable {
        // Safe: accessed only on the loop.
        weak var device: GenericAccess?
        init(_ device: GenericAccess?) { self.device = device }
    }

    /// The HCI packets of a whole encounter: from the first command to the protected value.
    private func steps(of side: Side) throws -> ClosedRange<Int> {
        let encounter = Encounter(seed: 5)
        let counted = encounter.device(side)
        let first = counted.traffic.packets
        try #require(encounter.readsOnceMore(than: 0))
        return first...counted.traffic.packets
    }

    @Test("a controller can be unplugged at each step of a connection and of a pairing", arguments: Side.allCases)
    func aControllerMayBeUnpluggedAtEachStep(side: Side) throws {
        let steps = try steps(of: side)
        // Testing all of them takes minutes.
        for step in stride(from: steps.lowerBound, through: steps.upperBound, by: Self.isThorough ? 1 : 10) {
            let encounter = Encounter(seed: 5)
            let device = encounter.device(side)
            encounter.trust.world.run(for: .seconds(60)) { device.traffic.packets >= step }
            let values = encounter.reader.seen.values
            let faults = encounter.unplug(device, for: .seconds(3)) + encounter.faultsAtTheEnd(values: values)
            #expect(faults.isEmpty, "step \(step): \(faults)")
        }
    }

    /// Behaviours 1.4, 1.9, 1.11: these states and no others.
    @Test("behaviours 1.4, 1.11: managers see the controller go and come back")
    func managersSeeTheControllerGoAndComeBack() throws {
        let encounter = Encounter(seed: 6)
        try #require(encounter.readsOnceMore(than: 0))
        #expect(encounter.unplug(encounter.trust.phone, for: .seconds(10)).isEmpty)
        #expect(encounter.readsOnceMore(than: 1))
        #expect(encounter.reader.seen.states == [.poweredOn, .resetting, .unsupported, .poweredOn])
        // Behaviour 6.18: the bonded sensor keeps its identifier.
        #expect(encounter.reader.seen.identifiers.count == 1)
    }

    @Test(arguments: isThorough ? Array(0..<1_000) : Array(0..<8) + [586] as [UInt64])
    func aControllerMayBeUnpluggedAtAnyTime(seed: UInt64) throws {
        let random = RandomSource(seed: seed)
        let encounter = Encounter(seed: seed)
        var faults: [String] = []
        for _ in 0..<(1 + random.below(3)) {
            encounter.trust.world.run(for: .milliseconds(Int64(random.below(8_000))))
            let device = encounter.devices[Int(random.below(2))]
            faults += encounter.unplug(device, for: .milliseconds(Int64(1 + random.below(9_000))))
        }
        faults += encounter.faultsAtTheEnd(values: encounter.reader.seen.values)
        #expect(faults.isEmpty, "seed \(seed): \(faults)")
    }
}

extension SimulatedDevice.Traffic {
    fileprivate var packets: Int { packetsToController + packetsToHost }
}
