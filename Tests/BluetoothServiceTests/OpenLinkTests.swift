import AccessStandIns
import BluetoothTypes
import EventLoops
import GAP
import GATT
import HCI
import HCIHost
import SampleMessages
import Security
import ServiceMessages
import Testing

@testable import BluetoothService

@Suite struct OpenLinkTests {
    private static let nobody = BluetoothAddress(0xC0_0000_0000_09, kind: .randomDevice)

    /// A system, and an advertising device without apps.
    private final class Bench {
        let air = RadioWorld()
        let system: BluetoothSystem
        let peer: GenericAccess
        let role: Peripheral
        private let server = GATTServer(database: GATTDatabase())
        /// The number of fragments that the device has received.
        private(set) var received = 0
        private(set) var link: AccessLink?
        private(set) var attributes: LinkAttributes?
        private(set) var failures: [GAPError] = []

        init() {
            system = air.system("Phone") { $0.preferredMTU = 517 }
            peer = air.bareDevice()
            role = Peripheral(peer)
            peer.onLink = { [unowned self] in watch($0) }
        }

        private func watch(_ link: AccessLink) {
            link.openAttributes(mtu: 517, server: server)
            // L2CAP starts receiving in the loop's next task; this runs after it.
            air.world.loop.execute { [unowned self] in
                let original = link.connection.onReceive
                link.connection.onReceive = { [unowned self] fragment, isStart in
                    received += 1
                    original?(fragment, isStart)
                }
            }
        }

        /// The address that the device shows.
        var address: BluetoothAddress { if case .ready(let own) = peer.state { own.address } else { .none } }

        func begin(to address: BluetoothAddress) {
            system.begin(
                OpenLink(
                    to: address,
                    onLink: { [unowned self] in (link, attributes) = ($0, $1) },
                    onFailure: { [unowned self] in failures.append($0) }
                )
            )
        }
    }

    @Test("an open link is passed on before anything is sent on it, with the MTU of the configuration")
    func nothingIsSent() throws {
        let bench = Bench()
        bench.role.enter(Peripheral.Mode(.general, .undirected))
        bench.begin(to: bench.address)
        bench.air.world.run(.seconds(3))
        let link = try #require(bench.link)
        #expect(link.peer == bench.address)
        #expect(bench.received == 0)
        #expect(bench.failures.isEmpty)
        #expect(bench.system.linkSnapshots.isEmpty)
        var agreed: Int?
        bench.attributes?.client.exchangeMTU { agreed = try? $0.get() }
        bench.air.world.run(.seconds(1))
        #expect(agreed == 517)
        var end: AccessLink.End?
        link.onEnd = { end = $0 }
        bench.system.leave()
        bench.air.world.run(.seconds(2))
        #expect(end == .disconnected(.localHostTerminated))
    }

    @Test("an open link fails with the controller, and is not established when Bluetooth is on again")
    func controllerIsGone() {
        let bench = Bench()
        bench.begin(to: bench.address)
        bench.air.world.run(.seconds(1))
        bench.system.controllers.setPower(false)
        bench.air.world.run(.seconds(1))
        #expect(bench.failures == [.notReady])
        bench.system.controllers.setPower(true)
        bench.role.enter(Peripheral.Mode(.general, .undirected))
        bench.air.world.run(.seconds(3))
        #expect(bench.link == nil)
    }

    @Test("the links of apps are established beside an open link")
    func appsBesideIt() throws {
        let bench = Bench()
        let sensor = bench.air.world.manager(.peripheral, on: bench.air.system("Strap"))
        let request = AdvertisingRequest(localName: "Strap", services: [Example.service])
        _ = try sensor.ask(.startAdvertising(request), "started", \.advertisingStarted)
        bench.begin(to: Self.nobody)
        let app = bench.air.world.manager(.central, on: bench.system)
        try app.connect(try app.find().identifier)
        #expect(bench.link == nil)
        #expect(bench.system.linkSnapshots.count == 1)
        bench.role.enter(Peripheral.Mode(.general, .undirected))
        bench.begin(to: bench.address)
        bench.air.world.run(.seconds(3))
        #expect(bench.link?.peer == bench.address)
        #expect(bench.received == 0)
        #expect(bench.system.linkSnapshots.count == 1)
    }
}
