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

    /// An address, and what kind of one it is.
    struct Drawn {
        let address: OwnAddress
        let kind: Kind
    }

    private var needs: [QuietMachine.User: AddressNeed] = [:]
    /// The address of a device without private addresses.
    private var base: OwnAddress?
    /// The address in use, once the controller has accepted it.
    private(set) var current: Drawn?
    /// The address to be used from the next change on.
    private var planned: Drawn?

    /// Records what a user requires.
    mutating func set(_ need: AddressNeed, of user: QuietMachine.User) {
        needs[user] = need
    }

    /// Starts with the address of a device without private addresses, on a controller that has become ready.
    mutating func begin(_ address: OwnAddress) { base = address }

    /// Forgets addresses and needs, because the controller is gone.
    mutating func reset() { self = SharedAddress() }

    /// Plans the address of the next change.
    mutating func plan(_ address: Drawn) { planned = address }

    /// Plans the address in use again, for a controller that was reset, unless another one is planned.
    mutating func planAgain() { planned = planned ?? current }

    /// Removes and returns the planned address.
    mutating func takePlanned() -> Drawn? {
        defer { planned = nil }
        return planned
    }

    /// Records that the controller has accepted an address.
    mutating func adopt(_ address: Drawn) { current = address }

    /// Draws an address of a kind. It is the fixed one for a device without a key.
    func draw(_ kind: Kind, _ key: Key128?, _ random: RandomSource) -> Drawn {
        switch kind {
        case .nonResolvable: return Drawn(address: OwnAddress(.nonResolvablePrivate(random)), kind: kind)
        case .resolvable:
            guard let key else { break }
            return Drawn(address: OwnAddress(.resolvablePrivate(key, random)), kind: kind)
        case .fixed: break
        }
        return Drawn(address: base ?? OwnAddress(.none), kind: .fixed)
    }

    /// Returns the kind of address to use. The need to be recognised outweighs the need not to be: a scan that asked
    /// for a non-resolvable address uses a resolvable one while a connection is being made.
    func kind(isPrivate: Bool) -> Kind {
        let recognisable: Kind = isPrivate ? .resolvable : .fixed
        if needs.values.contains(.recognisable) { return recognisable }
        return needs.values.contains(.nonResolvable) ? .nonResolvable : recognisable
    }
}
