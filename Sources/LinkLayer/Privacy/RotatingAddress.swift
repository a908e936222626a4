import BluetoothTypes
import Cryptography
import EventLoops

/// A resolvable private address of the controller's own making, and the key that it is made with (Core Vol 6 Part B
/// 1.3.2.2). It is replaced when it has been used for long enough (6.1).
struct RotatingAddress {
    /// How long an address is used, and where the next one comes from.
    struct Rules {
        var now: Instant
        /// An address is used for as long as the shortest of these at least, and the longest at most.
        var lifetimes: ClosedRange<Duration>
        var random: RandomSource

        /// Where in the range an address is to end, in parts of ``RotatingAddress/parts``. Nothing is drawn for a range
        /// that leaves no choice.
        fileprivate func drawEnd() -> Int64 {
            lifetimes.lowerBound == lifetimes.upperBound ? 0 : Int64(random.below(UInt64(RotatingAddress.parts) + 1))
        }
    }

    /// In how many parts a range of lifetimes is cut.
    fileprivate static let parts: Int64 = 1_024

    private let key: Key128
    private var made: Instant
    private var end: Int64
    /// The address, as it was made last.
    private(set) var address: BluetoothAddress

    init(_ key: Key128, _ rules: Rules) {
        self.key = key
        made = rules.now
        address = Self.make(key, rules.random)
        end = rules.drawEnd()
    }

    /// The address to use now. Other lifetimes hold for the address that there is, too (Core Vol 4 Part E 7.8.45).
    mutating func current(_ rules: Rules) -> BluetoothAddress {
        let (least, most) = (rules.lifetimes.lowerBound, rules.lifetimes.upperBound)
        let lifetime = least + .nanoseconds((most - least).nanoseconds / Self.parts * end)
        if rules.now >= made + lifetime { renew(rules) }
        return address
    }

    /// Replaces the address before its time.
    mutating func renew(_ rules: Rules) {
        made = rules.now
        address = Self.make(key, rules.random)
        end = rules.drawEnd()
    }

    /// prand: 0b01 in front of 22 bits of which one at least is set and one at least is not.
    private static func make(_ key: Key128, _ random: RandomSource) -> BluetoothAddress {
        var part: UInt32
        repeat {
            part = UInt32(truncatingIfNeeded: random.next() >> 42)
        } while part == 0 || part == 0x3F_FFFF
        part |= 0x40_0000
        return BluetoothAddress(UInt64(part) << 24 | UInt64(Toolbox.ah(key, part)), kind: .randomDevice)
    }
}

extension BluetoothAddress {
    /// Whether this is a private address that was made with a key, by an honest maker or by chance (1.3.2.3).
    func isMade(with key: Key128) -> Bool {
        randomKind == .resolvable
            && Toolbox.ah(key, UInt32(truncatingIfNeeded: value >> 24)) == UInt32(truncatingIfNeeded: value & 0xFF_FFFF)
    }

    /// The same device without a word about how it was recognised: public or random.
    var device: BluetoothAddress { BluetoothAddress(value, kind: .init(isRandom: kind.isRandom)) }

    /// The same as the identity behind a private address.
    var identity: BluetoothAddress {
        BluetoothAddress(value, kind: kind.isRandom ? .randomIdentity : .publicIdentity)
    }
}
