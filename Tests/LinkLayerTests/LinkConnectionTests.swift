import BluetoothTypes
import EventLoops
import HCI
import Testing

@testable import LinkLayer

@Suite struct LinkConnectionTests {
    @Test func bothEndsHearOfTheConnection() throws {
        let pair = try Pair(latency: 3, timeout: 400)
        let central = try #require(pair.central.events(LEEnhancedConnectionComplete.self).first)
        let peripheral = try #require(pair.peripheral.events(LEEnhancedConnectionComplete.self).first)
        #expect(central.status == .success)
        #expect(peripheral.status == .success)
        #expect(central.role == .central)
        #expect(peripheral.role == .peripheral)
        #expect(central.peerAddress == pair.peripheral.address)
        #expect(peripheral.peerAddress == pair.central.address)
        #expect((peripheral.interval, peripheral.latency, peripheral.supervisionTimeout) == (24, 3, 400))
        #expect(peripheral.centralClockAccuracy == .ppm50)
        #expect(pair.central.events(LEChannelSelectionAlgorithm.self).map(\.algorithm) == [.algorithm2])
        #expect(pair.centralLink?.isEstablished == true)
        #expect(pair.peripheralLink?.isEstablished == true)
        #expect(pair.peripheral.events(DisconnectionComplete.self).isEmpty)
    }

    @Test func dataGoesBothWays() throws {
        let pair = try Pair()
        pair.central.send([1, 2, 3], on: pair.centralHandle)
        pair.peripheral.send([4, 5], on: pair.peripheralHandle)
        pair.peripheral.send([6], on: pair.peripheralHandle, isStart: false)
        pair.world.run(.seconds(1))
        #expect(pair.peripheral.data.map(\.payload) == [[1, 2, 3]])
        #expect(pair.peripheral.data.map(\.boundary) == [.start])
        #expect(pair.central.data.map(\.payload) == [[4, 5], [6]])
        #expect(pair.central.data.map(\.boundary) == [.start, .continuation])
        #expect(pair.central.events(NumberOfCompletedPackets.self).flatMap(\.entries).map(\.count) == [1])
    }

    @Test func aLongPacketIsCutAndItsPiecesStayInOrder() throws {
        let pair = try Pair()
        let payload = (0..<251).map { UInt8($0) }
        pair.central.send(payload, on: pair.centralHandle)
        pair.world.run(.seconds(2))
        let pieces = pair.peripheral.data
        #expect(pieces.map(\.payload.count) == Array(repeating: 27, count: 9) + [8])
        #expect(pieces.map(\.boundary.isStart) == [true] + Array(repeating: false, count: 9))
        #expect(pieces.flatMap { Array($0.payload) } == payload)
        #expect(pair.central.events(NumberOfCompletedPackets.self).count == 1)
    }

    @Test(arguments: [true, false])
    func disconnecting(byCentral: Bool) throws {
        let pair = try Pair()
        let (ender, other) = byCentral ? (pair.central, pair.peripheral) : (pair.peripheral, pair.central)
        let handle = byCentral ? pair.centralHandle : pair.peripheralHandle
        #expect(ender.send(Disconnect(handle: handle, reason: .remoteUserTerminated)) == .success)
        #expect(ender.send(Disconnect(handle: handle, reason: .remoteUserTerminated)) == .commandDisallowed)
        // The link ends because LL_TERMINATE_IND was acknowledged, not because the other end fell silent.
        pair.world.run(.milliseconds(400))
        #expect(ender.events(DisconnectionComplete.self).map(\.reason) == [.localHostTerminated])
        #expect(other.events(DisconnectionComplete.self).map(\.reason) == [.remoteUserTerminated])
        #expect(pair.central.controller.links.isEmpty)
        #expect(pair.peripheral.controller.links.isEmpty)
    }

    @Test func supervisionTimeout() throws {
        let pair = try Pair(timeout: 200)
        let last = try #require(pair.centralLink).lastReception
        pair.peripheral.controller.node.position = Position(x: 100_000)
        pair.world.run(.seconds(3))
        for host in [pair.central, pair.peripheral] {
            #expect(host.events(DisconnectionComplete.self).map(\.reason) == [.connectionTimeout])
        }
        let end = try #require(pair.central.packets.last).at
        #expect((end - last) == .seconds(2))
    }

    // The link ends with 0x3E after six intervals without any PDU from the peer (Core Vol 6 Part B 4.5.2).
    @Test func aConnectionThatIsNeverEstablished() throws {
        let (world, central, peripheral) = LinkLayerWorld.withTwoHosts()
        peripheral.onEvent = { event in
            guard event.subevent == LEEnhancedConnectionComplete.subevent else { return }
            peripheral.controller.node.position = Position(x: 100_000)
        }
        peripheral.advertise()
        central.connect(to: peripheral.address, interval: 40)
        world.run(.seconds(2))
        for host in [central, peripheral] {
            #expect(host.events(LEEnhancedConnectionComplete.self).map(\.status) == [.success])
            #expect(host.events(DisconnectionComplete.self).map(\.reason) == [.connectionFailedToBeEstablished])
        }
    }
}
