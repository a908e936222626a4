import BluetoothTypes
import EventLoops
import HCI
import HCIHost
import SMP
import Testing

@testable import Security

/// The identity of a device on different controllers.
@Suite struct DeviceIdentityTests {
    private let random = RandomSource(seed: 5)
    private static let address = BluetoothAddress(0xC0FF_EE00_0001, kind: .publicDevice)

    private func store() throws -> BondStore {
        try BondStore(
            storage: MemoryBondStorage(),
            adapter: AdapterIdentity(address: Self.address),
            random: RandomSource(seed: 6)
        )
    }

    private func controller(_ address: BluetoothAddress?) -> ControllerInformation {
        var information = ControllerInformation()
        information.apply(ReadBDADDR.Response(address: address ?? .none))
        return information
    }

    /// A device keeps its identity on the next controller, and takes that of its bonds as soon as they exist.
    @Test func aDeviceStaysTheSame() throws {
        let bonds = try store()
        let known = bonds.identity
        let fixed = BluetoothAddress(0b11 << 46 | 5, kind: .randomDevice)
        let policies: [OwnAddressPolicy] = [.publicDevice, .staticRandom, .fixed(fixed), .identity, .resolvablePrivate]
        for policy in policies {
            let device = DeviceIdentity(policy, random: random)
            let hidden = device.hidden(nil)
            #expect((hidden != nil) == (policy == .resolvablePrivate))
            #expect(device.hidden(nil) == hidden)
            #expect(device.hidden(bonds) == (policy == .resolvablePrivate ? known : nil))
            #expect(hidden != known)
            #expect(device.hidden(nil) == hidden)
            // With a public address, without one, and with bonds.
            let drawn = device.address(on: controller(nil), nil).address
            #expect(drawn == fixed || drawn.randomKind == .static)
            #expect(device.address(on: controller(nil), nil).address == drawn)
            let onPublic = device.address(on: controller(Self.address), nil).address
            #expect(onPublic == (policy == .publicDevice ? Self.address : drawn))
            let withBonds = device.address(on: controller(nil), bonds).address
            #expect(withBonds == (policy == .identity ? known.address : drawn))
            #expect(device.address(on: controller(nil), nil).address == drawn)
        }
    }
}
