import BluetoothTypes
import Foundation
import SampleMessages
import ServiceMessages
import Testing

@testable import BluetoothService

/// Ways to retrieve a device that was discovered once.
@Suite struct RetrievalTests {
    @Test(
        "behaviours 11.1, 11.4: a stored identifier leads back to the device, and so do connected peripherals and a scan"
    )
    func threeWaysBack() throws {
        let pair = try ConnectedPair()
        pair.central.close()
        // The restarted app has kept the identifier from the first discovery.
        let kept = pair.peer
        let app = pair.phone.manager(.central)
        #expect(app.ask(.peripherals(identifiers: [kept])).map(\.identifier) == [kept])
        try app.connect(kept)
        _ = try app.explore(kept)
        let second = pair.phone.manager(.central)
        let connected = second.ask(.connectedPeripherals(services: [Example.service])).map(\.identifier)
        #expect(connected == [kept])
        try second.connect(connected[0])
        for manager in [app, second] { manager.send(.cancelConnection(peer: kept)) }
        pair.world.run(.seconds(1))
        #expect(second.ask(.connectedPeripherals(services: [Example.service])).isEmpty)
        let third = pair.phone.manager(.central)
        let found = try third.find().identifier
        #expect(found == kept)
        try third.connect(found)
    }

    @Test(
        "behaviour 11.6: an unbonded peer with a new address is not reached by its old identifier, but found by a scan"
    )
    func aStrangerWithAnotherAddressHasToBeFoundAnew() throws {
        let air = RadioWorld()
        let sensor = air.world.manager(.peripheral, on: air.system("Strap"))
        let central = air.world.manager(.central, on: air.system("Phone"))
        try sensor.publish()
        let old = try central.find().identifier
        air.world.run(.seconds(920))
        central.take()
        #expect(central.ask(.peripherals(identifiers: [old])).map(\.identifier) == [old])
        central.send(.connect(peer: old, options: ConnectOptions()))
        air.world.run(.seconds(60))
        #expect(central.take().isEmpty)
        let new = try central.find().identifier
        #expect(new != old)
        try central.connect(new)
    }
}
