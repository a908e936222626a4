import BluetoothTypes
import EventLoops
import HCI
import Testing

@testable import LinkLayer

/// Flow control from the controller to the host (Core Vol 4 Part E 4.1.2, 7.3.38 to 7.3.40).
@Suite struct HostFlowTests {
    /// A pair whose central has host buffers of this length and count.
    private func pair(length: UInt16, count: UInt16, interval: UInt16 = 24) throws -> Pair {
        let (world, central, peripheral) = LinkLayerWorld.withTwoHosts()
        #expect(central.send(HostBufferSize(aclLength: length, aclCount: count)) == .success)
        #expect(central.send(SetControllerToHostFlowControl(kinds: 1)) == .success)
        return try Pair(world, central: central, peripheral: peripheral, interval: interval)
    }

    /// Reports packets as completed by the host.
    private func complete(_ host: TestHost, _ handle: ConnectionHandle, _ count: UInt16) {
        let before = host.packets.filter { $0.packet.kind == .event }.count
        host.send(HostNumberOfCompletedPackets(entries: [CompletedPackets(handle: handle, count: count)]))
        #expect(host.packets.filter { $0.packet.kind == .event }.count == before, "no answer")
    }

    // With full host buffers nothing is delivered, nothing is acknowledged on the air, nothing accumulates, and the
    // link survives.
    @Test("AB-L09: a host without free buffers exerts backpressure on the peer")
    func aHostWithoutRoomHoldsUpThePeer() throws {
        let pair = try pair(length: 251, count: 3)
        let sent = (0..<60).map { [UInt8($0), 1, 2, 3] }
        let stream = Stream(pair.peripheral, pair.peripheralHandle, sent)
        stream.start()
        pair.world.run(.seconds(30))
        #expect(pair.central.data.count == 3)
        // Three were delivered; the fourth is retransmitted again and again.
        let completed = pair.peripheral.events(NumberOfCompletedPackets.self).flatMap(\.entries).map(\.count)
        #expect(completed.reduce(0, +) == 3)
        #expect(pair.centralLink?.held == nil)
        // The other direction goes on.
        pair.central.send([9], on: pair.centralHandle)
        pair.world.run(.seconds(1))
        #expect(pair.peripheral.data.map(\.payload) == [[9]])
        for _ in sent {
            complete(pair.central, pair.centralHandle, 1)
            pair.world.run(.milliseconds(200))
        }
        #expect(pair.central.data.map { Array($0.payload) } == sent)
        for host in [pair.central, pair.peripheral] { #expect(host.events(DisconnectionComplete.self).isEmpty) }
    }

    // PDUs longer than the host's buffers are fragmented, and arrive whole and in order at any pace of the host.
    @Test(arguments: [(10, 1), (27, 2), (50, 3), (100, 1), (251, 1), (1_000, 5)] as [(UInt16, UInt16)])
    func packetsFitTheHost(length: UInt16, count: UInt16) throws {
        let pair = try pair(length: length, count: count, interval: 12)
        pair.peripheral.send(LESetDataLength(handle: pair.peripheralHandle, txOctets: 251, txTime: 2_120))
        pair.world.run(.seconds(1))
        let random = RandomSource(seed: UInt64(length))
        let sent = (0..<40).map { _ in random.bytes(1 + Int(random.below(251))) }
        let (world, central, handle) = (pair.world, pair.central, pair.centralHandle)
        var most = 0
        var outstanding = 0
        central.onData = { packet in
            #expect(packet.payload.count <= length)
            outstanding += 1
            most = max(most, outstanding)
            world.loop.schedule(after: .milliseconds(random.below(40))) {
                outstanding -= 1
                complete(central, handle, 1)
            }
        }
        let stream = Stream(pair.peripheral, pair.peripheralHandle, sent)
        stream.start()
        world.run(.seconds(40))
        var received: [[UInt8]] = []
        for packet in central.data {
            if packet.boundary.isStart { received.append([]) }
            received[received.count - 1] += packet.payload
        }
        #expect(received == sent)
        #expect(most <= Int(count))
        #expect(pair.centralLink?.held == nil)
    }

    // Packets that a link had in the host count as completed once the link is gone.
    @Test func aLinkThatIsGoneLeavesItsRoom() throws {
        let pair = try pair(length: 251, count: 2)
        let second = pair.world.host(at: 2)
        second.advertise()
        pair.central.connect(to: second.address)
        pair.world.run(.seconds(1))
        let handles = pair.central.events(LEEnhancedConnectionComplete.self).map(\.handle)
        try #require(handles.count == 2)
        for index in 0..<4 { pair.peripheral.send([UInt8(index)], on: pair.peripheralHandle) }
        pair.world.run(.seconds(1))
        let secondHandle = try #require(second.events(LEEnhancedConnectionComplete.self).first).handle
        second.send([7], on: secondHandle)
        pair.world.run(.seconds(1))
        #expect(pair.central.data.map(\.payload) == [[0], [1]])
        #expect(pair.central.send(Disconnect(handle: pair.centralHandle, reason: .remoteUserTerminated)) == .success)
        pair.world.run(.seconds(3))
        #expect(pair.central.data.map(\.payload) == [[0], [1], [7]])
        #expect(pair.central.events(DisconnectionComplete.self).map(\.reason) == [.localHostTerminated])
        #expect(pair.peripheral.events(DisconnectionComplete.self).map(\.reason) == [.remoteUserTerminated])
        // A late completion for the old link is not an error.
        complete(pair.central, handles[0], 2)
    }

    @Test func tooManyCompletedPacketsAreAnError() throws {
        let pair = try pair(length: 251, count: 2)
        pair.peripheral.send([1], on: pair.peripheralHandle)
        pair.world.run(.seconds(1))
        let entries = [CompletedPackets(handle: pair.centralHandle, count: 2)]
        #expect(pair.central.send(HostNumberOfCompletedPackets(entries: entries)) == .invalidParameters)
        complete(pair.central, pair.centralHandle, 1)
        #expect(pair.central.send(HostNumberOfCompletedPackets(entries: entries)) == .invalidParameters)
    }

    @Test func theMachine() {
        var flow = HostFlow()
        let (a, b) = (ConnectionHandle(rawValue: 1), ConnectionHandle(rawValue: 2))
        #expect(flow.room == .max)
        #expect(flow.resize(length: 0, count: 1) == false)
        #expect(flow.resize(length: 1, count: 0) == false)
        #expect(flow.resize(length: 20, count: 2) == true)
        flow.enable(true)
        for handle in [a, b] { flow.opened(handle) }
        for handle in [a, b] {
            #expect(flow.room == 20)
            flow.sent(handle)
        }
        #expect(flow.room == nil)
        #expect(false == flow.returned([.init(handle: a, count: 1), .init(handle: b, count: 2)]))
        #expect(flow.room == nil, "all or nothing")
        #expect(flow.returned([.init(handle: a, count: 1), .init(handle: .init(rawValue: 9), count: 5)]) == true)
        #expect(flow.room == 20)
        flow.closed(b)
        flow.closed(b)
        flow.sent(a)
        flow.sent(a)
        #expect(flow.room == nil)
    }
}
