import AccessStandIns
import BluetoothTypes
import ControllerStandIns
import HCI
import HCIHost
import StackStandIns
import Testing

@testable import GAP
@testable import Security

/// The address of an advertising set.
@Suite struct SetAddressTests {
    private func connection(_ role: LERole, _ address: BluetoothAddress) throws -> HCIConnection {
        let bench = HostBench.up([.extendedAdvertising, .phy2M, .phyCoded])
        var made: HCIConnection?
        bench.host.onConnection = { made = $0 }
        bench.inject(SecurityBench.connection(role, address))
        return try #require(made)
    }

    /// A connectable set has an address of its own, which applies to links made through it and to no others.
    @Test func aSetsAddressIsThatOfTheLinksToIt() throws {
        let world = GAPWorld(.extended)
        let device = world.privateDevice(.hostExtended)
        let role = Peripheral(device.access)
        role.enter(.init(.general, .undirected))
        world.run(.milliseconds(100))
        let (privacy, stranger) = (device.access.privacy, BluetoothAddress(0b11 << 46 | 0x99, kind: .randomDevice))
        let set = try #require(device.access.advertiser.connectableAddress)
        let shared = try #require(privacy.sharedAddress).address
        #expect(set != shared)
        #expect(privacy.connected(try connection(.peripheral, stranger)) == set)
        #expect(privacy.connected(try connection(.central, stranger)) == shared)
    }
}
