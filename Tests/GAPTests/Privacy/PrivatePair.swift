import BluetoothTypes
import LinkLayer
import SMP
import Testing

/// Two devices with private addresses, bonded by default.
struct PrivatePair {
    let world: GAPWorld
    let watch: AirWatch
    let device: GAPDevice
    let other: GAPDevice

    init(_ mode: PrivacyMode, areBonded: Bool = true) throws {
        world = GAPWorld(mode.commands)
        watch = AirWatch(world.radio)
        device = world.privateDevice(mode)
        other = world.privateDevice(mode)
        if areBonded { try device.bond(with: other) }
    }

    /// Expects that neither device has shown its identity on the air.
    func expectNoIdentityOnAir(_ place: SourceLocation = #_sourceLocation) {
        for (one, node) in [(device, device.node), (other, other.node)] {
            #expect(!watch.hasSent(one.identity.address, node), sourceLocation: place)
        }
    }
}
