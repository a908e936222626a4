import BluetoothTypes
import Cryptography
import EventLoops
import HCI
import Testing

@testable import LinkLayer

/// Key agreement in the controller (Core Vol 4 Part E 7.8.36, 7.8.37).
@Suite struct PublicKeyCommandTests {
    private func publicKey(_ host: TestHost) throws -> LEReadLocalP256PublicKeyComplete {
        #expect(host.send(LEReadLocalP256PublicKey()) == .success)
        let event = try #require(host.events(LEReadLocalP256PublicKeyComplete.self).last)
        #expect(event.status == .success)
        #expect(event.x.count == 32)
        #expect(event.y.count == 32)
        return event
    }

    private func agree(_ host: TestHost, _ command: some HCICommand) throws -> LEGenerateDHKeyComplete {
        let before = host.events(LEGenerateDHKeyComplete.self).count
        #expect(host.send(command) == .success)
        let events = host.events(LEGenerateDHKeyComplete.self)
        #expect(events.count == before + 1)
        return try #require(events.last)
    }

    private func key(_ point: P256Point) -> LEGenerateDHKey {
        LEGenerateDHKey(x: PacketBuffer(point.x.reversed()), y: PacketBuffer(point.y.reversed()))
    }

    @Test func twoControllersAgreeOnAKey() throws {
        let world = LinkLayerWorld()
        let (one, other) = (world.host(), world.host())
        let (first, second) = (try publicKey(one), try publicKey(other))
        #expect(first.x != second.x)
        let here = try agree(one, LEGenerateDHKey(x: second.x, y: second.y))
        let there = try agree(other, LEGenerateDHKeyV2(.init(x: first.x, y: first.y), keyKind: .generated))
        #expect(here.status == .success)
        #expect(here == there)
        #expect(Set(here.key).count > 8)
    }

    /// The host's own arithmetic and the specification's key pairs give the same result (Core Vol 2 Part G 7.1.2.1).
    @Test func theHostComputesTheSameKey() throws {
        let host = LinkLayerWorld().host()
        let pair = try #require(P256KeyPair(random: RandomSource(seed: 5).bytes))
        let own = try publicKey(host)
        let point = try #require(P256Point(x: own.x.reversed(), y: own.y.reversed()))
        let secret = try #require(pair.sharedSecret(with: point))
        #expect(Array(try agree(host, key(pair.publicKey)).key.reversed()) == secret)
    }

    @Test func eachPairIsANewOneAndAResetForgetsIt() throws {
        let host = LinkLayerWorld().host()
        let first = try publicKey(host)
        #expect(try publicKey(host).x != first.x)
        host.send(Reset())
        #expect(host.send(key(P256KeyPair.debug.publicKey)) == .commandDisallowed)
    }

    @Test("AB-S01: a controller rejects a public key that is not a point on the curve")
    func aPointOffTheCurveIsRefused() throws {
        let host = LinkLayerWorld().host()
        let own = try publicKey(host)
        var other = Array(own.y)
        other[3] ^= 0x10
        let bad: [LEGenerateDHKey] = [
            .init(x: own.x, y: PacketBuffer(other)),
            .init(x: own.x, y: PacketBuffer([UInt8](repeating: 0, count: 32))),
            .init(x: PacketBuffer([UInt8](repeating: 0, count: 32)), y: PacketBuffer([UInt8](repeating: 0, count: 32))),
            .init(x: PacketBuffer([UInt8](repeating: 0xFF, count: 32)), y: own.y),
        ]
        for command in bad {
            for kind in [LEPrivateKeyKind.generated, .debug] {
                let event = try agree(host, LEGenerateDHKeyV2(command, keyKind: kind))
                #expect(event.status == .invalidParameters)
                #expect(event.key.allSatisfy { $0 == 0xFF })
                #expect(event.key.count == 32)
            }
            #expect(try agree(host, command).status == .invalidParameters)
        }
    }

    @Test("AB-S03: the debug key is used only when the host asks for it")
    func theDebugKeyIsForThoseWhoAskForIt() throws {
        let host = LinkLayerWorld().host()
        let pair = try #require(P256KeyPair(random: RandomSource(seed: 6).bytes))
        let debug = try #require(P256KeyPair.debug.sharedSecret(with: pair.publicKey))
        // The debug key needs no generated key pair.
        let asked = try agree(host, LEGenerateDHKeyV2(key(pair.publicKey), keyKind: .debug))
        #expect(Array(asked.key.reversed()) == debug)
        _ = try publicKey(host)
        let kinds: [any HCICommand] = [
            key(pair.publicKey), LEGenerateDHKeyV2(key(pair.publicKey), keyKind: .generated),
        ]
        for command in kinds { #expect(Array(try agree(host, command).key.reversed()) != debug) }
        #expect(Array(try agree(host, LEGenerateDHKeyV2(key(pair.publicKey), keyKind: .debug)).key.reversed()) == debug)
    }

    @Test func theEventsFollowTheAnswer() throws {
        let host = LinkLayerWorld().host()
        host.send(LEReadLocalP256PublicKey())
        let codes = try host.packets.map { try EventPacket(reading: $0.packet.bytes).code }
        #expect(codes == [CommandStatus.eventCode, LEReadLocalP256PublicKeyComplete.eventCode])
    }

    @Test func allFeaturesAreThoseOfPageZero() throws {
        let host = LinkLayerWorld().host { $0.features.remove(.privacy) }
        let all = try host.read(LEReadAllLocalSupportedFeatures())
        let page = try host.read(LEReadLocalSupportedFeatures()).features
        #expect(all.maxPage == 0)
        #expect(all.features.count == 248)
        let octets = Array(all.features)
        #expect(
            octets.prefix(8).enumerated().reduce(0) { $0 | UInt64($1.element) << UInt64(8 * $1.offset) }
                == page.rawValue
        )
        #expect(octets.dropFirst(8).allSatisfy { $0 == 0 })
    }
}

/// LE Set Resolvable Private Address Timeout [v2] (7.8.45).
@Suite struct RandomLifetimeTests {
    private let key = Key128(littleEndian: [UInt8](repeating: 3, count: 16)) ?? .zero

    /// The lifetime in seconds of each of the addresses.
    private func lifetimes(_ range: ClosedRange<Duration>, count: Int) -> [Int64] {
        let random = RandomSource(seed: 11)
        func rules(_ second: Int64) -> RotatingAddress.Rules {
            .init(now: Instant(nanoseconds: second * 1_000_000_000), lifetimes: range, random: random)
        }
        var address = RotatingAddress(key, rules(0))
        var (last, begin, found) = (address.address, Int64(0), [Int64]())
        for second in Int64(1)... {
            let current = address.current(rules(second))
            if current != last {
                found.append(second - begin)
                (last, begin) = (current, second)
            }
            if found.count == count { break }
        }
        return found
    }

    @Test func eachAddressLastsForATimeOfItsOwnWithinTheRange() {
        let times = lifetimes(.seconds(20)...(.seconds(60)), count: 100)
        #expect(times.allSatisfy { (20...60).contains($0) })
        // The times come near both ends of the range, and are spread between them.
        #expect((times.min() ?? 60) < 25)
        #expect((times.max() ?? 0) > 55)
        #expect(Set(times).count > 20)
    }

    @Test func aRangeOfOneLeavesNoChoice() {
        #expect(Set(lifetimes(.seconds(7)...(.seconds(7)), count: 20)) == [7])
    }
}
