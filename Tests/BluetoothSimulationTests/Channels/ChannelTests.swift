import BluetoothSimulation
import CoreBluetooth
import Foundation
import LinkLayer
import TestBasics
import Testing

@testable import BluetoothService

/// L2CAP channels between apps.
@Suite struct ChannelTests {
    @Test(
        "behaviours 8.1, 8.2, 8.6, 8.10, 8.13: a megabyte crosses unchanged in each direction through streams",
        arguments: [0, 0.05]
    )
    func aMegabyteGoesEachWay(lossRate: Double) throws {
        let world = ChannelWorld(lossRate: lossRate)
        let (there, back) = (ChannelWorld.noise(1 << 20, seed: 1), ChannelWorld.noise(1 << 20, seed: 2))
        world.opener.outgoing = there
        world.publisher.outgoing = back
        let (phone, station) = try world.open()
        #expect((0x80...0xFF).contains(world.publisher.psms[0]))
        #expect(phone.channel?.psm == world.publisher.psms[0])
        #expect(phone.channel?.peer === world.opener.peripheral)
        #expect(station.channel?.peer is CBCentral)
        let isThrough = world.run(.seconds(600)) {
            phone.received.count == back.count && station.received.count == there.count
        }
        #expect(isThrough, "\(phone.received.count) and \(station.received.count) octets came")
        #expect(phone.received == back)
        #expect(station.received == there)
        #expect(phone.events.sorted() == ["in open", "out open"])
        phone.close()
        world.run(.seconds(1))
        #expect(station.events.sorted() == ["in end", "in open", "out end", "out open"])
    }

    @Test("behaviour 8.8: data that arrived before the link is lost is complete, and both ends get one end event")
    func theLinkIsLostInTheMiddle() throws {
        let world = ChannelWorld()
        let (there, back) = (ChannelWorld.noise(1 << 20, seed: 1), ChannelWorld.noise(1 << 20, seed: 2))
        world.opener.outgoing = there
        world.publisher.outgoing = back
        let (phone, station) = try world.open()
        world.run { station.received.count > 100_000 }
        world.station.move(to: Position(x: 1e6))
        #expect(world.run { phone.events.count == 4 && station.events.count == 4 })
        world.run(.seconds(5))
        for (user, sent) in [(phone, back), (station, there)] {
            #expect(user.received.count > 50_000)
            #expect(user.received.count < 1 << 20)
            #expect(user.received == sent.prefix(user.received.count))
            #expect(user.events.sorted() == ["in end", "in open", "out end", "out open"])
            #expect(user.input.streamStatus == .atEnd)
            #expect(user.output.streamStatus == .atEnd)
            #expect(!user.output.hasSpaceAvailable)
            #expect(!user.input.hasBytesAvailable)
            // Too late: the channel is closed.
            #expect(user.output.write([1], maxLength: 1) == -1)
            #expect((user.output.streamError as NSError?)?.code == Int(EPIPE))
            #expect(user.input.streamError == nil)
        }
        #expect(world.opener.log.last == "disconnected")
    }

    @Test("behaviours 8.5, 8.11: channels to several PSMs are separate, and open in the order of the requests")
    func channelsToSeveralPSMsStayApart() throws {
        let world = ChannelWorld()
        let psms = try world.connect(count: 3)
        #expect(Set(psms).count == 3)
        for psm in psms { world.opener.open(psm) }
        #expect(world.run { world.opener.users.count == 3 && world.publisher.users.count == 3 })
        #expect(world.opener.users.map { $0.channel?.psm } == psms)
        for (index, user) in world.opener.users.enumerated() {
            user.outgoing = Data([UInt8(index)])
            user.write()
        }
        world.run(.seconds(1))
        for user in world.publisher.users {
            #expect(user.received == Data([UInt8(psms.firstIndex(of: user.channel?.psm ?? 0) ?? 9)]))
        }
    }

    @Test(
        "behaviour 8.12, AB-C06: a channel that cannot be opened ends with an error",
        arguments: [0, 4, 0x27, 0x80, 0x100, 0xFFFF]
    )
    func aChannelThatCannotBeOpenedEndsInAnError(psm: CBL2CAPPSM) throws {
        let world = ChannelWorld()
        try world.connect(count: 0)
        world.opener.open(psm)
        #expect(world.run { world.opener.log.last == "not opened" })
        #expect(world.opener.lastError is CBError)
        world.run(.seconds(60))
        #expect(world.opener.log.filter { $0 == "not opened" }.count == 1)
        #expect(world.opener.isConnected)
        #expect(world.publisher.users.isEmpty)
    }

    @Test("behaviour 8.9: unpublishing closes the channels of that PSM only")
    func unpublishingClosesTheChannels() throws {
        let world = ChannelWorld()
        let psms = try world.connect(count: 2)
        for psm in psms { world.opener.open(psm) }
        world.run { world.opener.users.count == 2 && world.publisher.users.count == 2 }
        world.publisher.manager.unpublishL2CAPChannel(psms[0])
        world.run(.seconds(1))
        #expect(world.publisher.log.suffix(1) == ["unpublished 0"])
        for users in [world.opener.users, world.publisher.users] {
            #expect(users.map { $0.events.contains("in end") } == [true, false])
            #expect(users.map { $0.events.contains("out end") } == [true, false])
        }
        world.opener.open(psms[0])
        #expect(world.run { world.opener.log.last == "not opened" })
        world.publisher.manager.unpublishL2CAPChannel(psms[0])
        world.run(.seconds(1))
        #expect(world.publisher.log.last == "not unpublished")
        #expect(world.opener.isConnected)
    }

    /// The ways in which one end can end a channel.
    enum Ending: CaseIterable {
        case closed, dropped, cancelled, unplugged, switchedOff, gone
    }

    @Test(
        "behaviours 8.7, 8.8: however one end closes the channel, the other gets one end event",
        arguments: Ending.allCases
    )
    func eachEndingIsReportedOnce(ending: Ending) throws {
        let world = ChannelWorld()
        world.opener.outgoing = Data(1...100)
        let (phone, station) = try world.open()
        #expect(world.run { station.received.count == 100 })
        switch ending {
        case .closed: phone.close()
        case .dropped: phone.drop()
        case .cancelled: world.opener.cancel()
        case .unplugged: world.phone.setController(isPluggedIn: false)
        case .switchedOff: world.phone.setPower(false)
        case .gone: world.opener.letGo()
        }
        world.opener.users = ending == .dropped ? [] : [phone]
        world.run(.seconds(10))
        #expect(station.events.sorted() == ["in end", "in open", "out end", "out open"])
        let isHeard = ending != .closed && ending != .dropped
        #expect(phone.events.count == (isHeard ? 4 : 2), "\(phone.events)")
        #expect(world.opener.isConnected == !isHeard)
    }

    @Test("behaviour 8.7: releasing a channel closes it")
    func anAppThatDoesNotKeepTheChannelHasClosedIt() throws {
        let world = ChannelWorld()
        world.publisher.isKeeping = false
        world.opener.open(try world.connect()[0])
        #expect(world.run { world.opener.users.first?.events.contains("in end") == true })
        world.publisher.isKeeping = true
        world.opener.isKeeping = false
        world.opener.open(world.publisher.psms[0])
        #expect(world.run { world.publisher.users.first?.events.contains("in end") == true })
    }

    @Test("data written before the streams are closed still arrives")
    func dataWrittenBeforeClosingArrives() throws {
        let world = ChannelWorld()
        let (phone, station) = try world.open()
        phone.outgoing = ChannelWorld.noise(30_000, seed: 3)
        phone.portion = 30_000
        phone.write()
        phone.close()
        #expect(phone.sent == 30_000)
        world.run(.seconds(5))
        #expect(station.received == phone.outgoing)
        #expect(station.events.contains("in end"))
    }

    @Test("data that a peer sent before it left can be read afterwards")
    func dataReceivedBeforeClosingRemainsReadable() throws {
        let world = ChannelWorld()
        let (phone, station) = try world.open()
        station.isReading = false
        phone.outgoing = ChannelWorld.noise(60_000, seed: 3)
        phone.portion = 60_000
        world.run(.seconds(5)) {
            phone.write(); return false
        }
        let sent = phone.sent
        world.opener.cancel()
        world.run(.seconds(5))
        #expect(!station.events.contains("in end"))
        station.isReading = true
        while station.input.hasBytesAvailable { station.read() }
        world.run(.seconds(1))
        #expect(station.received.count > 32_768)
        #expect(station.received.count <= sent)
        #expect(station.received == phone.outgoing.prefix(station.received.count))
        #expect(station.events.contains("in end"))
    }

    @Test("AB-G05: a reader that stops stops the writer, and nothing grows or is lost")
    func stalledReadersStopTheWriter() throws {
        let world = ChannelWorld()
        let (phone, station) = try world.open()
        station.isReading = false
        phone.outgoing = ChannelWorld.noise(500_000, seed: 4)
        world.run(.seconds(60)) {
            phone.write(); return false
        }
        let sent = phone.sent
        // Two windows between app and service, the buffers of the controllers and the link, and the L2CAP credits.
        #expect(sent > 65_536 && sent < 2 * 32_768 + 4 * 2_048 + 20_000, "\(sent)")
        #expect(!phone.output.hasSpaceAvailable)
        world.run(.seconds(60)) {
            phone.write(); return false
        }
        #expect(phone.sent == sent)
        station.isReading = true
        station.read()
        #expect(world.run(.seconds(120)) { station.received.count == 500_000 })
        #expect(station.received == phone.outgoing)
    }

    @Test("streams outside a run loop can be polled")
    func withoutARunLoopStreamsAreAsked() throws {
        let world = ChannelWorld(isScheduled: false)
        let (phone, station) = try world.open()
        #expect(phone.output.hasSpaceAvailable)
        #expect(!phone.input.hasBytesAvailable)
        #expect(phone.input.streamStatus == .open)
        #expect(phone.output.streamStatus == .open)
        // Blocking would stop virtual time and wait for ever, so these calls do not block.
        var octet: UInt8 = 0
        #expect(phone.input.read(&octet, maxLength: 1) == -1)
        #expect(phone.output.write([1, 2, 3], maxLength: 3) == 3)
        #expect(world.run { station.input.hasBytesAvailable })
        station.read()
        #expect(station.received == Data([1, 2, 3]))
        #expect(phone.events == [])
        #expect(station.events == [])
        phone.close()
        #expect(world.run { station.input.streamStatus == .atEnd })
        #expect(station.input.read(&octet, maxLength: 1) == 0)
    }

    @Test("a seed determines all packets with channels too, and another seed differs")
    func oneSeedGivesTheSamePackets() throws {
        func capture(seed: UInt64) throws -> [UInt8] {
            let world = ChannelWorld(seed: seed, lossRate: 0.1)
            world.opener.outgoing = ChannelWorld.noise(50_000, seed: 1)
            world.publisher.outgoing = ChannelWorld.noise(50_000, seed: 2)
            let (phone, station) = try world.open()
            world.run(.seconds(60)) { phone.received.count == 50_000 && station.received.count == 50_000 }
            #expect(phone.received.count == 50_000)
            return world.capture.bytes
        }
        let first = try capture(seed: 5)
        #expect(try capture(seed: 5) == first)
        #expect(try capture(seed: 6) != first)
    }
}
