import AccessStandIns
import BluetoothTypes
import Testing

@testable import GAP

/// Discoverability modes (Core Vol 3 Part C 9.2), between two complete stacks.
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
        #expect(sighting.data.flags?.isDisjoint(with: [.limitedDiscoverable, .generalDiscoverable]) == true)
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
}
