import Bonds
import EventLoops
import HCI
import HCIHost
import SMP

/// Who a device is, whatever controller it has at the moment: the address that it shows, and the identity behind private ones.
/// It outlasts controllers, so that the device is the same one on the next.
package final class DeviceIdentity {
    private let policy: OwnAddressPolicy
    private let random: RandomSource
    /// Who the device is while there are no bonds that say so.
    private var stranger: LocalIdentity?
    private var drawn: OwnAddress?

    /// An identity that is drawn when it is first needed.
    package init(_ policy: OwnAddressPolicy, random: RandomSource) {
        self.policy = policy
        self.random = random
    }

    /// What bonded devices recognise this one by behind its private addresses; nil for a device without them. Without bonds
    /// that is nobody's business.
    package func hidden(_ bonds: BondStore?) -> LocalIdentity? {
        guard policy == .resolvablePrivate else { return nil }
        if let known = bonds?.identity { return known }
        let made = stranger ?? LocalIdentity(random)
        stranger = made
        return made
    }

    /// The address on a controller, for a device without private ones: the same each time that it is asked for.
    package func address(on controller: ControllerInformation, _ bonds: BondStore?) -> OwnAddress {
        if policy == .identity, let known = bonds?.identity { return OwnAddress(known.address) }
        if policy == .publicDevice, let address = controller.publicAddress { return OwnAddress(address) }
        let address = drawn ?? OwnAddress(policy, publicAddress: nil, random: random)
        drawn = address
        return address
    }
}
