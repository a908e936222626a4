import BluetoothTypes
import EventLoops
import Foundation
import GATT
import Security
import ServiceMessages
import Testing

@testable import BluetoothService

/// Packets of a peer that overtake an answer which the system waits for. The application of a peer runs beside its
/// attribute server, so this may happen to each answer. Each test tries each place in the order of the packets.
@Suite struct OvertakingTests {
    /// The packets that overtake an answer.
    enum Extra: CaseIterable {
        case notifications, indication, both, exchange, request

        var values: [[UInt8]] {
            switch self {
            case .notifications: [[1], [2]]
            case .indication: [[3]]
            case .both: [[4], [5, 5]]
            case .exchange, .request: []
            }
        }

        func send(by peer: OvertakingPeer) {
            switch self {
            case .notifications: values.forEach(peer.notify)
            case .indication: values.forEach(peer.indicate)
            case .both:
                peer.notify(values[0])
                peer.indicate(values[1])
            // Exchange MTU Request and Read By Group Type Request, of all primary services.
            case .exchange: peer.send([0x02, 100, 0])
            case .request: peer.send([0x10, 1, 0, 0xFF, 0xFF, 0x00, 0x28])
            }
        }
    }

    /// A session of the app, and where in it the app wanted values.
    private struct Session {
        let peer: OvertakingPeer
        var results: [String] = []
        /// The numbers of the requests during which the app had asked for values.
        var asking = 0..<0

        /// - Parameter isPaired: Whether the app also reads a value for which the devices pair.
        init(_ role: OvertakingPeer.Role, isPaired: Bool, before: (OvertakingPeer) -> Void) throws {
            peer = try OvertakingPeer(phoneIs: role)
            before(peer)
            try peer.connect()
            let found = try peer.discover()
            results.append("\(found.keys.map(\.description).sorted())")
            let start = peer.requests.count
            results.append("\(try peer.setNotify(true))")
            try read(peer.value)
            if isPaired, let secret = found[OvertakingPeer.secret] { try read(secret) }
            results.append("\(try peer.setNotify(false))")
            asking = start..<peer.requests.count
            peer.air.world.run(.seconds(2))
        }

        private mutating func read(_ handle: AttributeHandle) throws {
            peer.request(.readCharacteristic(handle))
            let value = try peer.wait("value") { if case .valueRead(handle, let value) = $0 { value } else { nil } }
            results.append("\(value.map(\.bytes))")
        }
    }

    @Test(
        "behaviours 5.28, 6.1: values and requests of a peer that overtake any answer, also while the devices pair, change nothing else, and the app receives the values that it asked for",
        arguments: Extra.allCases,
        OvertakingPeer.Role.allCases
    )
    func valuesThatOvertakeAResponseArrive(extra: Extra, role: OvertakingPeer.Role) throws {
        let plain = try Session(role, isPaired: true) { _ in }
        #expect(plain.peer.values == [])
        #expect(plain.peer.phone.links.all.first?.secureLink.bond != nil)
        let count = plain.peer.requests.count
        #expect(count > 10)
        // Before the first packet of the phone, or during its requests.
        for place in -1..<count {
            let session = try Session(role, isPaired: true) { peer in
                peer.onLink = { [unowned peer] in if place < 0 { extra.send(by: peer) } }
                peer.onRequest = { [unowned peer] number, _ in
                    if number == place { extra.send(by: peer) }
                    return .served
                }
            }
            let isAsked = session.asking.contains(place)
            #expect(session.results == plain.results, "at \(place)")
            #expect(session.peer.values == (isAsked ? extra.values : []), "at \(place) of \(session.asking)")
            let answers = session.peer.others.filter { $0[0] == (extra == .exchange ? 0x03 : 0x11) }.count
            #expect(answers == (extra == .exchange || extra == .request ? 1 : 0), "at \(place)")
            #expect(session.peer.confirmations == (extra == .indication || extra == .both ? 1 : 0), "at \(place)")
        }
    }

    /// The peer sends a value each 7.3 ms, beside all that the session consists of.
    @Test(
        "behaviours 5.28, 6.1: no value is lost between the beginning of a subscription and its end, whatever happens on the link meanwhile",
        arguments: [0, 1_900, 3_700, 5_500],
        OvertakingPeer.Role.allCases
    )
    func aStreamHasNoGap(offset: Int64, role: OvertakingPeer.Role) throws {
        var sent: UInt8 = 0
        var subscribed: Range<UInt8>?
        let session = try Session(role, isPaired: true) { peer in
            let loop = peer.air.world.loop
            func tick() {
                guard sent < 250 else { return }
                sent += 1
                peer.notify([sent])
                loop.schedule(after: .microseconds(7_300)) { [weak peer] in if peer != nil { tick() } }
            }
            peer.onRequest = { [unowned peer] number, pdu in
                let isConfiguration = pdu[0] == 0x12 && pdu[1...2] == le(Int(peer.configuration))[...]
                if number == 0 { loop.schedule(after: .microseconds(offset)) { tick() } }
                if isConfiguration { subscribed = pdu[3] == 0 ? subscribed.map { $0.lowerBound..<sent } : sent..<250 }
                return .served
            }
        }
        let range = try #require(subscribed)
        let values = session.peer.values.compactMap(\.first)
        #expect(range.count > 10)
        #expect(Set(range.dropFirst()).isSubset(of: values))
        #expect(values == values.sorted())
        #expect(Set(values).count == values.count)
    }

    // MARK: Subscriptions that are refused

    /// The error codes with which the peer refuses the write of its client configuration.
    private static let refusals: [UInt8] = [0x01, 0x03, 0x05, 0x08, 0x0A, 0x0E, 0x80, 0xFD]

    @Test(
        "behaviours 4.21, 5.28, AB-A09: a value that overtakes the refusal of a subscription arrives; later ones do only where the peer has no client configuration",
        arguments: refusals
    )
    func aValueOvertakesARefusal(code: UInt8) throws {
        let peer = try OvertakingPeer(phoneIs: .central)
        peer.onRequest = { [unowned peer] _, pdu in
            guard pdu[0] == 0x12, pdu[1...2] == le(Int(peer.configuration))[...] else { return .served }
            peer.indicate([1])
            return .answered([0x01] + pdu[...2] + [code])
        }
        try peer.connect()
        _ = try peer.discover()
        peer.phone.peers.deviceSecurity.prompter = nil
        let outcome = try peer.setNotify(true)
        #expect(outcome.isNotifying == false)
        #expect(outcome.error?.code == .att(ATTStatus(rawValue: code)))
        peer.notify([2])
        peer.air.world.run(.seconds(1))
        #expect(peer.values.last == (code == 0x0A ? [2] : [1]))
        #expect(peer.confirmations == peer.values.count { $0 == [1] })
    }

    @Test("behaviour 5.28: a value that overtakes the refusal to unsubscribe arrives, and so do later ones")
    func aValueOvertakesARefusalToUnsubscribe() throws {
        let peer = try OvertakingPeer(phoneIs: .central)
        try peer.connect()
        _ = try peer.discover()
        #expect(try peer.setNotify(true).isNotifying)
        peer.onRequest = { [unowned peer] _, pdu in
            peer.notify([1])
            return .answered([0x01] + pdu[...2] + [0x80])
        }
        let outcome = try peer.setNotify(false)
        #expect(outcome.isNotifying)
        #expect(outcome.error?.code == .att(ATTStatus(rawValue: 0x80)))
        peer.notify([2])
        peer.air.world.run(.seconds(1))
        #expect(peer.values == [[1], [2]])
    }

    // MARK: Peers without a client configuration

    /// A peer that lists no descriptors.
    private static func bare(_ properties: CharacteristicProperties = [.read, .notify]) throws -> OvertakingPeer {
        let peer = try OvertakingPeer(phoneIs: .central, properties: properties)
        peer.onRequest = { [unowned peer] _, pdu in
            let isSearch = pdu[0] == 0x04 && Int(pdu[1]) | Int(pdu[2]) << 8 > Int(peer.value)
            return isSearch ? .answered([0x01] + pdu[...2] + [0x0A]) : .served
        }
        try peer.connect()
        _ = try peer.discover()
        return peer
    }

    @Test(
        "behaviour 4.21, AB-A09: without a client configuration, subscribing fails with attribute not found, and the values of this characteristic arrive until the app no longer wants them",
        arguments: [CharacteristicProperties.notify, .indicate, [.notify, .indicate]]
    )
    func aPeerWithoutAConfiguration(properties: CharacteristicProperties) throws {
        let peer = try Self.bare(properties)
        peer.notify([0])
        peer.air.world.run(.seconds(1))
        for _ in 0..<2 {
            let outcome = try peer.setNotify(true)
            #expect(outcome.isNotifying == false)
            #expect(outcome.error?.code == .att(ATTStatus(rawValue: 0x0A)))
        }
        peer.notify([1])
        peer.indicate([2])
        // A characteristic that no app has asked for.
        peer.send([0x1B] + le(Int(peer.value) + 2) + [3])
        peer.air.world.run(.seconds(1))
        #expect(peer.values == [[1], [2]])
        #expect(peer.app.events.count { if case .central(.peer(_, .valueNotified)) = $0 { true } else { false } } == 2)
        let end = try peer.setNotify(false)
        #expect(end.isNotifying == false)
        #expect(end.error == nil)
        peer.notify([4])
        peer.air.world.run(.seconds(1))
        #expect(peer.values == [[1], [2]])
    }

    @Test("AB-A09: apps listen to 256 characteristics of a peer without a client configuration at most")
    func listeningIsBounded() throws {
        let peer = try OvertakingPeer(phoneIs: .central)
        let many = (0...256 as ClosedRange<UInt16>).map { number in
            CharacteristicDefinition(
                BluetoothUUID(0xE000 + number),
                properties: .notify,
                permissions: AttributePermissions()
            )
        }
        let handles = try peer.accessory.database.add(ServiceDefinition(0xFFEC, characteristics: many)).characteristics
            .map(\.value)
        peer.onRequest = { _, pdu in pdu[0] == 0x04 ? .answered([0x01] + pdu[...2] + [0x0A]) : .served }
        try peer.connect()
        _ = try peer.discover()
        for handle in handles {
            #expect(try peer.setNotify(true, of: handle).error?.code == .att(ATTStatus(rawValue: 0x0A)))
        }
        func received() -> Int {
            peer.forgetEvents()
            for handle in handles { peer.send([0x1B] + le(Int(handle)) + [1]) }
            peer.air.world.run(.seconds(10))
            return peer.app.events.count { if case .central(.peer(_, .valueNotified)) = $0 { true } else { false } }
        }
        #expect(received() == LinkSubscriptions.maximumListened)
        // One that is not listened to any more makes room.
        _ = try peer.setNotify(false, of: handles[0])
        _ = try peer.setNotify(true, of: handles[256])
        #expect(received() == LinkSubscriptions.maximumListened)
    }

    @Test("behaviours 4.21, 5.19, AB-A09: what an app without a subscription listens to ends with the connection")
    func listeningEndsWithTheConnection() throws {
        let peer = try Self.bare()
        _ = try peer.setNotify(true)
        try peer.disconnect()
        try peer.connect()
        _ = try peer.discover()
        peer.notify([1])
        peer.air.world.run(.seconds(1))
        #expect(peer.values == [])
        // Another manager has not asked.
        _ = try peer.setNotify(true)
        let other = peer.air.world.manager(.central, on: peer.phone)
        try other.connect(peer.peer)
        peer.notify([2])
        peer.air.world.run(.seconds(1))
        #expect(peer.values == [[2]])
        #expect(other.events.allSatisfy { $0.value == nil })
    }
}
