import BluetoothTypes
import Cryptography
import EventLoops

/// The requirement of a user of the radio on the controller's one random address, which serves everything except
/// advertising sets.
package enum AddressNeed: Hashable {
    /// The user does not use the address.
    case none
    /// Any address of the device will do.
    case any
    /// An address that bonded devices recognise.
    case recognisable
    /// An address that cannot be linked to the device.
    case nonResolvable
}

/// The choice of the address shared by the scanner and the initiator, and without extended advertising also the
/// advertiser.
package struct SharedAddress {
    package enum Kind: Hashable {
        /// The address of a device without private addresses.
        case fixed
        case resolvable
        case nonResolvable
    }

    private var needs: [QuietMachine.User: AddressNeed] = [:]

    /// Records what a user requires.
    mutating func set(_ need: AddressNeed, of user: QuietMachine.User) {
        needs[user] = need
    }

    mutating func reset() {
        needs = [:]
    }

    /// Returns the kind of address to use. The need to be recognised outweighs the need not to be: a scan that asked
    /// for a non-resolvable address uses a resolvable one while a connection is being made.
    func kind(isPrivate: Bool) -> Kind {
        let recognisable: Kind = isPrivate ? .resolvable : .fixed
        if needs.values.contains(.recognisable) { return recognisable }
        return needs.values.contains(.nonResolvable) ? .nonResolvable : recognisable
    }
}
