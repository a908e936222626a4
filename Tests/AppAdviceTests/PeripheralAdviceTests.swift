import BluetoothService
import BluetoothTypes
import Foundation
import ServiceMessages
import Testing

@testable import AppAdvice

/// Each rule about peripheral managers fires on the app that breaks it, and is silent about one that looks like it.
@Suite struct PeripheralAdviceTests {
    private static let central = CentralInfo(identifier: .other, maximumUpdateLength: 20)

    /// An app that lets some time pass after its launch, so that the user can decide, and publishes a value.
    private static func app(properties: UInt16 = 0x12, permissions: UInt8 = 0x01) -> AdvisedApp {
        var app = AdvisedApp(.peripheral)
        app.wait(5)
        app.ask(.addService(service(1, 0x180D, properties: properties, permissions: permissions)))
        app.report(.serviceAdded(LocalAttributeID(1), nil))
        return app
    }

    private static func service(
        _ id: UInt32,
        _ uuid: BluetoothUUID,
        properties: UInt16 = 0x12,
        permissions: UInt8 = 0x01
    ) -> LocalService {
        let value = LocalCharacteristic(
            id: LocalAttributeID(id + 100),
            uuid: 0x2A37,
            properties: properties,
            permissions: permissions
        )
        return LocalService(id: LocalAttributeID(id), uuid: uuid, isPrimary: true, characteristics: [value])
    }

    private static func advertising(_ name: String?, _ services: [BluetoothUUID]) -> PeripheralRequest {
        .startAdvertising(AdvertisingRequest(localName: name, services: services))
    }

    private static let value = LocalAttributeID(101)

    @Test("behaviour 12.14: advertising for 30 s after the central has come is noticed")
    func advertisingAfterCentral() {
        var app = Self.app()
        app.ask(Self.advertising("Sensor", [0x180D]))
        app.wait(60)
        app.report(.subscribed(Self.central, Self.value))
        app.wait(31)
        #expect(app.rules == ["12.14"])
    }

    @Test("behaviour 12.14: advertising for ten minutes without a central is noticed")
    func advertisingAlone() {
        var app = Self.app()
        app.ask(Self.advertising("Sensor", [0x180D]))
        app.wait(601)
        #expect(app.rules == ["12.14"])
        app.wait(6_000)
        #expect(app.rules == ["12.14"])
    }

    @Test("behaviour 12.14: advertising that stops in time is right")
    func advertisingThatStops() {
        var app = Self.app()
        app.ask(Self.advertising("Sensor", [0x180D]))
        app.wait(590)
        app.report(.subscribed(Self.central, Self.value))
        app.wait(29)
        app.ask(.stopAdvertising)
        app.wait(1_000)
        app.ask(Self.advertising("Sensor", [0x180D]))
        app.report(.stateChanged(.poweredOff))
        app.wait(1_000)
        #expect(app.rules == [])
    }

    @Test("behaviour 12.15: advertising within a second of the launch is noticed")
    func advertisingAtLaunch() {
        var app = AdvisedApp(.peripheral)
        app.wait(0.5)
        app.ask(Self.advertising("Sensor", [0x180D]))
        #expect(app.rules == ["12.15"])
        #expect(app.advice[0].isHint)
    }

    @Test("behaviour 12.15: advertising of a restored manager, and after a second, are right")
    func advertisingLater() {
        var later = AdvisedApp(.peripheral)
        later.wait(1)
        later.ask(Self.advertising("Sensor", [0x180D]))
        #expect(later.rules == [])
        var restored = AdvisedApp(.peripheral, isOn: false)
        restored.report(.willRestore(RestoredPeripheral()))
        restored.report(.stateChanged(.poweredOn))
        restored.ask(Self.advertising("Sensor", [0x180D]))
        #expect(restored.rules == [])
    }

    private static let long: [BluetoothUUID] = [
        BluetoothUUID("6E400001-B5A3-F393-E0A9-E50E24DCCA9E"),
        BluetoothUUID("6E400002-B5A3-F393-E0A9-E50E24DCCA9E"),
    ].compactMap(\.self)

    @Test("behaviour 12.16: a service in the overflow area and a shortened name are noticed")
    func overfull() {
        var app = Self.app()
        app.ask(Self.advertising("Sensor with a long name", Self.long))
        #expect(app.rules == ["12.16", "12.16"])
        #expect(app.advice[0].found.hasPrefix("advertised 2 services, of which 1 did not fit"))
        #expect(app.advice[1].found == "advertised a name that was shortened to \"Sensor w\"")
    }

    @Test("behaviour 12.16: what fits, and services of an app in the background, are right")
    func fitting() {
        var app = Self.app()
        app.ask(Self.advertising("Sensor", [Self.long[0]]))
        app.ask(.stopAdvertising)
        app.note(.appMoved(.background))
        app.ask(Self.advertising("Sensor", Self.long))
        #expect(app.rules == [])
    }

    @Test("behaviour 12.17: updates and frequent reads of a value that does not notify are noticed")
    func valuesWithoutNotify() {
        var updated = Self.app(properties: 0x02)
        updated.ask(.updateValue(Self.value, value: PacketBuffer([1]), centrals: nil))
        #expect(updated.rules == ["12.17"])
        var read = Self.app(properties: 0x02)
        for number in 0..<3 {
            read.wait(10)
            read.report(.readRequested(transaction: UInt64(number), Self.central, Self.value, offset: 0))
            read.ask(.respond(transaction: UInt64(number), .success, value: PacketBuffer([1])))
        }
        #expect(read.rules == ["12.17"])
    }

    @Test("behaviour 12.17: a value that notifies, a long read and reads of several centrals are right")
    func valuesWithNotify() {
        var app = Self.app()
        app.ask(.updateValue(Self.value, value: PacketBuffer([1]), centrals: nil))
        for number in 0..<5 {
            app.report(.readRequested(transaction: UInt64(number), Self.central, Self.value, offset: 0))
            app.ask(.respond(transaction: UInt64(number), .success, value: nil))
        }
        #expect(app.rules == [])
        var long = Self.app(properties: 0x02)
        for number in 0..<5 {
            long.report(.readRequested(transaction: UInt64(number), Self.central, Self.value, offset: number * 22))
            long.ask(.respond(transaction: UInt64(number), .success, value: nil))
        }
        long.report(
            .readRequested(
                transaction: 9,
                CentralInfo(identifier: .sensor, maximumUpdateLength: 20),
                Self.value,
                offset: 0
            )
        )
        long.ask(.respond(transaction: 9, .success, value: nil))
        #expect(long.rules == [])
    }

    @Test("behaviour 12.18: a value that every device may write is a hint")
    func openWrites() {
        var app = Self.app(properties: 0x08, permissions: 0x02)
        #expect(app.rules == ["12.18"])
        #expect(app.advice[0].isHint)
    }

    @Test("behaviour 12.18: a value that only encrypted links may write, and one to read, are right")
    func protectedWrites() {
        var app = Self.app(properties: 0x08, permissions: 0x08)
        #expect(app.rules == [])
        var read = Self.app(properties: 0x02)
        #expect(read.rules == [])
    }

    @Test("behaviour 12.19: a read without a response for five seconds is noticed while it waits, a write as well")
    func lateResponses() {
        var app = Self.app()
        app.report(.readRequested(transaction: 1, Self.central, Self.value, offset: 0))
        app.wait(5.5)
        #expect(app.rules == ["12.19"])
        app.ask(.respond(transaction: 1, .success, value: nil))
        let write = WriteRequest(characteristic: Self.value, offset: 0, value: PacketBuffer([1]))
        app.report(.writeRequested(transaction: 2, Self.central, [write], needsResponse: true))
        app.wait(5.5)
        app.ask(.respond(transaction: 2, .success, value: nil))
        #expect(app.rules == ["12.19", "12.19"])
    }

    @Test("behaviour 12.19: a response in time, and a write command, are right")
    func promptResponses() {
        var app = Self.app()
        app.report(.readRequested(transaction: 1, Self.central, Self.value, offset: 0))
        app.wait(4.5)
        app.ask(.respond(transaction: 1, .success, value: nil))
        let write = WriteRequest(characteristic: Self.value, offset: 0, value: PacketBuffer([1]))
        app.report(.writeRequested(transaction: 2, Self.central, [write], needsResponse: false))
        app.wait(60)
        #expect(app.rules == [])
    }

    @Test("behaviour 12.21: an update that is too long for a subscriber is noticed")
    func truncatedUpdate() {
        var app = Self.app()
        app.report(.subscribed(Self.central, Self.value))
        app.ask(.updateValue(Self.value, value: PacketBuffer([UInt8](repeating: 1, count: 21)), centrals: nil))
        #expect(app.rules == ["12.21"])
        #expect(app.advice[0].found.hasSuffix("with 21 octets, of which a subscriber receives 20"))
    }

    @Test("behaviour 12.21: an update that fits those who receive it is right")
    func fittingUpdate() {
        var app = Self.app()
        let value = PacketBuffer([UInt8](repeating: 1, count: 21))
        app.ask(.updateValue(Self.value, value: value, centrals: nil))
        app.report(.subscribed(Self.central, Self.value))
        app.report(.subscribed(CentralInfo(identifier: .sensor, maximumUpdateLength: 182), Self.value))
        app.ask(.updateValue(Self.value, value: value, centrals: [.sensor]))
        app.report(.centralChanged(CentralInfo(identifier: .other, maximumUpdateLength: 182)))
        app.ask(.updateValue(Self.value, value: value, centrals: nil))
        #expect(app.rules == [])
    }

    @Test("behaviour 12.22: more than 100 kB of updates for a subscriber is noticed, and for none is not")
    func bulkUpdates() {
        let value = PacketBuffer([UInt8](repeating: 1, count: 20))
        var app = Self.app()
        for _ in 0..<6_000 { app.ask(.updateValue(Self.value, value: value, centrals: nil)) }
        #expect(app.rules == [])
        app.report(.subscribed(Self.central, Self.value))
        for _ in 0..<4_000 { app.ask(.updateValue(Self.value, value: value, centrals: nil)) }
        app.report(.unsubscribed(Self.central, Self.value))
        app.report(.subscribed(Self.central, Self.value))
        for _ in 0..<4_000 { app.ask(.updateValue(Self.value, value: value, centrals: nil)) }
        #expect(app.rules == [])
        for _ in 0..<2_000 { app.ask(.updateValue(Self.value, value: value, centrals: nil)) }
        #expect(app.rules == ["12.22"])
    }

    @Test("behaviour 12.26: many services, and widths that alternate, are hints")
    func manyServices() {
        var many = AdvisedApp(.peripheral)
        for number in 1...10 { many.ask(.addService(Self.service(UInt32(number), 0x180D))) }
        #expect(many.rules == ["12.26"])
        var mixed = AdvisedApp(.peripheral)
        mixed.ask(.addService(Self.service(1, 0x180D)))
        mixed.ask(.addService(Self.service(2, Self.long[0])))
        mixed.ask(.addService(Self.service(3, 0x180F)))
        mixed.ask(.addService(Self.service(4, 0x180A)))
        #expect(mixed.rules == ["12.26"])
    }

    @Test("behaviour 12.26: services that are grouped by width are right, also after others are removed")
    func groupedServices() {
        var app = AdvisedApp(.peripheral)
        app.ask(.addService(Self.service(1, 0x180D)))
        app.ask(.addService(Self.service(2, 0x180F)))
        app.ask(.addService(Self.service(3, Self.long[0])))
        app.ask(.removeAllServices)
        app.ask(.addService(Self.service(4, Self.long[1])))
        app.ask(.addService(Self.service(5, 0x180F)))
        #expect(app.rules == [])
    }
}
