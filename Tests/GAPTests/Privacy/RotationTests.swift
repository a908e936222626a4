import AccessStandIns
import BluetoothTypes
import EventLoops
import HCI
import SMP
import Testing

@testable import GAP

/// The device's own private addresses as a sniffer captures them.
@Suite struct RotationTests {
    private static let data = AdvertisingData([.localName(.init("Harald"))])
    /// Time allowed for the commands of a rotation.
    private static let slack = Duration.milliseconds(100)

    private func expectRotation(
        _ watch: AirWatch,
        _ device: GAPDevice,
        _ role: AirWatch.Seen.Role,
        every interval: Duration,
        atLeast count: Int,
        _ place: SourceLocation = #_sourceLocation
    ) {
        let addresses = watch.addresses(of: device.node, role)
        #expect(addresses.count >= count, "\(role): \(addresses.count)", sourceLocation: place)
        #expect(addresses.allSatisfy { device.isOwn($0.address) }, sourceLocation: place)
        let longest = addresses.map { $0.last - $0.first }.max() ?? .zero
        #expect(longest <= interval + Self.slack, "\(role): \(longest)", sourceLocation: place)
    }

    @Test(
        "behaviour 6.17: a device's own address is resolvable and changes every fifteen minutes",
        arguments: PrivacyMode.allCases
    )
    func theOwnAddressIsResolvableAndChangesEveryFifteenMinutes(mode: PrivacyMode) throws {
        let world = GAPWorld(mode.commands)
        let watch = AirWatch(world.radio)
        let device = world.privateDevice(mode)
        let role = Peripheral(device.access)
        role.enter(.init(.general, .undirected, data: Self.data))
        world.run(.seconds(46 * 60))
        let addresses = watch.addresses(of: device.node)
        #expect(addresses.count == 4)
        #expect(addresses.allSatisfy { device.isOwn($0.address) && $0.last - $0.first <= .seconds(900) + Self.slack })
        #expect(!watch.hasSent(device.identity.address, device.node))
    }

    /// Advertises, scans actively and connects all at once, with a link in each role.
    private func busy(
        _ mode: PrivacyMode,
        interval: Duration
    ) throws -> (watch: AirWatch, device: GAPDevice, heard: () -> Int, keep: [AnyObject]) {
        let world = GAPWorld(mode.commands)
        let device = world.privateDevice(mode, interval: interval)
        let (other, third) = (world.device(), world.device())
        try linkBothWays(device, other, third)
        let watch = AirWatch(world.radio)
        var sets: [AnyObject] = []
        let peripheral = Peripheral(device.access)
        peripheral.enter(.init(.general, .undirected, data: Self.data))
        sets.append(peripheral)
        if mode.commands == .extended {
            for (index, kind) in [AdvertisingConfiguration.Kind.nonConnectable, .connectable, .scannable].enumerated() {
                let set = device.access.advertiser.addSet()
                var advertisement = AdvertisingConfiguration(kind)
                if kind == .scannable {
                    advertisement.scanResponse = Self.data
                } else {
                    advertisement.data = Self.data
                }
                if index > 0 { advertisement.packets = .extended(.init()) }
                set.onFailed = { Issue.record("a set failed: \($0)") }
                set.want(advertisement)
                sets.append(set)
            }
        }
        // A device that answers scan requests.
        let broadcaster = third.access.advertiser.addSet()
        broadcaster.want(
            AdvertisingConfiguration(.scannable, data: Self.data, scanResponse: AdvertisingData([.appearance(1)]))
        )
        let observer = Observer(device.access)
        var heard = 0
        try observer.observe(
            .attentive,
            onSighting: { _ in heard += 1 },
            onEnd: { Issue.record("the scan has ended: \(String(describing: $0))") }
        )
        // Leaves the scanner some time for requests.
        (device.access.connector.settings.scanInterval, device.access.connector.settings.scanWindow) = (320, 32)
        // Two absent peers, so that the accept list is used.
        device.access.connector.want(BluetoothAddress(0xC0_0000_0000_01, kind: .randomDevice))
        device.access.connector.want(BluetoothAddress(0xC0_0000_0000_02, kind: .randomDevice))
        return (watch, device, { heard }, sets + [broadcaster, observer, other, third])
    }

    private func linkBothWays(_ device: GAPDevice, _ other: GAPDevice, _ third: GAPDevice) throws {
        let world = device.world
        let (theirs, ours) = (Peripheral(other.access), Peripheral(device.access))
        theirs.enter(.init(.general, .undirected))
        let central = Central(device.access)
        central.connect(to: other.address, within: .seconds(10)) { _ in }
        #expect(world.run { device.links.count == 1 && other.links.count == 1 })
        ours.enter(.init(.general, .undirected))
        let shown = try #require(try third.hear(for: .milliseconds(500)).first { device.isOwn($0.address) })
        let stranger = Central(third.access)
        stranger.connect(to: shown.address, within: .seconds(10)) { _ in }
        #expect(world.run { device.links.count == 2 && third.links.count == 1 })
        world.run(.milliseconds(500))
    }

    @Test(
        "AB-G04: no address outlives its lifetime with all activities running",
        arguments: PrivacyMode.allCases,
        [Duration.seconds(1), .seconds(20)]
    )
    func noAddressOutlivesItsTimeWhileEverythingIsGoingOn(mode: PrivacyMode, interval: Duration) throws {
        let (watch, device, heard, keep) = try busy(mode, interval: interval)
        let world = device.world
        world.run(interval * 6 + .milliseconds(500))
        expectRotation(watch, device, .scanning, every: interval, atLeast: 6)
        let sets = mode.commands == .extended ? 4 : 1
        expectRotation(watch, device, .advertising, every: interval, atLeast: 6 * sets)
        // No packet of any kind reveals the identity.
        #expect(!watch.hasSent(device.identity.address, device.node))
        // All activities go on.
        #expect(device.links.count == 2)
        #expect(device.endReasons.isEmpty)
        let before = (heard(), watch.of(device.node, .advertising).count)
        world.run(.seconds(4))
        #expect(heard() > before.0)
        #expect(watch.of(device.node, .advertising).count > before.1)
        #expect(device.access.connector.wanted.count == 2)
        withExtendedLifetime(keep) {}
    }
}

extension Duration {
    fileprivate static func * (a: Duration, b: Int) -> Duration { .nanoseconds(a.nanoseconds * Int64(b)) }
}
