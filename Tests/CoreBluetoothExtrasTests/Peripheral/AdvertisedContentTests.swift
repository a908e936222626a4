import BluetoothSimulation
import CoreBluetooth
import Foundation
import TestBasics
import Testing

@testable import CoreBluetoothExtras

@Suite struct AdvertisedContentTests {
    @Test("behaviour 15.16: another device's scan sees manufacturer and service data, with name and services")
    func seen() {
        let world = PeripheralWorld()
        let company = Data([0xFF, 0xFF, 1, 2, 3])
        world.app.task {
            try await world.manager.poweredOn()
            await world.notes.end("start") {
                try await world.manager.advertise(
                    AdvertisedContent(
                        localName: "Sensor",
                        services: [PeripheralWorld.service],
                        manufacturerData: company,
                        serviceData: [CBUUID(string: "180F"): Data([99])]
                    )
                )
            }
        }
        let phone = world.phone()
        world.run(2)
        let seen = phone.queue.sync { phone.advertisement }
        #expect(world.notes.all == ["start done"])
        #expect(seen[CBAdvertisementDataManufacturerDataKey] as? Data == company)
        #expect(seen[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data] == [CBUUID(string: "180F"): Data([99])])
        #expect(seen[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] == [PeripheralWorld.service])
        #expect(seen[CBAdvertisementDataLocalNameKey] as? String == "Sensor")
    }

    @Test(
        "behaviour 15.16: content that does not fit is rejected with the number of octets available, and nothing is advertised"
    )
    func noRoom() {
        let world = PeripheralWorld()
        let texts = Lines()
        world.app.task {
            try await world.manager.poweredOn()
            do {
                try await world.manager.advertise(AdvertisedContent(manufacturerData: Data(count: 27)))
            } catch {
                texts.add(Lines.text(error))
                texts.add("\(error)")
            }
            await world.notes.end("company") {
                try await world.manager.advertise(AdvertisedContent(manufacturerData: Data([1])))
            }
            await world.notes.end("fits") {
                try await world.manager.advertise(
                    AdvertisedContent(
                        manufacturerData: Data(count: 26),
                        serviceData: [CBUUID(string: "180F"): Data(count: 6)]
                    )
                )
            }
        }
        world.run(1)
        #expect(texts.all.first == "CBError 4")
        #expect(texts.all.last?.contains("the data take 29 octets with their headers and do not fit; 28 are") == true)
        #expect(world.notes.all == ["company failed: CBError 1", "fits done"])
        #expect(world.sensor.advertisedAddress != nil)
    }

    @Test("behaviour 7.15: the keys of Core Bluetooth's own method are unchanged")
    func ownMethod() {
        let world = PeripheralWorld()
        world.app.task {
            try await world.manager.poweredOn()
            let data: [String: Any] = [
                CBAdvertisementDataServiceUUIDsKey: [PeripheralWorld.service],
                CBAdvertisementDataManufacturerDataKey: Data([1, 2, 3]),
            ]
            world.manager.startAdvertising(data)
        }
        let phone = world.phone()
        world.run(2)
        let seen = phone.queue.sync { phone.advertisement }
        #expect(seen[CBAdvertisementDataServiceUUIDsKey] != nil && seen[CBAdvertisementDataManufacturerDataKey] == nil)
    }
}
