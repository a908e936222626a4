import BluetoothTypes
import Foundation
import HCI
import SampleMessages
import ServiceMessages
import Testing

@testable import BluetoothService

/// Apps in the peripheral role that are in the background.
@Suite struct BackgroundPeripheralTests {
    private func advertised(by device: TestDevice) -> (data: AdvertisingData, response: AdvertisingData)? {
        guard device.controller.isAdvertising else { return nil }
        return (
            AdvertisingData(parsing: device.controller.advertisement),
            AdvertisingData(parsing: device.controller.scanResponse)
        )
    }

    @Test(
        "behaviours 2.31, 7.24: a background advertisement contains only flags and the overflow area, and is slower"
    )
    func inTheBackgroundServicesAreInTheOverflowArea() throws {
        let apps = LivingApps(sensor: .peripheral)
        try apps.sensor.publish()
        let before = try #require(advertised(by: apps.strap))
        #expect(before.data.serviceUUIDs == [Example.service])
        #expect(before.data.localName?.text == "Strap")
        apps.sensorApp.happened(.left)
        apps.world.run(.seconds(1))
        for _ in 0..<2 {
            let hidden = try #require(advertised(by: apps.strap))
            // As in the captures: 3 octets of flags, 21 of overflow area, and an empty scan response.
            let area = OverflowArea([Example.service])
            #expect(hidden.data.encoded.bytes == [0x02, 0x01, 0x1A, 0x14, 0xFF, 0x4C, 0x00, 0x01] + area.mask)
            #expect(hidden.response.isEmpty)
            #expect(apps.strap.controller.interval == .microseconds(417_500))
            apps.world.run(.seconds(60))
            #expect(apps.sensorApp.phase == .suspended)
        }
        apps.sensorApp.happened(.entered)
        apps.world.run(.seconds(1))
        let after = try #require(advertised(by: apps.strap))
        #expect(after == before)
        #expect(apps.strap.controller.interval < .milliseconds(200))
    }

    @Test("behaviour 7.24: an app without the mode does not advertise in the background")
    func withoutTheModeNothingIsAdvertised() throws {
        let apps = LivingApps()
        try apps.sensor.publish()
        apps.sensorApp.happened(.left)
        apps.world.run(.seconds(1))
        #expect(!apps.strap.controller.isAdvertising)
        apps.sensorApp.happened(.entered)
        apps.world.run(.seconds(1))
        #expect(apps.strap.controller.isAdvertising)
    }

    @Test("behaviours 7.24, 7.30: next to a foreground app, a background app is advertised only in the overflow area")
    func besideAnAppInTheForeground() throws {
        let apps = LivingApps(sensor: .peripheral)
        try apps.sensor.publish()
        let other = apps.strap.manager(.peripheral, of: apps.strap.app("Other"))
        try other.publish(Example.emptyBattery, name: "Battery")
        apps.sensorApp.happened(.left)
        apps.world.run(.seconds(1))
        let seen = try #require(advertised(by: apps.strap))
        #expect(seen.data.serviceUUIDs == [0x180F])
        #expect(seen.data.localName?.text == "Battery")
        #expect(OverflowArea(in: seen.response) == OverflowArea([Example.service]))
        #expect(apps.strap.controller.interval < .milliseconds(200))
    }

    @Test(
        "behaviour 7.25: advertising can be started in the background, unless the device forbids that from version 14 on",
        arguments: [(13, true), (13, false), (14, true), (14, false), (26, true)]
    )
    func advertisingStartedInTheBackground(version: Int, isAllowed: Bool) throws {
        let apps = LivingApps(sensor: .peripheral) {
            $0.version = SystemVersion(integerLiteral: version)
            $0.startsAdvertisingInBackground = isAllowed
        }
        let starts = isAllowed || version < 14
        apps.sensorApp.happened(.left)
        let request = Request.startAdvertising(AdvertisingRequest(localName: "Strap", services: [Example.service]))
        let error = try apps.sensor.ask(request, "advertisingStarted", \.advertisingStarted)
        #expect((error == nil) == starts)
        apps.world.run(.seconds(1))
        #expect(apps.strap.controller.isAdvertising == starts)
        if starts { #expect(try #require(advertised(by: apps.strap)).data.serviceUUIDs.isEmpty) }
    }

    @Test("behaviour 7.24: an app without the mode cannot start advertising in the background")
    func withoutTheModeNothingIsStarted() throws {
        let apps = LivingApps()
        apps.sensorApp.happened(.left)
        let request = Request.startAdvertising(AdvertisingRequest(localName: "Strap", services: [Example.service]))
        #expect(try apps.sensor.ask(request, "advertisingStarted", \.advertisingStarted) != nil)
    }

    @Test("behaviours 1.4, 1.13, 7.25: a background app whose service was reset publishes and advertises again")
    func afterResettingTheAppAdvertisesAnew() throws {
        let apps = LivingApps(sensor: .peripheral)
        try apps.sensor.publish()
        apps.sensorApp.fallAsleep(in: apps.world)
        apps.strap.controller.transport.send(HCIPacket(HardwareError(code: 1)))
        apps.world.run(.seconds(5))
        let states = apps.sensor.take()
        #expect(states.contains(.stateChanged(.resetting)))
        #expect(states.last == .stateChanged(.poweredOn))
        #expect(apps.sensorApp.phase == .background)
        try apps.sensor.publish()
        apps.world.run(.seconds(1))
        #expect(OverflowArea(in: try #require(advertised(by: apps.strap)).data) == OverflowArea([Example.service]))
    }

    @Test(
        "behaviours 2.34, 2.36, 7.24: only a scan that names the service finds a device in the background"
    )
    func aScanThatNamesTheServiceFindsIt() throws {
        let apps = LivingApps(central: .central, sensor: .peripheral)
        try apps.sensor.publish()
        apps.sensorApp.fallAsleep(in: apps.world)
        apps.central.send(.startScan(ScanRequest(services: [0x180F])))
        apps.world.run(.seconds(2))
        #expect(apps.central.take().allSatisfy { $0.discovery == nil })
        let found = try apps.central.find()
        #expect(found.name == nil)
        try apps.central.connect(found.identifier)
        #expect(try apps.central.explore(found.identifier).count == 4)
    }

    @Test(
        "behaviours 7.13, 9.6: a background app with the mode answers reads, and without it they are refused",
        arguments: [false, true]
    )
    func aReadOfAnAppInTheBackground(hasMode: Bool) throws {
        let apps = LivingApps(sensor: hasMode ? .peripheral : [])
        let handles = try apps.connect()
        let note = try #require(handles[Example.note])
        apps.sensorApp.fallAsleep(in: apps.world)
        apps.central.send(.readCharacteristic(peer: apps.peer, characteristic: note))
        if hasMode {
            let request = try apps.sensor.expect("read", \.readRequest)
            #expect(apps.sensorApp.phase == .background)
            apps.sensor.send(.respond(transaction: request.transaction, status: .success, value: [7]))
            #expect(try apps.central.expect("value", \.value) == .success([7]))
            return
        }
        #expect(try apps.central.expect("value", \.value).error?.code == .att(ATTStatus(rawValue: 0x0E)))
        let command = Request.writeCharacteristic(peer: apps.peer, characteristic: note, value: [1])
        #expect(try apps.central.ask(command, "written", \.writeResult)??.code == .att(ATTStatus(rawValue: 0x0E)))
        #expect(apps.sensor.take().isEmpty)
        #expect(apps.sensorApp.phase == .suspended)
        // The service can still be discovered (behaviour 7.13).
        #expect(try apps.central.explore(apps.peer).count == 4)
    }

    @Test("behaviour 9.6: a subscription wakes the app")
    func aSubscriptionWakesTheApp() throws {
        let apps = LivingApps(sensor: .peripheral)
        let handle = try #require(try apps.connect()[Example.measurement])
        apps.sensorApp.fallAsleep(in: apps.world)
        apps.central.send(.setNotify(peer: apps.peer, characteristic: handle, enabled: true))
        #expect(try apps.sensor.expect("subscribed", \.subscriber).isSubscribed)
        #expect(apps.sensorApp.phase == .background)
        apps.world.run(.seconds(10))
        #expect(apps.sensorApp.phase == .suspended)
    }

    @Test("behaviours 7.43, 9.6: returned update credits wake an app that had none")
    func roomWakesWhoHadNone() throws {
        let apps = LivingApps(sensor: .peripheral)
        try apps.subscribe()
        var room = ServiceLimits.valueUpdates
        for _ in 0..<1_000 where room > 0 {
            apps.sensor.send(.updateValue(characteristic: Example.measurementID, value: [7], centrals: nil))
            apps.world.run(.zero)
            room += apps.sensor.take().compactMap(\.updateCredits).reduce(0, +) - 1
        }
        #expect(room == 0)
        apps.sensorApp.happened(.left)
        apps.sensorApp.happened(.timeIsUp)
        apps.world.run(.seconds(1))
        #expect(apps.sensorApp.phase == .background)
        #expect(apps.sensor.take().contains { $0.updateCredits != nil })
    }

    @Test("behaviour 9.6: returned update credits do not wake an app that has some, and are there when it is back")
    func roomWakesNobody() throws {
        let apps = LivingApps(sensor: .peripheral)
        try apps.subscribe()
        for number in UInt8(0)..<3 {
            apps.sensor.send(.updateValue(characteristic: Example.measurementID, value: [number], centrals: nil))
        }
        apps.sensorApp.happened(.left)
        apps.sensorApp.happened(.timeIsUp)
        apps.world.run(.seconds(1))
        #expect(apps.sensorApp.phase == .suspended)
        apps.sensorApp.happened(.entered)
        apps.world.run(.zero)
        #expect(apps.sensor.take().compactMap(\.updateCredits).reduce(0, +) == 3)
    }
}
