import BluetoothTypes
import EventLoops
import HCI
import HCIHost
import SMP

/// The identity of a device across controllers: its address, and the identity behind its private addresses. The device
/// keeps it when it moves to another controller.
package final class DeviceIdentity {
    private let policy: OwnAddressPolicy
    private let random: RandomSource
    /// The identity while no bond store supplies one.
    private var stranger: LocalIdentity?
    private var drawn: OwnAddress?

    /// Creates an identity that is drawn at random when first needed.
    package init(_ policy: OwnAddressPolicy, random: RandomSource) {
        self.policy = policy
        self.random = random
    }

    /// The address drawn for a device without private addresses. Nil before its first use.
    package var knownAddress: BluetoothAddress? { drawn?.address }

    /// Returns the identity behind the device's private addresses; nil for a device without private addresses.
    ///
    /// Without bonds it returns a random identity that no peer can resolve.
    package func hidden(_ bonds: BondStore?) -> LocalIdentity? {
        guard policy == .resolvablePrivate else { return nil }
        if let known = bonds?.identity { return known }
        let made = stranger ?? LocalIdentity(random)
        stranger = made
        return made
    }

    /// Returns the address of a device without private addresses on a controller. Stable across calls.
    package func address(on controller: ControllerInformation, _ bonds: BondStore?) -> OwnAddress {
        if policy == .identity, let known = bonds?.identity { return OwnAddress(known.address) }
        if policy == .publicDevice, let address = controller.publicAddress { return OwnAddress(address) }
        let address = drawn ?? OwnAddress(policy, publicAddress: nil, random: random)
        drawn = address
        return address
    }
}
