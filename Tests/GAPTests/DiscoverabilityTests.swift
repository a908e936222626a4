import BluetoothTypes
import EventLoops
import HCI
import Testing

@testable import GAP

/// Discoverability modes and discovery procedures (Core Vol 3 Part C 9.2), between two complete stacks.
@Suite struct DiscoverabilityTests {
    private static let data = AdvertisingData([.localName(.init("Harald"))])

    /// The sightings that a listener makes of a peripheral in these modes.
    private func heard(
        _ discoverability: Peripheral.Discoverability,
        _ connectability: Peripheral.Connectability,
        in mode: ControllerMode
    ) throws -> Sighting {
        let world = GAPWorld(mode)
        let (device, listener) = (world.device(), world.device())
        let peripheral = Peripheral(device.access)
        peripheral.enter(.init(discoverability, connectability, data: Self.data))
        return try #require(try listener.hear(from: device.address).first)
    }

    @Test(
        "GAP/DISC/NONM/BV-01: a non-discoverable and non-connectable device advertises as such",
        arguments: ControllerMode.allCases
    )
    func nonDiscoverableAndNonConnectable(mode: ControllerMode) throws {
        let sighting = try heard(.none, .none, in: mode)
        #expect(!sighting.isConnectable)
        #expect(sighting.data.flags?.isDisjoint(with: .discoverable) == true)
    }

    @Test(
        "GAP/DISC/NONM/BV-02: a non-discoverable and connectable device advertises as such",
        arguments: ControllerMode.allCases
    )
    func nonDiscoverableAndConnectable(mode: ControllerMode) throws {
        let sighting = try heard(.none, .undirected, in: mode)
        #expect(sighting.isConnectable)
        #expect(sighting.data.flags == .classicNotSupported)
    }

    /// Enters limited discoverable mode and measures when it ends.
    private func limited(_ connectability: Peripheral.Connectability, _ mode: ControllerMode) throws {
        let world = GAPWorld(mode)
        let (device, listener) = (world.device(), world.device())
        let peripheral = Peripheral(device.access)
        var end: (AdvertisingEnd, Instant)?
        peripheral.onEnded = { end = ($0, world.loop.now) }
        let begin = world.loop.now
        // Longer than the profile allows.
        peripheral.enter(.init(.limited(.seconds(1_000)), connectability, data: Self.data))
        let sighting = try #require(try listener.hear(from: device.address).first)
        #expect(sighting.data.flags == [.limitedDiscoverable, .classicNotSupported])
        #expect(sighting.isConnectable == (connectability == .undirected))
        world.run(for: .seconds(200)) { end != nil }
        #expect(end?.0 == .timeOver)
        #expect(try #require(end).1 - begin <= .seconds(180))
        #expect(try listener.hear(for: .seconds(5), from: device.address).isEmpty)
    }

    @Test(
        "GAP/DISC/LIMM/BV-03: a limited discoverable and non-connectable device advertises as such, for a limited time",
        arguments: ControllerMode.allCases
    )
    func limitedDiscoverableAndNonConnectable(mode: ControllerMode) throws {
        try limited(.none, mode)
    }

    @Test(
        "GAP/DISC/LIMM/BV-04: a limited discoverable and connectable device advertises as such, for a limited time",
        arguments: ControllerMode.allCases
    )
    func limitedDiscoverableAndConnectable(mode: ControllerMode) throws {
        try limited(.undirected, mode)
    }

    @Test(
        "GAP/DISC/GENM/BV-03: a general discoverable and non-connectable device advertises as such",
        arguments: ControllerMode.allCases
    )
    func generalDiscoverableAndNonConnectable(mode: ControllerMode) throws {
        let sighting = try heard(.general, .none, in: mode)
        #expect(!sighting.isConnectable)
        #expect(sighting.data.flags == [.generalDiscoverable, .classicNotSupported])
    }

    @Test(
        "GAP/DISC/GENM/BV-04: a general discoverable and connectable device advertises as such",
        arguments: ControllerMode.allCases
    )
    func generalDiscoverableAndConnectable(mode: ControllerMode) throws {
        let sighting = try heard(.general, .undirected, in: mode)
        #expect(sighting.isConnectable)
        #expect(sighting.data.flags == [.generalDiscoverable, .classicNotSupported])
        #expect(sighting.data.localName?.text == "Harald")
    }

    // MARK: Procedures

    /// Whether a procedure finds an advertiser, having checked first that the advertiser is received at all.
    private func finds(
        _ procedure: DiscoveryProcedure.Kind,
        _ mode: ControllerMode,
        _ advertise: (GAPDevice, GAPDevice) -> AnyObject
    ) throws -> Bool {
        let world = GAPWorld(mode)
        let (device, finder) = (world.device(), world.device())
        let role = advertise(device, finder)
        #expect(try !finder.hear(from: device.address).isEmpty)
        let discovery = DiscoveryProcedure(finder.access)
        var found: [Sighting] = []
        var end: Instant?
        let begin = world.loop.now
        try discovery.run(procedure, onFound: { found.append($0) }) { error in
            #expect(error == nil)
            end = world.loop.now
        }
        world.run { end != nil }
        #expect(try #require(end) - begin >= procedure.minimumTime)
        withExtendedLifetime(role) {}
        #expect(found.count <= 1)
        return found.contains { $0.address == device.address }
    }

    private func mode(
        _ discoverability: Peripheral.Discoverability,
        _ connectability: Peripheral.Connectability
    ) -> (GAPDevice, GAPDevice) -> AnyObject {
        { device, _ in
            let peripheral = Peripheral(device.access)
            peripheral.enter(.init(discoverability, connectability, data: Self.data))
            return peripheral
        }
    }

    private func directed(_ device: GAPDevice, _ finder: GAPDevice) -> AnyObject {
        let peripheral = Peripheral(device.access)
        peripheral.enter(.init(.none, .directed(finder.address, isHighDutyCycle: false)))
        return peripheral
    }

    private func broadcaster(_ device: GAPDevice, _: GAPDevice) -> AnyObject {
        let broadcaster = Broadcaster(device.access)
        broadcaster.send(AdvertisingConfiguration(.nonConnectable, data: Self.data))
        return broadcaster
    }

    @Test(
        "GAP/DISC/LIMP/BV-01: limited discovery finds a limited discoverable device",
        arguments: ControllerMode.allCases
    )
    func limitedDiscoveryFindsLimited(mode: ControllerMode) throws {
        #expect(try finds(.limited, mode, self.mode(.limited(.seconds(60)), .undirected)))
    }

    @Test(
        "GAP/DISC/LIMP/BV-02: limited discovery does not find a general discoverable device",
        arguments: ControllerMode.allCases
    )
    func limitedDiscoveryDoesNotFindGeneral(mode: ControllerMode) throws {
        #expect(try !finds(.limited, mode, self.mode(.general, .undirected)))
    }

    @Test("GAP/DISC/LIMP/BV-03: limited discovery does not find a broadcaster", arguments: ControllerMode.allCases)
    func limitedDiscoveryDoesNotFindABroadcaster(mode: ControllerMode) throws {
        #expect(try !finds(.limited, mode, broadcaster))
    }

    @Test(
        "GAP/DISC/LIMP/BV-04: limited discovery does not find a non-discoverable connectable device",
        arguments: ControllerMode.allCases
    )
    func limitedDiscoveryDoesNotFindUndirected(mode: ControllerMode) throws {
        #expect(try !finds(.limited, mode, self.mode(.none, .undirected)))
    }

    @Test(
        "GAP/DISC/LIMP/BV-05: limited discovery does not find a directed advertiser",
        arguments: ControllerMode.allCases
    )
    func limitedDiscoveryDoesNotFindDirected(mode: ControllerMode) throws {
        #expect(try !finds(.limited, mode, directed))
    }

    @Test(
        "GAP/DISC/GENP/BV-01: general discovery finds a general discoverable device",
        arguments: ControllerMode.allCases
    )
    func generalDiscoveryFindsGeneral(mode: ControllerMode) throws {
        #expect(try finds(.general, mode, self.mode(.general, .undirected)))
    }

    @Test(
        "GAP/DISC/GENP/BV-02: general discovery finds a limited discoverable device",
        arguments: ControllerMode.allCases
    )
    func generalDiscoveryFindsLimited(mode: ControllerMode) throws {
        #expect(try finds(.general, mode, self.mode(.limited(.seconds(60)), .undirected)))
    }

    @Test("GAP/DISC/GENP/BV-03: general discovery does not find a broadcaster", arguments: ControllerMode.allCases)
    func generalDiscoveryDoesNotFindABroadcaster(mode: ControllerMode) throws {
        #expect(try !finds(.general, mode, broadcaster))
    }

    @Test(
        "GAP/DISC/GENP/BV-04: general discovery does not find a non-discoverable connectable device",
        arguments: ControllerMode.allCases
    )
    func generalDiscoveryDoesNotFindUndirected(mode: ControllerMode) throws {
        #expect(try !finds(.general, mode, self.mode(.none, .undirected)))
    }

    @Test(
        "GAP/DISC/GENP/BV-05: general discovery does not find a directed advertiser",
        arguments: ControllerMode.allCases
    )
    func generalDiscoveryDoesNotFindDirected(mode: ControllerMode) throws {
        #expect(try !finds(.general, mode, directed))
    }

    @Test func modesThatExcludeEachOtherAreRefused() {
        let device = GAPWorld(.legacy).device()
        let peripheral = Peripheral(device.access)
        var failures = 0
        peripheral.onFailed = { _ in failures += 1 }
        peripheral.enter(.init(.general, .directed(BluetoothAddress(1, kind: .publicDevice), isHighDutyCycle: false)))
        #expect(failures == 1)
        peripheral.enter(.init(.general, .undirected, data: AdvertisingData([.flags([])])))
        #expect(failures == 2)
        peripheral.enter(.init(.limited(.zero), .undirected))
        #expect(failures == 3)
    }
}
