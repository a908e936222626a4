import BluetoothTypes
import Foundation
import GAP
import SampleMessages
import ServiceMessages
import TestBasics
import Testing

@testable import BluetoothService
@testable import L2CAP

/// Peers that violate the channel protocol, as an app sees them: a channel ends or fails to open exactly once, and the
/// link stays up.
@Suite struct ChannelAbuseTests {
    /// Invalid frames on a channel with an MTU of 2,048 octets and frames of 247.
    enum BadData: CaseIterable {
        case noLength, halfLength, longSDU, overrun, longFrame, emptyFrame

        var frames: [[UInt8]] {
            switch self {
            case .noLength: [[]]
            case .halfLength: [[5]]
            case .longSDU: [le(2_049) + [1]]
            case .overrun: [le(3) + [1], [2, 3, 4]]
            case .longFrame: [le(300) + [UInt8](repeating: 1, count: 246)]
            case .emptyFrame: [le(3) + [1], []]
            }
        }
    }

    @Test(
        "AB-C02: frames that violate the protocol end an app's channel, and nothing else",
        arguments: BadData.allCases,
        [false, true]
    )
    func framesThatBreakARule(data: BadData, isEnhanced: Bool) throws {
        let peer = RawPeer(.peripheral)
        let psm = try peer.connectToPublisher()
        let (cid, id) = try peer.open(psm, isEnhanced: isEnhanced)
        peer.send(le(2) + [8, 9], on: cid)
        #expect(peer.told(id) == [.received([8, 9])])
        for frame in data.frames { peer.send(frame, on: cid) }
        let told = peer.told(id)
        #expect(told.count == 1)
        guard case .ended(let error) = told.first else { return recordIssue("\(told)") }
        #expect(error?.code == .core(.unknown))
        // The code of L2CAP_DISCONNECTION_REQ.
        #expect(peer.takeSignals().first?.first == 0x06)
        #expect(peer.system.links.all.count == 1)
    }

    @Test("AB-C02, AB-G05: empty SDUs and bulk frames reach no app and use no memory")
    func emptySDUsInBulk() throws {
        let peer = RawPeer(.peripheral)
        let (cid, id) = try peer.open(try peer.connectToPublisher())
        for _ in 0..<40 { peer.send(le(0), on: cid) }
        peer.send(le(1) + [7], on: cid)
        #expect(peer.told(id) == [.received([7])])
    }

    /// Requests for impossible channels, and what the response must not contain.
    @Test(
        "AB-C03, AB-C06: invalid requests for channels have no effect on an app",
        arguments: [
            ("PSM 0", 0x17, le(0) + le(100) + le(100) + le(1) + le(0x41)),
            ("no channel", 0x17, le(0x80) + le(100) + le(100) + le(1)),
            ("six channels", 0x17, le(0x80) + le(100) + le(100) + le(1) + (0x41...0x46).flatMap { le($0) }),
            ("one channel twice", 0x17, le(0x80) + le(100) + le(100) + le(1) + le(0x41) + le(0x41)),
            ("a fixed channel", 0x17, le(0x80) + le(100) + le(100) + le(1) + le(0x3F)),
            ("half a channel", 0x17, le(0x80) + le(100) + le(100) + le(1) + le(0x41) + [0x42]),
            ("PSM 0, one channel", 0x14, le(0) + le(0x41) + le(100) + le(100) + le(1)),
            ("unpublished PSM", 0x14, le(0x81) + le(0x41) + le(100) + le(100) + le(1)),
            ("PSM outside of the range", 0x14, le(0x100) + le(0x41) + le(100) + le(100) + le(1)),
            ("the signalling channel", 0x14, le(0x80) + le(0x05) + le(100) + le(100) + le(1)),
            ("MTU below 23", 0x14, le(0x80) + le(0x41) + le(22) + le(100) + le(1)),
        ] as [(String, UInt8, [UInt8])]
    )
    func requestsForChannelsThatCannotBe(fault: String, code: UInt8, fields: [UInt8]) throws {
        let peer = RawPeer(.peripheral)
        let psm = try peer.connectToPublisher()
        try #require(psm == 0x80)
        peer.app.take()
        _ = peer.signal(code, 9, fields)
        #expect(peer.app.take().isEmpty)
        #expect(peer.link?.isOpen == true)
        // The next channel works as usual.
        let (cid, id) = try peer.open(psm)
        peer.send(le(1) + [7], on: cid)
        #expect(peer.told(id) == [.received([7])])
    }

    @Test(
        "AB-C04, AB-C05: invalid reconfigurations and unsolicited responses leave an app's channel unchanged",
        arguments: [
            ("MTU of 10", 0x19, le(10) + le(100) + le(0x41)), ("MPS of 10", 0x19, le(100) + le(10) + le(0x41)),
            ("unknown channel", 0x19, le(200) + le(200) + le(0x99)),
            ("six channels", 0x19, le(200) + le(200) + (0x41...0x46).flatMap { le($0) }),
            ("half a reconfigure response", 0x1A, [0]), ("reconfigure response", 0x1A, le(0)),
            ("half a connection response", 0x15, le(0x50)), ("half an enhanced connection response", 0x18, le(100)),
            ("disconnection response", 0x07, le(0x41)), ("command reject", 0x01, le(0)),
        ] as [(String, UInt8, [UInt8])]
    )
    func answersToNothing(fault: String, code: UInt8, fields: [UInt8]) throws {
        let peer = RawPeer(.peripheral)
        let (cid, id) = try peer.open(try peer.connectToPublisher(), isEnhanced: true)
        _ = peer.signal(code, 77, fields)
        peer.send(le(1) + [7], on: cid)
        #expect(peer.told(id) == [.received([7])])
        peer.app.send(.channel(id, .send([1, 2])))
        #expect(peer.told(id) == [.room(2)])
        #expect(peer.takeData() == [le(2) + [1, 2]])
    }

    @Test("AB-C07: credits beyond 65,535 end an app's channel", arguments: [false, true])
    func tooManyCredits(isEnhanced: Bool) throws {
        let peer = RawPeer(.peripheral)
        let (_, id) = try peer.open(try peer.connectToPublisher(), isEnhanced: isEnhanced)
        peer.signal(0x16, 8, le(0x41) + le(65_435))
        #expect(peer.told(id) == [])
        peer.signal(0x16, 9, le(0x41) + le(1))
        guard case .ended(.some) = peer.told(id).first else { return recordIssue("the channel goes on") }
        #expect(peer.system.links.all.count == 1)
    }

    @Test("AB-C07: data without credits ends an app's channel, which keeps earlier data")
    func dataWithoutCredits() throws {
        let peer = RawPeer(.peripheral)
        let (cid, id) = try peer.open(try peer.connectToPublisher())
        // The app receives one window of these, and then the peer gets no more credits.
        let frame = le(245) + [UInt8](repeating: 5, count: 245)
        for _ in 0..<300 { peer.send(frame, on: cid) }
        let told = peer.told(id)
        #expect(told.reduce(0) { $0 + $1.count } == ServiceLimits.channelWindow)
        #expect(!told.contains { $0.isEnd })
        #expect(peer.takeSignals().contains { $0.first == 0x06 })
        // Data that arrived before the end can still be read.
        peer.app.send(.channel(id, .grant(ServiceLimits.channelWindow)))
        let rest = peer.told(id)
        #expect((245 * 32...245 * 65).contains(rest.reduce(0) { $0 + $1.count }))
        #expect(rest.last?.isEnd == true)
        #expect(rest.count { $0.isEnd } == 1)
    }

    @Test("AB-C08: data that arrives after the end of a channel, and a second end, are dropped")
    func dataCrossTheEnd() throws {
        let peer = RawPeer(.peripheral)
        let (cid, id) = try peer.open(try peer.connectToPublisher())
        peer.app.send(.channel(id, .close))
        peer.send(le(1) + [7], on: cid)
        peer.signal(0x06, 20, le(Int(cid)) + le(0x41))
        peer.signal(0x06, 21, le(Int(cid)) + le(0x41))
        #expect(peer.told(id) == [])
        #expect(peer.link?.isOpen == true)
    }

    private func opened(_ peer: RawPeer) -> [Result<ChannelID, ServiceError>] {
        peer.app.take().compactMap { event in
            if case .central(.peer(_, .channelOpened(psm: 0x80, let result))) = event { result } else { nil }
        }
    }

    @Test("AB-C05, AB-C08: an open request with a wrong, late or missing response ends once and leaves no channel")
    func anOpenThatIsAnsweredWronglyOrLate() throws {
        let peer = RawPeer(.central)
        let name = try peer.connectToPeer()
        peer.app.take()
        peer.app.send(.central(.peer(name, .link(.openChannel(psm: 0x80)))))
        peer.air.world.run(.seconds(1))
        let request = try #require(peer.takeSignals().first { $0.first == 0x14 })
        // Too short, with another identifier, and with another code.
        peer.signal(0x15, request[1], le(0x41) + le(100))
        peer.signal(0x15, request[1] &+ 1, le(0x41) + le(100) + le(100) + le(1) + le(0))
        peer.signal(0x18, request[1], le(100) + le(100) + le(1) + le(0) + le(0x41))
        peer.air.world.run(.seconds(40))
        let results = opened(peer)
        #expect(results.count == 1)
        guard case .failure = results.first else { return recordIssue("\(results)") }
        peer.signal(0x15, request[1], le(0x41) + le(100) + le(100) + le(1) + le(0))
        peer.air.world.run(.seconds(2))
        #expect(opened(peer).isEmpty)
        #expect(peer.link?.isOpen == true)
    }

    @Test("AB-C08: a link that is lost and an app that ends while a channel is opening leave no channel")
    func anAppThatLeavesWhileItOpens() throws {
        let peer = RawPeer(.central)
        let name = try peer.connectToPeer()
        peer.app.take()
        peer.app.send(.central(.peer(name, .link(.openChannel(psm: 0x80)))))
        peer.air.world.run(.seconds(1))
        let request = try #require(peer.takeSignals().first { $0.first == 0x14 })
        let other = peer.air.world.manager(.central, on: peer.system)
        try other.connect(name)
        peer.app.send(.cancelConnection(peer: name))
        let answer = peer.signal(0x15, request[1], le(0x41) + le(100) + le(100) + le(1) + le(0))
        // The channel is closed because no request for it is pending any more.
        #expect(answer.contains { $0.first == 0x06 })
        #expect(opened(peer).isEmpty)
        #expect(peer.system.links.all.first?.link.l2cap.creditBasedChannels.isEmpty == true)
    }

    @Test("AB-G05: an app's channels are limited, and a peer that opens more is refused")
    func thereIsABoundOnChannels() throws {
        let peer = RawPeer(.peripheral)
        let psm = try peer.connectToPublisher()
        var results: [UInt8] = []
        // Each channel is closed again, but the app does not consume the events.
        for index in 0..<ServiceLimits.channels + 5 {
            let answer =
                peer.signal(0x14, UInt8(index + 1), le(Int(psm)) + le(0x41) + le(100) + le(100) + le(1)).first ?? []
            results.append(answer.count == 14 ? answer[12] : 0xFF)
            guard results.last == 0 else { continue }
            peer.signal(0x06, 200, le(Int(answer[4]) | Int(answer[5]) << 8) + le(0x41))
        }
        #expect(results.count { $0 == 0 } == ServiceLimits.channels)
        // No resources available (Core Vol 3 Part A 4.23).
        #expect(results.suffix(5).allSatisfy { $0 == 4 })
        let psms = (0..<ServiceLimits.publishedChannels.app + 1).map { _ -> Bool in
            peer.app.send(.peripheral(.publishChannel(needsEncryption: false)))
            peer.air.world.run(.milliseconds(10))
            return peer.app.take().contains { event in
                if case .peripheral(.channelPublished(_, nil, _)) = event { true } else { false }
            }
        }
        #expect(psms.count { $0 } == ServiceLimits.publishedChannels.app - 1)
    }

    @Test(
        "AB-G05: all managers of an app share its limit of channels, and other apps have their own"
    )
    func channelsOfAnApp() throws {
        let peer = RawPeer(.peripheral)
        let psm = try peer.connectToPublisher()
        var identifier: UInt8 = 0
        func open(_ psm: UInt16) -> UInt8 {
            identifier += 1
            let answer =
                peer.signal(0x14, identifier, le(Int(psm)) + le(0x41) + le(100) + le(100) + le(1)).first ?? []
            guard answer.count == 14, answer[12] == 0 else { return answer.count == 14 ? answer[12] : 0xFF }
            peer.signal(0x06, 200, le(Int(answer[4]) | Int(answer[5]) << 8) + le(0x41))
            return 0
        }
        func publish(_ app: InProcessConnection) throws -> UInt16 {
            let manager = peer.air.world.manager(.peripheral, of: app, restoring: nil, isReopened: false)
            let request = Request.peripheral(.publishChannel(needsEncryption: false))
            return try manager.ask(request, "channelPublished") { event in
                if case .peripheral(.channelPublished(let psm, nil, _)) = event { psm } else { nil }
            }
        }
        for _ in 0..<ServiceLimits.sharedChannels.app { #expect(open(psm) == 0) }
        #expect(open(try publish(peer.app.connection)) == 4)
        let modest = peer.system.openApp(AppIdentity(name: "modest"))
        #expect(open(try publish(modest)) == 0)
        withExtendedLifetime(modest) {}
    }

    @Test("AB-G05: an app that exceeds its send window loses its channel")
    func anAppThatSendsTooMuch() throws {
        let peer = RawPeer(.peripheral)
        let (_, id) = try peer.open(try peer.connectToPublisher(), credits: 0)
        let block = PacketBuffer([UInt8](repeating: 1, count: 16_384))
        for _ in 0..<3 { peer.app.send(.channel(id, .send(block))) }
        let told = peer.told(id)
        guard case .ended(let error) = told.last else { return recordIssue("\(told)") }
        #expect(error?.code == .core(.outOfSpace))
    }

    @Test("AB-G05: a peer that does not read does not keep a closed channel alive")
    func aPeerThatTakesNothing() throws {
        let peer = RawPeer(.peripheral)
        let (_, id) = try peer.open(try peer.connectToPublisher(), credits: 0)
        peer.app.send(.channel(id, .send([1, 2, 3])))
        peer.app.send(.channel(id, .close))
        peer.air.world.run(AppChannel.closingTime - .seconds(1))
        #expect(peer.takeSignals().isEmpty)
        peer.air.world.run(.seconds(2))
        #expect(peer.takeSignals().map(\.first) == [0x06])
    }
}

extension ChannelEvent {
    fileprivate var count: Int { if case .received(let octets) = self { octets.count } else { 0 } }
    fileprivate var isEnd: Bool { if case .ended = self { true } else { false } }
}
