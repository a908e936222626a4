/// An error that is thrown when octets from outside cannot be parsed as the expected packet.
public struct PacketError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason why parsing failed.
    public enum Cause: Hashable, Sendable {
        /// The packet ends before the field does.
        case truncated(needed: Int, available: Int)
        /// Octets are left over after the last field.
        case trailing(Int)
        /// A length or count contradicts the packet, or exceeds a bound.
        case length(Int)
        /// A list has more elements than its rule allows.
        case excess(Int, limit: Int)
        /// The specification does not allow the value here.
        case value(UInt64)
    }

    /// The field, named as in the specification.
    public var field: String
    /// The reason why parsing failed at ``field``.
    public var cause: Cause

    /// Creates an error at `field`.
    public init(_ cause: Cause, at field: String) {
        self.field = field
        self.cause = cause
    }

    /// The error as one sentence, for logs.
    public var description: String {
        switch cause {
        case .truncated(let needed, let available): "\(field): \(needed) octets needed, \(available) left"
        case .trailing(let count): "\(field): \(count) octets left over"
        case .length(let length): "\(field): invalid length \(length)"
        case .excess(let count, let limit): "\(field): \(count) elements exceed the limit of \(limit)"
        case .value(let value): "\(field): value 0x\(String(value, radix: 16)) is not allowed"
        }
    }
}
