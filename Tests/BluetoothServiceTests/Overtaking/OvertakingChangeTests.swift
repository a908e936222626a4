import BluetoothTypes
import EventLoops
import GAP
import GATT
import ServiceMessages
import Testing

/// The services of a peer change while the system waits for any of its answers.
@Suite struct OvertakingChangeTests {
    enum Change: CaseIterable {
        /// Another service is published.
        case added
        /// Another service takes the handles of the one that the app uses.
        case replaced
    }

    enum Acquaintance: CaseIterable {
        case stranger
        /// The table is cached, with the Database Hash that it belongs to.
        case bondedWithHash
        /// The table is cached for as long as the peer indicates no change.
        case bondedWithoutHash
    }

    private static let other: BluetoothUUID = 0xFFEA
    private static let otherValue: BluetoothUUID = 0xFFEB

    private struct Bench {
        let peer: OvertakingPeer
        /// The handle of Service Changed.
        let changed: UInt16
        private let isBonded: Bool

        init(_ acquaintance: Acquaintance) throws {
            isBonded = acquaintance != .stranger
            peer = try OvertakingPeer(phoneIs: .central, hasHash: acquaintance != .bondedWithoutHash)
            try peer.connect()
            let secret = try #require(try peer.discover()[OvertakingPeer.secret])
            let write = try #require(peer.requests.first { $0[0] == 0x12 && $0.suffix(2) == [2, 0] })
            changed = (UInt16(write[1]) | UInt16(write[2]) << 8) - 1
            if isBonded {
                peer.request(.readCharacteristic(secret))
                try peer.wait("value") { event in
                    if case .valueRead(secret, let value) = event { value } else { nil }
                }
                try peer.disconnect()
                try peer.connect()
                _ = try peer.discover()
            }
            try peer.disconnect()
        }

        /// Changes the services, and indicates it to a bonded phone, which had subscribed on an earlier connection
        /// (Core Vol 3 Part G 7.1). The server indicates it to any other that is subscribed by now.
        func perform(_ change: Change) {
            if change == .replaced { _ = try? peer.accessory.database.remove(peer.value - 2) }
            _ = try? peer.accessory.publish(OvertakingChangeTests.other, OvertakingChangeTests.otherValue)
            if isBonded { peer.send([0x1D] + le(Int(changed)) + [1, 0, 0xFF, 0xFF]) }
        }
    }

    /// The number of requests in an undisturbed connection.
    private static func count(_ acquaintance: Acquaintance) throws -> (before: Int, count: Int) {
        let bench = try Bench(acquaintance)
        let before = bench.peer.requests.count
        try bench.peer.connect()
        _ = try bench.peer.discover()
        bench.peer.air.world.run(.seconds(1))
        return (before, bench.peer.requests.count - before)
    }

    @Test(
        "behaviours 4.13, 5.28, AB-A11: services that change while any answer is outstanding are discovered as they are afterwards, also if the link is lost at once",
        arguments: Change.allCases,
        Acquaintance.allCases
    )
    func servicesChangeDuringAnyAnswer(change: Change, acquaintance: Acquaintance) throws {
        let (before, count) = try Self.count(acquaintance)
        #expect(count > 0)
        for place in 0..<count {
            for isLost in [false, true] {
                let bench = try Bench(acquaintance)
                let peer = bench.peer
                var isOver = false
                peer.onRequest = { [unowned peer] number, _ in
                    guard number == before + place else { return .served }
                    bench.perform(change)
                    guard isLost else { return .served }
                    isOver = true
                    peer.air.world.loop.schedule(after: .milliseconds(200)) { [weak peer] in peer?.link?.terminate() }
                    return .served
                }
                try peer.connect()
                if !isLost { _ = try? peer.discover() }
                peer.air.world.run(.seconds(2))
                // The app requests nothing on a link that is lost, so some places are not reached.
                if isLost, !isOver { continue }
                if isLost { try peer.connect() }
                let found = try peer.discover()
                #expect(found[Self.otherValue] != nil, "at \(place), lost: \(isLost)")
                let isThere = found[OvertakingPeer.measurement] != nil
                #expect(isThere == (change == .added), "at \(place), lost: \(isLost)")
                let services = (change == .added ? [OvertakingPeer.service] : []) + [TestAccessory.service, Self.other]
                #expect(Set(peer.services) == Set(services), "at \(place), lost: \(isLost)")
            }
        }
    }
}
