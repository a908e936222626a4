import BluetoothTypes
import GAP
import HCI
import SampleMessages
import ServiceMessages
import Testing

@testable import BluetoothService

@Suite struct OpenScanTests {
    @Test("an open scan receives what apps do not, and starts again when Bluetooth is switched on")
    func openScan() throws {
        let air = RadioWorld()
        let system = air.system("Phone")
        let sender = air.bareDevice()
        var advertisement = AdvertisingConfiguration(.nonConnectable, data: AdvertisingData([.localName(.init("Tag"))]))
        var packets = AdvertisingConfiguration.ExtendedPackets()
        (packets.secondaryPHY, packets.isAnonymous) = (.le1M, true)
        advertisement.packets = .extended(packets)
        let set = sender.advertiser.addSet()
        set.want(advertisement)
        defer { set.want(nil) }
        var (starts, anonymous) = (0, 0)
        var ends: [GAPError?] = []
        system.begin(
            OpenScan(
                .attentive,
                onStart: { starts += 1 },
                onSighting: { if $0.isAnonymous, $0.data.localName?.text == "Tag" { anonymous += 1 } },
                onEnd: { ends.append($0) }
            )
        )
        air.world.run(.seconds(5))
        #expect(starts == 1 && anonymous > 0 && ends.isEmpty)
        system.controllers.setPower(false)
        air.world.run(.seconds(1))
        #expect(ends == [.notReady])
        anonymous = 0
        system.controllers.setPower(true)
        air.world.run(.seconds(5))
        #expect(starts == 2 && anonymous > 0)
    }

    @Test("apps receive advertisements beside an open scan")
    func appsBesideIt() throws {
        let air = RadioWorld()
        let system = air.system("Phone")
        let sensor = air.world.manager(.peripheral, on: air.system("Strap"))
        let request = AdvertisingRequest(localName: "Strap", services: [])
        _ = try sensor.ask(.startAdvertising(request), "started", \.advertisingStarted)
        var heard = 0
        system.begin(OpenScan(.attentive, onStart: {}, onSighting: { _ in heard += 1 }, onEnd: { _ in }))
        let central = air.world.manager(.central, on: system)
        central.send(.startScan(ScanRequest()))
        air.world.run(.seconds(5))
        #expect(heard > 0)
        #expect(central.take().compactMap(\.discovery).contains { $0.advertisement.localName == "Strap" })
        central.send(.stopScan)
        heard = 0
        air.world.run(.seconds(5))
        #expect(heard > 0)
    }
}
