import AccessStandIns
import BluetoothTypes
import Cryptography
import EventLoops
import Foundation
import GAP
import GATT
import HCI
import HCIHost
import SMP
import SampleMessages
import Security
import ServiceMessages
import Testing

@testable import BluetoothService

/// A peer that pairs from one address, distributes an identity, and returns from the same or another address.
@Suite struct ReturningPeerTests {
    /// An address on the air.
    enum Shown: CaseIterable {
        case fixedRandom, publicAddress, resolvable
    }

    /// The identity that the peer distributes.
    enum Given: CaseIterable {
        /// The address on the air, or the public address if that is private.
        case same
        case otherPublic, otherStatic
        case none
        /// The public address, with a resolving key of zero.
        case publicWithoutKey
    }

    /// The address from which the peer returns.
    enum Return: CaseIterable {
        case pairing, identity, resolvable, stranger
    }

    struct Case: CustomTestStringConvertible {
        let shown: Shown
        let given: Given
        let back: Return
        let isCentral: Bool

        var testDescription: String {
            "\(shown), identity \(given), returns as \(back), phone is \(isCentral ? "central" : "peripheral")"
        }

        var hasKey: Bool { given != .none && given != .publicWithoutKey }

        /// Whether the phone knows the peer.
        var isKnown: Bool {
            switch back {
            case .stranger: false
            // A private address is the only one of a peer without an identity, and no other one leads to it.
            case .pairing: shown != .resolvable || hasKey
            case .resolvable: hasKey
            // A peer that hides behind private addresses is not accepted without one (Core Vol 6 Part B 6).
            case .identity: given != .none && (shown != .resolvable || !hasKey)
            }
        }
    }

    private static let cases = Shown.allCases.flatMap { shown in
        Given.allCases.flatMap { given in
            Return.allCases.flatMap { back in
                [true, false].map { Case(shown: shown, given: given, back: back, isCentral: $0) }
            }
        }
    }

    private static let fixed = BluetoothAddress(0xC123_4567_89AB, kind: .randomDevice)
    private static let otherFixed = BluetoothAddress(0xD123_4567_89AB, kind: .randomDevice)
    private static let stranger = BluetoothAddress(0xE123_4567_89AB, kind: .randomDevice)
    private static let service: BluetoothUUID = 0xFFE5

    /// A phone and the radio, with a peer that appears under one address after the other.
    private final class Bench {
        let air = RadioWorld()
        let phone: BluetoothSystem
        let app: TestManager
        let storage = MemoryBondStorage()
        let bonds: BondStore
        private let person = Agreeable()
        private let published: TestManager
        private(set) var peer: GenericAccess?
        private(set) var link: AccessLink?
        private var server: GATTServer?
        private var role: AnyObject?
        private var appearances: UInt64 = 0

        init() throws {
            phone = air.system("Phone") { $0.pairing.ioCapability = .noInputNoOutput }
            phone.peers.deviceSecurity.prompter = person
            app = air.world.manager(.central, on: phone)
            published = air.world.manager(.peripheral, on: phone)
            bonds = try air.bonds(3)
        }

        var link0: PeerLink? { phone.links.all.first }

        /// Attaches the peer to a new controller, under one address. The previous one is out of reach.
        func appear(_ policy: OwnAddressPolicy, number: UInt64, givesIdentity: Bool = true) throws {
            if let peer { peer.stop() }
            appearances += 1
            let line = InMemoryTransport.pair(loop: air.world.loop)
            air.attach(to: line.controller, number: number)
            var pairing = PairingConfiguration()
            pairing.ioCapability = .noInputNoOutput
            if !givesIdentity { pairing.givenKeys = .encryption }
            let peer = GenericAccess(
                host: HCIHost(transport: line.host, loop: air.world.loop, stackEvents: .log(RadioWorld.silent)),
                loop: air.world.loop,
                random: RandomSource(seed: 20 + appearances),
                address: policy,
                bonds: bonds,
                pairing: pairing,
                stackEvents: .log(RadioWorld.silent)
            )
            self.peer = peer
            let database = GATTDatabase()
            _ = try database.add(.genericAccess(deviceName: "Peer", appearance: 0))
            let server = GATTServer(database: database)
            self.server = server
            peer.deviceSecurity.prompter = person
            peer.onLink = { [weak self] link in
                self?.link = link
                link.openAttributes(mtu: 185, server: server)
            }
            peer.start()
            air.world.run(.milliseconds(100))
        }

        /// The identifiers under which the app discovers the peer, which advertises.
        func discover() -> [UUID] {
            guard let peer else { return [] }
            let advertiser = Peripheral(peer)
            let data = AdvertisingData([.services([ReturningPeerTests.service], width: .bits16, isComplete: true)])
            advertiser.enter(.init(.general, .undirected, data: data))
            role = advertiser
            app.take()
            app.send(.startScan(ScanRequest(services: [ReturningPeerTests.service])))
            air.world.run(.seconds(5))
            app.send(.stopScan)
            return app.take().compactMap { event in
                if case .central(.discovered(let peer, _, _)) = event { peer.identifier } else { nil }
            }
        }

        /// Connects. With a known peer the phone is the central, and connects to that.
        ///
        /// - Returns: The peer's identifier on the phone; nil if there is no connection.
        func connect(to known: UUID?) throws -> UUID? {
            link = nil
            guard let peer else { return nil }
            if let known {
                app.send(.connect(peer: known, options: ConnectOptions()))
            } else {
                try published.publish()
                let central = Central(peer)
                role = central
                central.generalConnect(pick: { _ in true }) { _ in }
            }
            let isUp = air.world.loop.run(until: air.world.loop.now + .seconds(15)) {
                self.phone.links.all.first?.isReady == true && self.link != nil
            }
            air.world.run(.seconds(1))
            return isUp ? phone.links.all.first?.peer : nil
        }

        /// Pairs, while the identity that the phone receives is replaced.
        func pair(_ given: Given, _ identity: BluetoothAddress) throws {
            let connection = try #require(link0?.connection)
            let original = connection.onReceive
            let key = bonds.identity.key.littleEndianBytes.map { given == .publicWithoutKey ? 0 : $0 }
            connection.onReceive = { fragment, isStart in
                var octets = Array(fragment)
                // Identity Information and Identity Address Information, behind the header of L2CAP.
                if isStart, octets.count == 21, octets[2] == 6, octets[4] == 0x08 {
                    octets.replaceSubrange(5..., with: key)
                } else if isStart, octets.count == 12, octets[2] == 6, octets[4] == 0x09 {
                    octets[5] = identity.kind.isRandom ? 1 : 0
                    for index in 0..<6 { octets[6 + index] = UInt8(truncatingIfNeeded: identity.value >> (8 * index)) }
                }
                original?(PacketBuffer(octets), isStart)
            }
            link0?.link.secureLink.pair { _ in }
            air.world.run(.seconds(5))
            connection.onReceive = original
            try #require(link0?.secureLink.bond != nil)
        }

        func leave() {
            link?.terminate()
            air.world.run(.seconds(2))
            published.send(.stopAdvertising)
            published.send(.removeAllServices)
            air.world.run(.seconds(1))
        }
    }

    private static func identity(_ row: Case, shown: BluetoothAddress) -> BluetoothAddress {
        switch row.given {
        case .same: row.shown == .resolvable ? BluetoothAddress(0xC0FF_EE00_0007, kind: .publicDevice) : shown
        case .otherStatic: otherFixed
        case .otherPublic, .none, .publicWithoutKey: BluetoothAddress(0xC0FF_EE00_0008, kind: .publicDevice)
        }
    }

    @Test(
        "behaviour 6.23: a peer is known under the fixed address of its pairing, its identity address and its private addresses, in both roles",
        arguments: cases
    )
    func aPeerReturns(row: Case) throws {
        let bench = try Bench()
        let policy: OwnAddressPolicy =
            switch row.shown {
            case .fixedRandom: .fixed(Self.fixed)
            case .publicAddress: .publicDevice
            case .resolvable: .resolvablePrivate
            }
        try bench.appear(policy, number: 7, givesIdentity: row.given != .none)
        let shown =
            row.shown == .fixedRandom ? Self.fixed : BluetoothAddress(0xC0FF_EE00_0007, kind: .publicDevice)
        let identity = Self.identity(row, shown: shown)
        let first = try #require(try bench.connect(to: row.isCentral ? bench.discover().first : nil))
        try bench.pair(row.given, identity)
        bench.leave()

        // The controller of the return has the public address of its number.
        let fixed = { (address: BluetoothAddress) -> (OwnAddressPolicy, UInt64) in
            address.kind.isRandom ? (.fixed(address), 9) : (.publicDevice, address.value & 0xFF)
        }
        let (back, number): (OwnAddressPolicy, UInt64) =
            switch row.back {
            case .pairing: row.shown == .resolvable ? (.resolvablePrivate, 7) : fixed(shown)
            case .identity: fixed(identity)
            case .resolvable: (.resolvablePrivate, 9)
            case .stranger: (.fixed(Self.stranger), 9)
            }
        try bench.appear(back, number: number)
        let discovered = row.isCentral ? bench.discover() : []
        #expect(Set(discovered.filter { $0 == first }) == (row.isCentral && row.isKnown ? [first] : []))
        // A phone in the central role waits for the peer that it knows.
        let second = try bench.connect(to: row.isCentral ? first : nil)
        guard row.isKnown else { return #expect(second != first) }
        #expect(second == first)
        // Encrypted with the bond, by whichever side is central.
        if !row.isCentral {
            bench.link?.secureLink.secure(.encrypted) { _ in }
            bench.air.world.run(.seconds(2))
        }
        #expect(bench.link0?.secureLink.linkSecurity.isEncrypted == true)
        #expect(bench.phone.peers.bonds?.bonds.count == 1)
        #expect(bench.phone.peers.recall(first)?.identifier == first)
    }
}
