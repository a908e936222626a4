import BluetoothTypes
import CoreBluetooth
import Foundation
import ServiceMessages
import Synchronization
import Testing

@testable import BluetoothService
@testable import BluetoothTesting

/// The ledger of a search, with messages in addition to those that an app sends.
@Suite struct SystemLedgerTests {
    private static let overdue = [
        "Phone: app has waited for the answer to \"readCharacteristic\" for more than 40 s"
    ]

    @Test("a call without an answer is found by its name, of an app that has been in front all the time", .world)
    func aCallWithoutAnAnswer() async {
        let here = await Situation()
        here.ask(.readCharacteristic(7))
        await world.run(for: .seconds(39))
        #expect(here.overdue() == [])
        await world.run(for: .seconds(2))
        #expect(here.overdue() == Self.overdue)
    }

    @Test("an answer of the same kind, the loss of the connection, and suspension excuse a call", .world)
    func excusedCalls() async {
        let here = await Situation()
        here.ask(.readCharacteristic(7))
        here.report(.valueRead(7, .success([1])))
        await world.run(for: .seconds(41))
        #expect(here.overdue() == [])
        here.ask(.readCharacteristic(7))
        here.phone.app("app")?.suspend()
        await world.run(for: .seconds(41))
        #expect(here.overdue() == [])
        here.phone.app("app")?.enter()
        await world.run(for: .seconds(39))
        #expect(here.overdue() == [])
        await world.run(for: .seconds(2))
        #expect(here.overdue() == Self.overdue)
        here.report(.disconnected(nil, isReconnecting: false, timestamp: nil))
        #expect(here.overdue() == [])
    }

    @Test("a call may take any time while a device answers late, and is found after that", .world)
    func lateAnswers() async {
        let here = await Situation()
        here.ask(.discoverServices(nil))
        await world.run(for: .seconds(60))
        #expect(here.overdue(late: true) == [])
        await world.run(for: .seconds(39))
        #expect(here.overdue() == [])
        await world.run(for: .seconds(2))
        #expect(here.overdue().count == 1)
    }
}

/// An app in front, with one manager, which has been told that a peer is connected.
private struct Situation {
    private final class Seen: Sendable {
        let subject = Mutex(Observation.Subject())
    }

    let phone: SimulatedDevice
    let ledger: SystemLedger
    private let peer = UUID()
    private let subject: Observation.Subject

    init() async {
        let seen = Seen()
        ledger = SystemLedger(world)
        world.simulation.watch(.managers) { _, event in
            guard case .observed(let observation) = event, case .managerOpened = observation.content else { return }
            seen.subject.withLock { $0 = observation.subject }
        }
        phone = world.addDevice(named: "Phone")
        phone.launch("app") { _ in CBCentralManager(delegate: nil, queue: DispatchQueue(label: "app")) }
        await world.run(for: .seconds(1))
        subject = seen.subject.withLock { $0 }
        report(.connected(name: nil, maximumWriteWithoutResponse: 20))
    }

    func overdue(late: Bool = false) -> [String] { ledger.overdueCalls(answersAreLate: late) }

    func ask(_ request: LinkRequest) { note(.requested(.central(.peer(peer, .link(request))))) }

    func report(_ event: PeerEvent) { note(.delivered(.central(.peer(peer, event)))) }

    private func note(_ content: Observation.Content) {
        let subject = subject
        phone.withSystem { $0.observers.report(.messages, content, of: subject) }
    }
}
