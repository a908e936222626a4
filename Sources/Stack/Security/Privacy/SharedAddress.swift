import BluetoothTypes
import Cryptography
import EventLoops

/// The choice of the address shared by the scanner and the initiator, and without extended advertising also the
/// advertiser.
package struct SharedAddress {
    package enum Kind: Hashable {
        /// The address of a device without private addresses.
        case fixed
        case resolvable
    }

    /// An address, and what kind of one it is.
    struct Drawn {
        let address: OwnAddress
        let kind: Kind
    }

    private var base: OwnAddress?
    /// The address in use, once the controller has accepted it.
    private(set) var current: Drawn?
    /// The address to be used from the next change on.
    private var planned: Drawn?

    /// Starts with the address of a device without private addresses, on a controller that has become ready.
    mutating func begin(_ address: OwnAddress) { base = address }

    mutating func reset() { self = SharedAddress() }

    mutating func plan(_ address: Drawn) { planned = address }

    /// Plans the address in use again, for a controller that was reset, unless another one is planned.
    mutating func planAgain() { planned = planned ?? current }

    mutating func takePlanned() -> Drawn? {
        defer { planned = nil }
        return planned
    }

    /// Records that the controller has accepted an address.
    mutating func adopt(_ address: Drawn) { current = address }

    /// Draws a resolvable private address. It is the fixed one for a device without a key.
    func draw(_ key: Key128?, _ random: RandomSource) -> Drawn {
        guard let key else { return Drawn(address: base ?? OwnAddress(.none), kind: .fixed) }
        return Drawn(address: OwnAddress(.resolvablePrivate(key, random)), kind: .resolvable)
    }
}
