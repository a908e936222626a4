import BluetoothTypes
import EventLoops
import Foundation
import Testing

@testable import BluetoothService

@Suite struct ConnectionTests {
    @Test func behaviour_3_9_aWholeSessionFromScanToGoodbye() throws {
        let world = TestWorld()
        let sensor = world.device("Heart sensor").manager(.peripheral)
        let central = world.device("Phone").manager(.central)
        #expect(central.take() == [.stateChanged(.poweredOn)])
        try sensor.publish()
        let peer = try central.find()
        try central.connect(peer.identifier)
        let handles = try central.explore(peer.identifier)
        #expect(Set(handles.keys) == [Example.measurement, Example.location, Example.controlPoint, Example.note])
    }
}
