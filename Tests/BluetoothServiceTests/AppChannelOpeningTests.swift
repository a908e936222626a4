import BluetoothTypes
import Foundation
import GAP
import SampleMessages
import ServiceMessages
import TestBasics
import Testing

@testable import BluetoothService
@testable import L2CAP

/// How an app's channel is opened with peers that support only one channel mode, or without asking the peer at all.
@Suite struct AppChannelOpeningTests {
    private typealias Opened = Result<ChannelID, ServiceError>

    /// A peer, and an app that has requested a channel with it.
    private struct Attempt {
        let peer: RawPeer
        let psm: UInt16
        let name: UUID

        init(on psm: UInt16 = 0x80) throws {
            peer = RawPeer(.central)
            self.psm = psm
            name = try peer.connectToPeer()
            peer.app.take()
            _ = peer.takeSignals()
            peer.app.send(.central(.peer(name, .link(.openChannel(psm: psm)))))
            peer.air.world.run(.seconds(1))
        }

        /// The request that the peer received.
        func request(_ code: UInt8) throws -> [UInt8] {
            try #require(peer.takeSignals().first { $0.first == code })
        }

        /// The results reported to the app since the last call.
        func opened() -> [Opened] {
            peer.app.take().compactMap { event in
                if case .central(.peer(_, .channelOpened(psm, let result))) = event { result } else { nil }
            }
        }

        /// Rejects a request as not understood (Core Vol 3 Part A 4.1), and returns the peer's next signals.
        func reject(_ request: [UInt8]) -> [[UInt8]] { peer.signal(0x01, request[1], le(0)) }
    }

    @Test(
        "behaviour 8.4: a peer that supports only enhanced channels gets an enhanced request, and data crosses both ways"
    )
    func aPeerThatKnowsEnhancedChannelsAlone() throws {
        let attempt = try Attempt()
        let again = try #require(attempt.reject(try attempt.request(0x14)).first)
        #expect(again.first == 0x17 && Array(again[4..<6]) == le(0x80))
        let own = UInt16(again[12]) | UInt16(again[13]) << 8
        attempt.peer.signal(0x18, again[1], le(100) + le(100) + le(10) + le(0) + le(0x41))
        let id = try #require(try attempt.opened().first?.get())
        attempt.peer.app.send(.channel(id, .grant(ServiceLimits.channelWindow)))
        attempt.peer.send(le(2) + [8, 9], on: own)
        #expect(attempt.peer.told(id) == [.received([8, 9])])
        attempt.peer.app.send(.channel(id, .send([1, 2, 3])))
        #expect(attempt.peer.told(id) == [.room(3)])
        #expect(attempt.peer.takeData() == [le(3) + [1, 2, 3]])
    }

    @Test(
        "behaviour 8.12: a peer without channel support is asked once in each mode, and the app gets one error"
    )
    func aPeerThatKnowsNoChannels() throws {
        let attempt = try Attempt()
        let again = try #require(attempt.reject(try attempt.request(0x14)).first)
        #expect(attempt.reject(again) == [])
        let results = attempt.opened()
        #expect(results.count == 1)
        guard case .failure(let error) = results.first else { return recordIssue("\(results)") }
        #expect(error.code == .core(.operationNotSupported))
        attempt.peer.air.world.run(.seconds(60))
        #expect(attempt.opened().isEmpty)
        #expect(attempt.peer.takeSignals().isEmpty)
        #expect(attempt.peer.link?.isOpen == true)
    }

    @Test(
        "behaviour 8.12: a request that a peer refuses in one mode is not repeated in the other",
        arguments: [2, 4, 9]
    )
    func refusedRequestsAreNotRepeatedInTheOtherMode(result: Int) throws {
        let attempt = try Attempt()
        let request = try attempt.request(0x14)
        #expect(attempt.peer.signal(0x15, request[1], le(0) + le(0) + le(0) + le(0) + le(result)) == [])
        let results = attempt.opened()
        guard results.count == 1, case .failure = results.first else { return recordIssue("\(results)") }
    }

    @Test(
        "behaviour 8.8: cancelling a connection closes the app's channels even if another app keeps the link"
    )
    func anAppThatCancelsHasItsChannelsClosed() throws {
        let attempt = try Attempt()
        let request = try attempt.request(0x14)
        attempt.peer.signal(0x15, request[1], le(0x41) + le(100) + le(100) + le(10) + le(0))
        let opened = try attempt.opened().map { try $0.get() }
        #expect(opened.count == 1)
        let other = attempt.peer.air.world.manager(.central, on: attempt.peer.system)
        try other.connect(attempt.name)
        attempt.peer.app.send(.cancelConnection(peer: attempt.name))
        attempt.peer.air.world.run(.seconds(1))
        #expect(attempt.peer.takeSignals().map(\.first) == [0x06])
        #expect(attempt.peer.link?.isOpen == true)
    }

    @Test(
        "AB-C06: opening a channel to ATT's PSM fails without a request to the peer"
    )
    func theNumberOfTheAttributeProtocolIsNoApps() throws {
        let attempt = try Attempt(on: 0x27)
        #expect(attempt.peer.takeSignals().isEmpty)
        let results = attempt.opened()
        guard results.count == 1, case .failure(let error) = results.first else { return recordIssue("\(results)") }
        #expect(error.code == .core(.connectionFailed))
        #expect(attempt.peer.system.links.all.first?.link.l2cap.creditBasedChannels.isEmpty == true)
    }
}
