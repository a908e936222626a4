import BluetoothTypes
import Cryptography
import EventLoops

/// What a user of the radio asks of the one random address that a controller has for everything but advertising sets.
package enum AddressNeed: Hashable {
    /// It does not use it.
    case none
    /// Any address of the device will do.
    case any
    /// The one that bonded devices recognise.
    case recognisable
    /// One that says nothing.
    case nonResolvable
}

/// Which address those show who share one: the scanner and the initiator, and without extended advertising the advertiser.
package struct SharedAddress {
    package enum Kind: Hashable {
        /// That of a device without private addresses.
        case fixed
        case resolvable
        case nonResolvable
    }

    private var needs: [QuietMachine.User: AddressNeed] = [:]

    /// Notes what a user asks for.
    mutating func set(_ need: AddressNeed, of user: QuietMachine.User) {
        needs[user] = need
    }

    /// Nobody asks for anything.
    mutating func reset() {
        needs = [:]
    }

    /// What is shown. Those who have to be recognised come before those who would rather not be: a scan that asked for an
    /// address that says nothing has a resolvable one while a connection is being made.
    func kind(isPrivate: Bool) -> Kind {
        let recognisable: Kind = isPrivate ? .resolvable : .fixed
        if needs.values.contains(.recognisable) { return recognisable }
        return needs.values.contains(.nonResolvable) ? .nonResolvable : recognisable
    }
}
