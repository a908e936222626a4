import BluetoothTypes
import EventLoops
import Foundation
import GAP
import HCI
import LinkLayer
import SampleMessages
import ServiceMessages
import Testing

@testable import BluetoothService

/// Accessories that are neither Apple devices nor systems with apps, as apps see them over the simulated radio.
@Suite struct AccessoryTests {
    @Test("behaviour 2.5: a scan for a service finds devices that advertise it, not all that have it")
    func theFilterLooksAtAdvertisements() throws {
        let bench = try AccessoryBench()
        bench.accessory.advertise(services: [0x180F])
        bench.central.send(.startScan(ScanRequest(services: [TestAccessory.service], allowsDuplicates: true)))
        bench.world.run(.seconds(10))
        #expect(bench.central.take().isEmpty)
        let peer = try bench.central.find(0x180F).identifier
        try bench.central.connect(peer)
        #expect(try bench.central.explore(peer, TestAccessory.service).count == 1)
    }

    @Test("behaviour 2.18: an app gets no event when a device disappears")
    func noEventReportsThatADeviceDisappeared() throws {
        let bench = try AccessoryBench()
        bench.accessory.advertise()
        _ = try bench.central.find(TestAccessory.service)
        bench.central.send(.startScan(ScanRequest(allowsDuplicates: true)))
        bench.world.run(.seconds(3))
        #expect(!bench.central.take().isEmpty)
        bench.accessory.access.stop()
        bench.world.run(.seconds(1))
        bench.central.take()
        bench.world.run(.seconds(600))
        #expect(bench.central.take().isEmpty)
    }

    @Test("behaviour 3.36: a device with extended advertising on 2M can be connected to")
    func extendedAdvertisementsAreAnswered() throws {
        let bench = try AccessoryBench()
        var packets = AdvertisingConfiguration.ExtendedPackets()
        packets.secondaryPHY = .le2M
        bench.accessory.advertise(packets: .extended(packets))
        let found = try bench.central.ask(.startScan(ScanRequest()), "discovered", \.discovery)
        #expect(found.advertisement.isConnectable)
        #expect(found.advertisement.secondaryPHY == 2)
        var phys: Set<RadioPHY> = []
        bench.air.radio.onSend = { if $0.channel < 37, $0.accessAddress != 0x8E89_BED6 { phys.insert($0.phy) } }
        try bench.central.connect(found.peer.identifier)
        bench.world.run(.milliseconds(500))
        #expect(phys == [.le2M], "the link is on the PHY of the advertisement")
        #expect(try bench.central.explore(found.peer.identifier, TestAccessory.service).count == 1)
    }

    /// The advertiser is the only one on the air and has a long interval.
    @Test("behaviour 3.37: connecting by identifier takes less time than scanning first")
    func connectingByIdentifierIsQuicker() throws {
        let bench = try AccessoryBench()
        let seldom = AdvertisingTempo(fast: 1636...1636, slow: 1636...1636)
        bench.accessory.advertise(tempo: seldom)
        let peer = try bench.central.find(TestAccessory.service).identifier
        func time(_ body: () throws -> Void) throws -> Duration {
            let start = bench.world.loop.now
            try body()
            let end = bench.world.loop.now
            bench.central.send(.cancelConnection(peer: peer))
            bench.world.run(.seconds(1))
            bench.central.take()
            bench.accessory.advertise(tempo: seldom)
            bench.world.run(.milliseconds(700))
            return end - start
        }
        var (direct, scanned) = (Duration.zero, Duration.zero)
        for _ in 1...8 {
            direct += try time { try bench.central.connect(peer) }
            scanned += try time { try bench.central.connect(try bench.central.find(TestAccessory.service).identifier) }
        }
        #expect(scanned > direct * 3 / 2, "\(direct) against \(scanned)")
    }

    /// A legacy connection request is not acknowledged: the central creates a link that the accessory never received.
    @Test(
        "behaviours 3.38, 3.41: a missed connection request is repeated, and the app gets the connection"
    )
    func aMissedRequestIsMadeAgain() throws {
        let bench = try AccessoryBench(hasExtendedAdvertising: false)
        bench.accessory.advertise()
        let peer = try bench.central.find(TestAccessory.service).identifier
        bench.central.take()
        // CONNECT_IND is PDU type 5 (Core Vol 6 Part B 2.3).
        var missed = 0
        bench.air.radio.onSend = { frame in
            if frame.channel >= 37, frame.pdu[0] & 0x0F == 5 {
                frame.accessAddress ^= 1
                missed += 1
            }
        }
        bench.central.send(.connect(peer: peer, options: ConnectOptions()))
        bench.world.run(.seconds(5))
        #expect(missed > 5)
        #expect(bench.central.take().isEmpty)
        bench.air.radio.onSend = nil
        _ = try bench.central.expect("connected", \.connection)
        #expect(bench.phone.links.all.count == 1)
        #expect(try bench.central.explore(peer, TestAccessory.service).count == 1)
    }

    @Test("behaviours 3.7, 3.41: a connection whose requests are missed can be cancelled, and is not requested again")
    func aMissedRequestIsCancelled() throws {
        let bench = try AccessoryBench(hasExtendedAdvertising: false)
        bench.accessory.advertise()
        let peer = try bench.central.find(TestAccessory.service).identifier
        bench.central.take()
        var missed = 0
        bench.air.radio.onSend = { frame in
            if frame.channel >= 37, frame.pdu[0] & 0x0F == 5 {
                frame.accessAddress ^= 1
                missed += 1
            }
        }
        bench.central.send(.connect(peer: peer, options: ConnectOptions()))
        #expect(bench.world.run { missed == 1 })
        let end = try bench.central.ask(.cancelConnection(peer: peer), "disconnected", \.disconnection)
        #expect(end.error == nil)
        bench.world.run(.seconds(5))
        #expect(missed == 1)
        #expect(bench.central.take().isEmpty)
        #expect(bench.phone.links.all.isEmpty)
    }

    @Test("behaviour 11.8: a connected device does not advertise, and is retrieved with the connected ones")
    func connectedDevicesAreRetrievedAndNotScanned() throws {
        let bench = try AccessoryBench()
        bench.accessory.advertise()
        let peer = try bench.central.find(TestAccessory.service).identifier
        try bench.central.connect(peer)
        bench.world.run(.seconds(2))
        let other = bench.world.manager(.central, on: bench.phone)
        other.take()
        other.send(.startScan(ScanRequest(services: [TestAccessory.service])))
        bench.world.run(.seconds(30))
        #expect(other.take().isEmpty)
        #expect(other.ask(.connectedPeripherals(services: [TestAccessory.service])).map(\.identifier) == [peer])
        try other.connect(peer)
    }

    @Test("behaviour 14.8: a value of 100 octets crosses in one link-layer packet")
    func longPacketsAreUsed() throws {
        let bench = try AccessoryBench(value: PacketBuffer([UInt8](repeating: 7, count: 100)))
        bench.accessory.advertise()
        let peer = try bench.central.find(TestAccessory.service).identifier
        try bench.central.connect(peer)
        let handle = try #require(try bench.central.explore(peer, TestAccessory.service)[TestAccessory.value])
        bench.world.run(.seconds(2))
        var lengths: [Int] = []
        bench.air.radio.onSend = { if $0.channel < 37, $0.pdu.count > 2 { lengths.append($0.pdu.count - 2) } }
        let read = Request.readCharacteristic(peer: peer, characteristic: handle)
        _ = try bench.central.ask(read, "value", \.value)
        // The L2CAP header and the ATT opcode precede the value.
        #expect(lengths.contains(105), "\(lengths)")
    }
}
