import BluetoothTypes
import EventLoops
import HCI
import Testing

@testable import LinkLayer

@Suite struct ExtendedInitiatingTests {
    // AUX_ADV_IND, AUX_CONNECT_REQ and AUX_CONNECT_RSP are an inter frame space apart. The first PDU of the link
    // follows the request by 2.5 ms (3.75 ms on Coded) plus the offset in it (Core Vol 6 Part B 4.5.3).
    @Test(arguments: [(LEPHY.le1M, 2_500), (.le2M, 2_500), (.coded, 3_750)] as [(LEPHY, Int64)])
    func theTransmitWindowBeginsInTime(phy: LEPHY, delay: Int64) throws {
        let (world, peripheral, central) = LinkLayerWorld.withTwoHosts()
        var frames: [SniffedFrame] = []
        world.sniff { frames.append($0) }
        central.connectExtended(to: peripheral.address, phys: [.le1M, .le2M, .coded])
        peripheral.advertiseExtended(.connectable) { $0.secondaryPHY = phy }
        world.run(.milliseconds(200))
        let first = try #require(frames.firstIndex { $0.frame.channel < 37 })
        let secondary = frames[first...].prefix(4).map { $0 }
        try #require(secondary.count == 4)
        #expect(secondary.prefix(3).map { $0.frame.pdu[0] & 0xF } == [7, 5, 8])
        for (a, b) in zip(secondary.prefix(2), secondary.dropFirst()) {
            #expect((b.start - a.start).microseconds == a.frame.airTimeMicroseconds + 150)
        }
        guard case .connect(let request) = try AdvertisingPDU(reading: PacketBuffer(secondary[1].frame.pdu)) else {
            throw PacketError(.value(0), at: "PDU")
        }
        #expect(!request.knowsAlgorithm2, "reserved on secondary channels")
        let window = secondary[1].start.microseconds + secondary[1].frame.airTimeMicroseconds + delay
        let start = window + Int64(request.link.windowOffset) * 1_250
        #expect((start...start + 1_250).contains(secondary[3].start.microseconds))
        #expect(secondary[3].frame.accessAddress == request.link.accessAddress)
        #expect(secondary[3].frame.phy == phy.radioPHY)
    }

    // LE Enhanced Connection Complete, LE Channel Selection Algorithm, then LE Advertising Set Terminated.
    @Test(arguments: [[.connectable], [.legacy, .connectable, .scannable]] as [LEAdvertisingProperties])
    func theEventsComeInOrder(properties: LEAdvertisingProperties) throws {
        let (world, peripheral, central) = LinkLayerWorld.withTwoHosts()
        peripheral.advertiseExtended(properties, set: 9)
        peripheral.forget()
        central.connectExtended(to: peripheral.address)
        world.run(.milliseconds(300))
        let codes = peripheral.packets.prefix(3).map { try? EventPacket(reading: $0.packet.bytes).subevent }
        #expect(
            codes == [
                LEEnhancedConnectionComplete.subevent, LEChannelSelectionAlgorithm.subevent,
                LEAdvertisingSetTerminated.subevent,
            ]
        )
        let connection = try #require(peripheral.connections.first)
        #expect(connection.role == .peripheral)
        #expect(connection.peerAddress == central.address)
        let ended = try #require(peripheral.events(LEAdvertisingSetTerminated.self).first)
        #expect(ended.status == .success)
        #expect(ended.set == 9)
        #expect(ended.handle == connection.handle)
        // The set may be enabled again for the next connection.
        #expect(peripheral.enable([(9, 0, 0)]) == .success)
    }

    @Test func otherSetsGoOn() throws {
        let world = LinkLayerWorld()
        let (peripheral, central, scanner) = (world.host(), world.host(at: 1), world.host(at: 2))
        peripheral.advertiseExtended(.connectable)
        peripheral.advertiseExtended(set: 1, data: [1]) { $0.sid = 5 }
        central.connectExtended(to: peripheral.address)
        world.run(.seconds(1))
        #expect(central.connections.count == 1)
        scanner.scanExtended()
        world.run(.seconds(1))
        #expect(Set(scanner.reports.map(\.sid)) == [5])
    }

    @Test(arguments: [true, false])
    func theAcceptListChooses(isListed: Bool) {
        let (world, peripheral, central) = LinkLayerWorld.withTwoHosts()
        peripheral.advertiseExtended(.connectable)
        // An entry for anonymous advertisers does no harm: they are not connectable.
        central.send(LEAddDeviceToFilterAcceptList(address: BluetoothAddress(0, kind: .init(rawValue: 0xFF))))
        if isListed { central.send(LEAddDeviceToFilterAcceptList(address: peripheral.address)) }
        #expect(central.connectExtended(to: nil) == .success)
        #expect(central.send(LEClearFilterAcceptList()) == .commandDisallowed)
        world.run(.seconds(2))
        #expect(central.connections.isEmpty != isListed)
        #expect(peripheral.connections.isEmpty != isListed)
    }

    @Test(arguments: [true, false])
    func directedAdvertisingConnects(isWanted: Bool) {
        let (world, peripheral, central) = LinkLayerWorld.withTwoHosts()
        peripheral.advertiseExtended([.connectable, .directed]) {
            $0.peerAddress = isWanted ? central.address : BluetoothAddress(7, kind: .publicDevice)
        }
        central.connectExtended(to: peripheral.address)
        world.run(.seconds(2))
        #expect(central.connections.isEmpty != isWanted)
    }

    @Test func highDutyCycleConnects() {
        let (world, peripheral, central) = LinkLayerWorld.withTwoHosts()
        central.connectExtended(to: peripheral.address)
        peripheral.advertiseExtended([.legacy, .connectable, .directed, .highDutyCycle], duration: 128) {
            $0.peerAddress = central.address
        }
        world.run(.seconds(2))
        #expect(central.connections.map(\.status) == [.success])
        #expect(peripheral.events(LEAdvertisingSetTerminated.self).map(\.status) == [.success])
    }

    // The parameters of the PHY on which the link begins; if it has none, those of the primary PHY.
    @Test(
        arguments: [
            (LEPHY.le1M, LEPHYs([.le1M, .le2M, .coded]), 10), (.le2M, [.le1M, .le2M, .coded], 20),
            (.coded, [.le1M, .le2M, .coded], 30), (.le2M, .le1M, 10), (.coded, .le1M, 10),
        ] as [(LEPHY, LEPHYs, UInt16)]
    )
    func eachPHYHasItsParameters(secondary: LEPHY, phys: LEPHYs, interval: UInt16) throws {
        let (world, peripheral, central) = LinkLayerWorld.withTwoHosts()
        func parameters(_ phy: LEPHYs, _ interval: UInt16) -> PHYConnectionParameters? {
            var parameters = PHYConnectionParameters.standard
            (parameters.intervalMin, parameters.intervalMax) = (interval, interval)
            return phys.contains(phy) ? parameters : nil
        }
        central.send(
            LEExtendedCreateConnection {
                $0.filterPolicy = .peerAddress
                $0.ownAddressKind = .publicDevice
                $0.peerAddress = peripheral.address
                $0.le1M = parameters(.le1M, 10)
                $0.le2M = parameters(.le2M, 20)
                $0.coded = parameters(.coded, 30)
            }
        )
        peripheral.advertiseExtended(.connectable) { $0.secondaryPHY = secondary }
        world.run(.seconds(2))
        #expect(try #require(central.connections.first).interval == interval)
    }

    @Test(arguments: [[.connectable], [.legacy, .connectable, .scannable]] as [LEAdvertisingProperties])
    func cancelling(properties: LEAdvertisingProperties) {
        let (world, peripheral, central) = LinkLayerWorld.withTwoHosts()
        central.connectExtended(to: peripheral.address)
        #expect(central.connectExtended(to: peripheral.address) == .commandDisallowed)
        world.run(.seconds(1))
        #expect(central.send(LECreateConnectionCancel()) == .success)
        #expect(central.connections.map(\.status) == [.unknownConnection])
        peripheral.advertiseExtended(properties)
        world.run(.seconds(1))
        #expect(central.connections.count == 1)
        #expect(peripheral.connections.isEmpty)
        #expect(central.connectExtended(to: peripheral.address) == .success)
        world.run(.seconds(1))
        #expect(central.connections.count == 2)
    }

    // Without AUX_CONNECT_RSP there is no link: the initiator goes on and sends another request.
    @Test func aLostResponseIsNoConnection() throws {
        let (world, peripheral, central) = LinkLayerWorld.withTwoHosts()
        let noise = world.radio.add(at: Position(x: 1))
        var requests = 0
        world.sniff { frame in
            guard frame.frame.accessAddress == AccessAddress.advertising, frame.frame.pdu[0] & 0xF == 8,
                requests < 3
            else { return }
            requests += 1
            let channel = frame.frame.channel
            world.loop.execute {
                noise.send(.init(channel: channel, accessAddress: 0, crcInit: 0, phy: .le1M, pdu: [0]))
            }
        }
        peripheral.onEvent = { event in
            guard event.code == DisconnectionComplete.eventCode else { return }
            world.loop.execute { peripheral.enable([(0, 0, 0)]) }
        }
        peripheral.advertiseExtended(.connectable)
        central.connectExtended(to: peripheral.address)
        world.run(.seconds(5))
        #expect(requests == 3)
        #expect(central.connections.map(\.status) == [.success])
        let failed = peripheral.events(DisconnectionComplete.self).map(\.reason)
        #expect(
            failed == [
                .connectionFailedToBeEstablished, .connectionFailedToBeEstablished, .connectionFailedToBeEstablished,
            ]
        )
        #expect(central.controller.links.count == 1)
        #expect(peripheral.controller.links.count == 1)
    }

    // Reports about other advertisers still reach a host that scans while it initiates.
    @Test func scanningWhileInitiating() {
        let world = LinkLayerWorld()
        let (central, wanted, other, quiet) = (world.host(), world.host(at: 1), world.host(at: 2), world.host(at: 3))
        other.advertiseExtended(.connectable, data: [1])
        quiet.advertiseExtended(data: sampleData(600)) { $0.sid = 6 }
        central.scanExtended()
        central.connectExtended(to: wanted.address)
        world.run(.seconds(2))
        #expect(central.reports.count { $0.address == other.address && $0.data == [1] } > 20)
        #expect(central.wholeReports.count { $0.sid == 6 && $0.data == sampleData(600) } > 20)
        wanted.advertiseExtended(.connectable)
        world.run(.seconds(1))
        #expect(central.connections.count == 1)
    }

    @Test func manyLinksByExtendedAdvertising() {
        let world = LinkLayerWorld()
        let central = world.host()
        let peripherals = (1...8).map { world.host(at: Double($0) / 10) }
        for peripheral in peripherals {
            peripheral.advertiseExtended(.connectable) { $0.secondaryPHY = .le2M }
            central.connectExtended(to: peripheral.address, phys: [.le1M, .le2M]) {
                ($0.intervalMin, $0.intervalMax, $0.supervisionTimeout) = (80, 80, 400)
            }
            world.run(.seconds(3))
        }
        #expect(central.connections.count { $0.status == .success } == 8)
        world.run(.seconds(20))
        #expect(central.controller.links.count == 8)
    }
}
