import BluetoothTypes
import EventLoops
import HCI
import Testing

@testable import LinkLayer

@Suite struct ProcedureTests {
    /// The end that begins a procedure, and the other one.
    private func ends(_ pair: Pair, _ byCentral: Bool) -> (TestHost, ConnectionHandle, TestHost, ConnectionHandle) {
        byCentral
            ? (pair.central, pair.centralHandle, pair.peripheral, pair.peripheralHandle)
            : (pair.peripheral, pair.peripheralHandle, pair.central, pair.centralHandle)
    }

    @Test(arguments: [true, false])
    func versionExchange(byCentral: Bool) throws {
        let pair = try Pair(peripheral: {
            $0.version = .v4_2; $0.companyIdentifier = 0x1234; $0.subversion = 77
        })
        let (asker, handle, other, otherHandle) = ends(pair, byCentral)
        #expect(asker.send(ReadRemoteVersionInformation(handle: handle)) == .success)
        pair.world.run(.seconds(1))
        #expect(other.send(ReadRemoteVersionInformation(handle: otherHandle)) == .success)
        pair.world.run(.seconds(1))
        let seen = try #require(pair.central.events(ReadRemoteVersionInformationComplete.self).first)
        #expect((seen.status, seen.handle) == (.success, pair.centralHandle))
        #expect((seen.version, seen.companyIdentifier, seen.subversion) == (.v4_2, 0x1234, 77))
        #expect(pair.peripheral.events(ReadRemoteVersionInformationComplete.self).map(\.version) == [.v5_3])
    }

    @Test(arguments: [true, false])
    func featureExchange(byCentral: Bool) throws {
        let pair = try Pair()
        let (asker, handle, _, _) = ends(pair, byCentral)
        #expect(asker.send(LEReadRemoteFeatures(handle: handle)) == .success)
        pair.world.run(.seconds(1))
        let complete = try #require(asker.events(LEReadRemoteFeaturesComplete.self).first)
        #expect(complete.status == .success)
        #expect(complete.features == VirtualController.supportedFeatures.sentToPeer)
    }

    @Test func featuresThatOnlyOneEndHas() throws {
        let pair = try Pair(peripheral: { $0.features = [.dataLengthExtension] })
        #expect(
            pair.peripheral.send(LEReadRemoteFeatures(handle: pair.peripheralHandle)) == .unsupportedFeatureOrParameter
        )
        pair.central.send(LEReadRemoteFeatures(handle: pair.centralHandle))
        pair.world.run(.seconds(1))
        let complete = try #require(pair.central.events(LEReadRemoteFeaturesComplete.self).first)
        #expect(complete.features == [.dataLengthExtension])
    }

    @Test(arguments: [true, false])
    func dataLengthUpdate(byCentral: Bool) throws {
        let pair = try Pair()
        let (asker, handle, other, _) = ends(pair, byCentral)
        #expect(asker.send(LESetDataLength(handle: handle, txOctets: 251, txTime: 2_120)) == .success)
        pair.world.run(.seconds(1))
        let mine = try #require(asker.events(LEDataLengthChange.self).last)
        let theirs = try #require(other.events(LEDataLengthChange.self).last)
        #expect((mine.maxTxOctets, mine.maxTxTime, mine.maxRxOctets, mine.maxRxTime) == (251, 2_120, 27, 328))
        #expect((theirs.maxTxOctets, theirs.maxTxTime, theirs.maxRxOctets, theirs.maxRxTime) == (27, 328, 251, 2_120))
    }

    @Test func aSuggestedDataLengthIsAskedForByItself() throws {
        let (world, central, peripheral) = LinkLayerWorld.withTwoHosts()
        central.send(LEWriteSuggestedDefaultDataLength(txOctets: 100, txTime: 1_000))
        peripheral.advertise()
        central.connect(to: peripheral.address)
        world.run(.seconds(1))
        #expect(central.events(LEDataLengthChange.self).map(\.maxTxOctets) == [100])
        #expect(peripheral.events(LEDataLengthChange.self).map(\.maxRxOctets) == [100])
    }

    @Test(arguments: [true, false], [LEPHY.le2M, .coded])
    func phyUpdate(byCentral: Bool, phy: LEPHY) throws {
        let pair = try Pair()
        let (asker, handle, other, _) = ends(pair, byCentral)
        let phys: LEPHYs = phy == .le2M ? .le2M : .coded
        #expect(asker.setPHY(handle, phys) == .success)
        pair.world.run(.seconds(1))
        for host in [asker, other] {
            let complete = host.events(LEPHYUpdateComplete.self)
            #expect(complete.map(\.status) == [.success])
            #expect(complete.map(\.txPHY) == [phy])
            #expect(complete.map(\.rxPHY) == [phy])
        }
        pair.central.send([1], on: pair.centralHandle)
        pair.peripheral.send([2], on: pair.peripheralHandle)
        pair.world.run(.seconds(1))
        #expect(pair.peripheral.data.count == 1)
        #expect(pair.central.data.count == 1)
        // The coded PHY allows a longer time for its 27 octets (Core Vol 6 Part B 4.5.10).
        let times = pair.central.events(LEDataLengthChange.self).map(\.maxTxTime)
        #expect(times == (phy == .coded ? [2_704] : []))
        // A request for the PHY in use is answered, and the other host gets no event.
        asker.setPHY(handle, phys)
        pair.world.run(.seconds(1))
        #expect(asker.events(LEPHYUpdateComplete.self).count == 2)
        #expect(other.events(LEPHYUpdateComplete.self).count == 1)
    }

    @Test func physMayDifferByDirection() throws {
        let pair = try Pair()
        pair.central.setPHY(pair.centralHandle, .le2M, receiving: .le1M)
        pair.world.run(.seconds(1))
        let read = try pair.peripheral.read(LEReadPHY(handle: pair.peripheralHandle))
        #expect(read.txPHY == .le1M)
        #expect(read.rxPHY == .le2M)
    }

    @Test func theCodingFollowsTheOption() throws {
        let pair = try Pair()
        var phys: Set<RadioPHY> = []
        pair.central.setPHY(pair.centralHandle, .coded, .s2)
        pair.world.run(.seconds(1))
        pair.world.sniff { phys.insert($0.frame.phy) }
        pair.world.run(.seconds(1))
        #expect(phys == [.codedS2, .codedS8])
    }

    @Test func connectionUpdateByTheCentral() throws {
        let pair = try Pair(interval: 24)
        #expect(pair.central.update(pair.centralHandle, interval: 80...80, latency: 2, timeout: 500) == .success)
        pair.world.run(.seconds(1))
        for host in [pair.central, pair.peripheral] {
            let complete = try #require(host.events(LEConnectionUpdateComplete.self).first)
            #expect(complete.status == .success)
            #expect((complete.interval, complete.latency, complete.supervisionTimeout) == (80, 2, 500))
        }
        var starts: [Int64] = []
        let sender = pair.central.controller.node.id
        pair.world.sniff { if $0.sender == sender { starts.append($0.start.microseconds) } }
        pair.world.run(.seconds(3))
        #expect(zip(starts, starts.dropFirst()).allSatisfy { $1 - $0 == 100_000 })
        #expect(pair.peripheral.events(DisconnectionComplete.self).isEmpty)
    }

    @Test(arguments: [true, false])
    func parameterRequestByThePeripheral(isAccepted: Bool) throws {
        let pair = try Pair(interval: 24)
        pair.central.acceptsParameters = false
        pair.peripheral.update(pair.peripheralHandle, interval: 40...60, latency: 1)
        pair.world.run(.seconds(1))
        let asked = try #require(pair.central.events(LERemoteConnectionParameterRequest.self).first)
        #expect((asked.intervalMin, asked.intervalMax, asked.maxLatency, asked.supervisionTimeout) == (40, 60, 1, 300))
        if isAccepted {
            pair.central.accept(pair.centralHandle, interval: 40...60, latency: 1)
        } else {
            pair.central.send(
                LERemoteConnectionParameterRequestNegativeReply(
                    handle: pair.centralHandle,
                    reason: .unacceptableConnectionParameters
                )
            )
        }
        pair.world.run(.seconds(2))
        let complete = try #require(pair.peripheral.events(LEConnectionUpdateComplete.self).first)
        #expect(complete.status == (isAccepted ? .success : .unacceptableConnectionParameters))
        #expect(complete.interval == (isAccepted ? 60 : 24))
        #expect(pair.central.events(LEConnectionUpdateComplete.self).count == (isAccepted ? 1 : 0))
    }

    // If the host has masked the event, the controller rejects the request itself (Core Vol 6 Part B 5.1.7.2).
    @Test func aMaskedParameterRequestIsRefused() throws {
        let pair = try Pair()
        pair.central.send(LESetEventMask(mask: .initial))
        pair.peripheral.update(pair.peripheralHandle, interval: 40...60)
        pair.world.run(.seconds(1))
        let statuses = pair.peripheral.events(LEConnectionUpdateComplete.self).map(\.status)
        #expect(statuses == [.unsupportedRemoteFeature])
    }

    @Test func theChannelMapFollowsTheHost() throws {
        let pair = try Pair()
        let map = ChannelMap(bits: 0b1010)
        #expect(pair.central.send(LESetHostChannelClassification(channelMap: map.octets)) == .success)
        pair.world.run(.seconds(1))
        var channels: Set<UInt8> = []
        pair.world.sniff { channels.insert($0.frame.channel) }
        pair.world.run(.seconds(2))
        #expect(channels == [1, 3])
        #expect(try pair.peripheral.read(LEReadChannelMap(handle: pair.peripheralHandle)).channelMap == map.octets)
        pair.central.send([1], on: pair.centralHandle)
        pair.world.run(.seconds(1))
        #expect(pair.peripheral.data.count == 1)
    }

    @Test func rssiIsRead() throws {
        let pair = try Pair()
        #expect(try pair.central.read(ReadRSSI(handle: pair.centralHandle)).rssi == -40)
        pair.peripheral.controller.node.position = Position(x: 10)
        pair.world.run(.seconds(1))
        #expect(try pair.central.read(ReadRSSI(handle: pair.centralHandle)).rssi == -60)
    }

    @Test func aPeripheralWithLatencySleeps() throws {
        let pair = try Pair(interval: 24, latency: 9, timeout: 600)
        pair.world.run(.seconds(3))
        let peripheral = pair.peripheral.controller.node
        let before = peripheral.airTime
        pair.world.run(.seconds(30))
        // 1,000 events, of which it answers one in ten.
        #expect((95...105).contains(peripheral.airTime.framesSent - before.framesSent))
        // Its own data do not wait for the latency.
        let start = pair.world.loop.now
        pair.peripheral.send([1], on: pair.peripheralHandle)
        pair.world.run(.milliseconds(70))
        let received = try #require(pair.central.packets.last { $0.packet.kind == .acl })
        #expect((received.at - start) < .milliseconds(65))
        // The central's data wait until the peripheral wakes up.
        pair.central.send([2], on: pair.centralHandle)
        pair.world.run(.milliseconds(400))
        #expect(pair.peripheral.data.map(\.payload) == [[2]])
    }

    // 40 s without a response end the link: with 0x22 at this end, with a supervision timeout at the other (5.2).
    @Test func aHostThatNeverAnswers() throws {
        let pair = try Pair(timeout: 300)
        pair.central.acceptsParameters = false
        pair.peripheral.update(pair.peripheralHandle, interval: 40...60)
        pair.world.run(.milliseconds(39_900))
        #expect(pair.peripheral.events(DisconnectionComplete.self).isEmpty)
        pair.world.run(.seconds(4))
        #expect(pair.peripheral.events(DisconnectionComplete.self).map(\.reason) == [.linkLayerResponseTimeout])
        #expect(pair.central.events(DisconnectionComplete.self).map(\.reason) == [.connectionTimeout])
    }

    // Both ends begin at once, and colliding procedures do not deadlock (Core Vol 6 Part B 5.3).
    @Test(arguments: 0..<8)
    func crossingProcedures(offset: Int) throws {
        let pair = try Pair()
        let (central, peripheral) = (pair.central, pair.peripheral)
        central.acceptsParameters = false
        central.onEvent = { event in
            guard event.subevent == LERemoteConnectionParameterRequest.subevent else { return }
            pair.world.loop.schedule(after: .milliseconds(100)) {
                central.accept(pair.centralHandle, interval: 40...40)
            }
        }
        central.setPHY(pair.centralHandle, .le2M, .s8)
        pair.world.run(.milliseconds(offset * 7))
        peripheral.setPHY(pair.peripheralHandle, .coded, .s8)
        peripheral.update(pair.peripheralHandle, interval: 40...40)
        central.send(LEReadRemoteFeatures(handle: pair.centralHandle))
        peripheral.send(ReadRemoteVersionInformation(handle: pair.peripheralHandle))
        central.update(pair.centralHandle, interval: 12...12)
        pair.world.run(.seconds(90))
        #expect(central.events(DisconnectionComplete.self).isEmpty)
        #expect(!central.events(LEReadRemoteFeaturesComplete.self).isEmpty)
        #expect(!central.events(LEPHYUpdateComplete.self).isEmpty)
        #expect(!peripheral.events(LEPHYUpdateComplete.self).isEmpty)
        #expect(!central.events(LEConnectionUpdateComplete.self).isEmpty)
        #expect(!peripheral.events(ReadRemoteVersionInformationComplete.self).isEmpty)
    }
}
