import BluetoothTypes
import Foundation
import SampleMessages
import ServiceMessages
import Testing

@testable import BluetoothService

@Suite struct SimulatedRadioTests {
    @Test(arguments: [0, 0.1], [true, false])
    func aWholeSessionOverTheAir(lossRate: Double, hasExtendedAdvertising: Bool) throws {
        let air = RadioWorld(lossRate: lossRate, hasExtendedAdvertising: hasExtendedAdvertising)
        let sensor = air.world.manager(.peripheral, on: air.system("Strap"))
        let phone = air.system("Phone")
        let central = air.world.manager(.central, on: phone)
        #expect(central.take() == [.stateChanged(.poweredOn)])
        try sensor.publish()
        let peer = try central.find()
        #expect(peer.name == "Strap")
        try central.connect(peer.identifier)
        let handles = try central.explore(peer.identifier)
        let measurement = try #require(handles[Example.measurement])
        let subscribe = Request.setNotify(peer: peer.identifier, characteristic: measurement, enabled: true)
        #expect(try central.ask(subscribe, "subscribed", \.notifyState).isNotifying)
        central.take()
        for index in 0..<ServiceLimits.valueUpdates {
            sensor.send(.updateValue(characteristic: Example.measurementID, value: [UInt8(index)], centrals: nil))
        }
        air.world.run(.seconds(3))
        #expect(
            central.take().compactMap(\.value) == (0..<ServiceLimits.valueUpdates).map { .success([UInt8($0)]) }
        )
        #expect(sensor.take().compactMap(\.updateCredits).reduce(0, +) == ServiceLimits.valueUpdates)

        let note = try #require(handles[Example.note])
        let long = PacketBuffer((0..<500).map { UInt8(truncatingIfNeeded: $0) })
        central.send(.writeCharacteristic(peer: peer.identifier, characteristic: note, value: long))
        let write = try sensor.expect("writeRequested", \.writeRequest)
        #expect(write.writes.flatMap { Array($0.value) } == Array(long))
        sensor.send(.respond(transaction: write.transaction, status: .success, value: nil))
        #expect(try central.expect("written", \.writeResult) == .some(nil))

        let end = try central.ask(.cancelConnection(peer: peer.identifier), "disconnected", \.disconnection)
        #expect(end.error == nil)
        #expect(try !sensor.expect("unsubscribed", \.subscriber).isSubscribed)
        air.world.run(.seconds(1))
        #expect(phone.links.all.isEmpty)
    }

    @Test("behaviour 3.12: a peer that is turned off is detected as lost", arguments: [true, false])
    func aPeerThatIsSwitchedOffIsMissed(hasExtendedAdvertising: Bool) throws {
        let air = RadioWorld(hasExtendedAdvertising: hasExtendedAdvertising)
        let strap = air.system("Strap")
        let sensor = air.world.manager(.peripheral, on: strap)
        let central = air.world.manager(.central, on: air.system("Phone"))
        try sensor.publish()
        let peer = try central.find().identifier
        try central.connect(peer)
        _ = try central.explore(peer)
        strap.controllers.setPower(false)
        let end = try central.expect("disconnected", \.disconnection)
        // The controller was reset without a disconnection, so only the supervision timeout reveals it.
        #expect(end.error?.code == .core(.connectionTimeout))
    }

    @Test(arguments: [true, false])
    func aDeviceIsCentralAndPeripheralAtOnce(hasExtendedAdvertising: Bool) throws {
        let air = RadioWorld(hasExtendedAdvertising: hasExtendedAdvertising)
        let phone = air.system("Phone")
        let sensor = air.world.manager(.peripheral, on: air.system("Strap"))
        let watch = air.world.manager(.central, on: air.system("Watch"))
        let central = air.world.manager(.central, on: phone)
        let relay = air.world.manager(.peripheral, on: phone)
        try sensor.publish()
        try relay.publish(Example.battery, name: "Relay")
        let strap = try central.find().identifier
        try central.connect(strap)
        _ = try central.explore(strap)
        let found = try watch.find(0x180F).identifier
        try watch.connect(found)
        let level = try #require(try watch.explore(found, 0x180F)[0x2A19])
        let value = try watch.ask(.readCharacteristic(peer: found, characteristic: level), "value", \.value)
        #expect(value == .success([77]))
        #expect(phone.links.all.count == 2)
    }
}
