import AccessStandIns
import BluetoothTypes
import EventLoops
import HCI
import SMP
import Testing

@testable import GAP
@testable import Security

/// Connections to a bonded peer by the private address that it currently shows, as from a recent scan, with the peer
/// still identified (Core Vol 3 Part C 10.7.2.2).
@Suite struct AddressOfTheMomentTests {
    private static let data = AdvertisingData([.localName(.init("Harald"))])
    private static let undirected = Peripheral.Mode(.general, .undirected, data: data)
    private static let nobody = BluetoothAddress(0xC0_0000_0000_09, kind: .randomDevice)

    /// The procedure that connects to the peer by its address.
    enum Procedure: CaseIterable {
        case direct
        case auto

        func begin(_ central: Central, _ address: BluetoothAddress, _ completion: @escaping Central.Completion) {
            let time = Duration.seconds(5)
            switch self {
            case .direct: central.connect(to: address, within: time, completion: completion)
            case .auto: central.autoConnect(to: [nobody, address], within: time, completion: completion)
            }
        }
    }

    /// Bonded devices, one of which advertises, and the address that it shows.
    private struct AdvertisingPair {
        let pair: PrivatePair
        let role: Peripheral
        let shown: BluetoothAddress
        var world: GAPWorld { pair.world }
        var device: GAPDevice { pair.device }
        var other: GAPDevice { pair.other }

        init(_ mode: PrivacyMode) throws {
            pair = try PrivatePair(mode)
            role = Peripheral(pair.device.access)
            role.enter(AddressOfTheMomentTests.undirected)
            pair.world.run(.seconds(1))
            shown = try #require(pair.watch.of(pair.device.node, .advertising).last?.own)
            #expect(pair.device.isOwn(shown))
        }
    }

    @Test(arguments: PrivacyMode.allCases, Procedure.allCases)
    func aBondedPeerIsMeantByTheAddressThatItShowsNow(mode: PrivacyMode, procedure: Procedure) throws {
        let pair = try AdvertisingPair(mode)
        let central = Central(pair.other.access)
        var result: Result<AccessLink, GAPError>?
        procedure.begin(central, pair.shown) { result = $0 }
        pair.world.run(for: .seconds(6)) { result != nil }
        let link = try #require(try result?.get())
        #expect(link.peer == pair.device.identity.address)
        #expect(pair.other.access.connector.wanted.isEmpty)
        #expect(pair.other.access.links.count == 1)
        // The request does not block the next one.
        var next: Result<AccessLink, GAPError>?
        link.terminate()
        pair.world.run(.seconds(1))
        pair.role.enter(Self.undirected)
        central.connect(to: pair.device.identity.address, within: .seconds(5)) { next = $0 }
        pair.world.run(for: .seconds(6)) { next != nil }
        #expect(try next?.get().peer == pair.device.identity.address)
    }

    /// A device that replays an address of a connected peer is refused. The caller gets the error and does not wait.
    @Test(
        "AB-G03: a request to connect to a peer that is already connected fails at once",
        arguments: PrivacyMode.allCases
    )
    func connectingToAConnectedPeerFailsAtOnce(mode: PrivacyMode) throws {
        let pair = try AdvertisingPair(mode)
        let stolen = pair.shown
        // The peer has a new address by now: no controller knows that it has a link to it.
        pair.world.run(GAPTimer.privateAddressInterval + .seconds(1))
        let central = Central(pair.other.access)
        var first: Result<AccessLink, GAPError>?
        central.connect(to: pair.device.identity.address, within: .seconds(5)) { first = $0 }
        pair.world.run(for: .seconds(6)) { first != nil }
        let link = try #require(try first?.get())
        pair.world.run(.seconds(1))
        #expect(link.secureLink.linkSecurity.isEncrypted)
        let trap = Peripheral(pair.world.device(.fixed(stolen)).access)
        trap.enter(Self.undirected)
        var second: Result<AccessLink, GAPError>?
        let began = pair.world.loop.now
        central.connect(to: pair.device.identity.address, within: .seconds(20)) { second = $0 }
        pair.world.run(for: .seconds(25)) { second != nil }
        #expect(throws: GAPError.self) { _ = try second?.get() }
        if case .failure(.refused(_, let status)) = second {
            #expect(status == .connectionAlreadyExists)
        } else {
            Issue.record("\(String(describing: second))")
        }
        #expect(pair.world.loop.now - began < .seconds(10))
        #expect(pair.other.access.links.count == 1)
        #expect(pair.other.access.links.first === link)
        #expect(link.secureLink.linkSecurity.isEncrypted)
        #expect(pair.other.access.connector.wanted.isEmpty)
    }
}
