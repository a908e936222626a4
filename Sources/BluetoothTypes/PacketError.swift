/// Why octets from outside could not be read as the packet that they should be.
public struct PacketError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was wrong.
    public enum Cause: Hashable, Sendable {
        /// The packet ends before the field does.
        case truncated(needed: Int, available: Int)
        /// Octets are left over after the last field.
        case trailing(Int)
        /// A length or count field contradicts the packet, or goes beyond a bound.
        case length(Int)
        /// A list has more elements than its rule allows.
        case excess(Int, limit: Int)
        /// The value is not one that the specification allows here.
        case value(UInt64)
    }

    /// The field, named as in the specification.
    public var field: String
    /// What was wrong with it.
    public var cause: Cause

    /// An error at `field`.
    public init(_ cause: Cause, at field: String) {
        self.field = field
        self.cause = cause
    }

    /// One sentence for a log.
    public var description: String {
        switch cause {
        case .truncated(let needed, let available): "\(field): \(needed) octets needed, \(available) left"
        case .trailing(let count): "\(field): \(count) octets left over"
        case .length(let length): "\(field): impossible length \(length)"
        case .excess(let count, let limit): "\(field): \(count) elements, and the limit is \(limit)"
        case .value(let value): "\(field): value 0x\(String(value, radix: 16)) is not allowed"
        }
    }
}
