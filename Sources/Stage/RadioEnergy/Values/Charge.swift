/// An electric charge, as drawn from a battery.
///
/// It is exact: an integer number of femtocoulombs, the product of nanoamperes and microseconds. With 128 bits, a
/// charge cannot overflow in practice.
public struct Charge: Hashable, Sendable, Comparable, AdditiveArithmetic {
    /// One microampere hour in femtocoulombs.
    private static let microampereHour: Int128 = 3_600_000_000_000

    /// The charge in femtocoulombs.
    public var femtocoulombs: Int128

    /// The charge of zero femtocoulombs.
    public static let zero = Charge(femtocoulombs: 0)

    /// Creates a charge.
    ///
    /// - Parameter femtocoulombs: The charge in femtocoulombs.
    public init(femtocoulombs: Int128) {
        self.femtocoulombs = femtocoulombs
    }

    /// Creates the charge that a current moves in a time.
    ///
    /// - Parameters:
    ///   - nanoamperes: The current, in nanoamperes.
    ///   - microseconds: The time, in microseconds.
    public init(nanoamperes: Int64, microseconds: Int64) {
        self.init(femtocoulombs: Int128(nanoamperes) * Int128(microseconds))
    }

    /// Returns a charge in microampere hours, rounded to a femtocoulomb; zero for a value that is not finite.
    public static func microampereHours(_ value: Double) -> Charge {
        Charge(femtocoulombs: Int128(exactly: (value * Double(microampereHour)).rounded()) ?? 0)
    }

    /// Returns a charge in milliampere hours, the unit of batteries; zero for a value that is not finite.
    public static func milliampereHours(_ value: Double) -> Charge { microampereHours(value * 1_000) }

    /// Returns a charge in microcoulombs; zero for a value that is not finite.
    public static func microcoulombs(_ value: Double) -> Charge {
        Charge(femtocoulombs: Int128(exactly: (value * 1e9).rounded()) ?? 0)
    }

    /// The charge in microampere hours.
    public var microampereHours: Double { Double(femtocoulombs) / Double(Self.microampereHour) }
    /// The charge in microcoulombs.
    public var microcoulombs: Double { Double(femtocoulombs) / 1e9 }

    /// Orders charges by size.
    public static func < (a: Charge, b: Charge) -> Bool { a.femtocoulombs < b.femtocoulombs }
    /// Returns the sum of two charges.
    public static func + (a: Charge, b: Charge) -> Charge { Charge(femtocoulombs: a.femtocoulombs + b.femtocoulombs) }
    /// Subtracts a charge from another one.
    public static func - (a: Charge, b: Charge) -> Charge { Charge(femtocoulombs: a.femtocoulombs - b.femtocoulombs) }

    /// Returns the charge in another span of time at the same rate.
    ///
    /// - Parameters:
    ///   - elapsed: The time in which this charge was used.
    ///   - time: The other span.
    /// - Returns: The charge; zero if no time has passed.
    public func scaled(from elapsed: Duration, to time: Duration) -> Charge {
        guard elapsed > .zero else { return .zero }
        return Charge(femtocoulombs: Int128(exactly: (Double(femtocoulombs) * (time / elapsed)).rounded()) ?? 0)
    }
}

extension Charge: CustomStringConvertible {
    /// The charge in microampere hours, or in milliampere hours from one of those on, with three significant digits.
    public var description: String {
        let value = microampereHours
        return abs(value) < 1_000 ? "\(Self.text(value)) µAh" : "\(Self.text(value / 1_000)) mAh"
    }

    private static func text(_ value: Double) -> String {
        let size = abs(value)
        let digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 4
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        let rounded = (value * scale).rounded() / scale
        return digits == 0 ? "\(Int64(exactly: rounded) ?? 0)" : "\(rounded)"
    }
}
