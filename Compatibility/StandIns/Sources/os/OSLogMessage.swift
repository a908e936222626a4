/// A message whose values are evaluated only when it is written.
public struct OSLogMessage: ExpressibleByStringInterpolation {
    private let interpolation: OSLogInterpolation

    public init(stringInterpolation: OSLogInterpolation) {
        interpolation = stringInterpolation
    }

    public init(stringLiteral value: String) {
        var interpolation = OSLogInterpolation(literalCapacity: 0, interpolationCount: 0)
        interpolation.appendLiteral(value)
        self.interpolation = interpolation
    }

    var text: String { interpolation.parts.map { $0() }.joined() }
}

/// Whether a value is visible in the log.
public struct OSLogPrivacy: Sendable {
    enum Kind { case automatic, open, hidden }

    /// The replacement of a hidden value.
    public enum Mask: Sendable { case hash, none }

    let kind: Kind
    let mask: Mask

    /// Shows numbers and hides everything else.
    public static var auto: OSLogPrivacy { OSLogPrivacy(kind: .automatic, mask: .none) }
    public static var `public`: OSLogPrivacy { OSLogPrivacy(kind: .open, mask: .none) }
    public static var `private`: OSLogPrivacy { OSLogPrivacy(kind: .hidden, mask: .none) }
    public static var sensitive: OSLogPrivacy { OSLogPrivacy(kind: .hidden, mask: .none) }

    public static func auto(mask: Mask) -> OSLogPrivacy { OSLogPrivacy(kind: .automatic, mask: mask) }
    public static func `private`(mask: Mask) -> OSLogPrivacy { OSLogPrivacy(kind: .hidden, mask: mask) }
    public static func sensitive(mask: Mask) -> OSLogPrivacy { OSLogPrivacy(kind: .hidden, mask: mask) }

    /// Returns the text of a value. `isNumber` decides for the automatic option.
    func shown(_ value: @autoclosure () -> String, isNumber: Bool) -> String {
        switch kind {
        case .open: value()
        case .automatic where isNumber: value()
        case .automatic, .hidden:
            if LogLine.showsPrivate {
                value()
            } else if mask == .hash {
                "<mask.hash: '\(String(UInt(bitPattern: value().hashValue), radix: 16))'>"
            } else {
                "<private>"
            }
        }
    }
}

/// The alignment of a value, and its width in columns.
public struct OSLogStringAlignment {
    let columns: () -> Int
    let isLeft: Bool

    public static var none: OSLogStringAlignment { OSLogStringAlignment(columns: { 0 }, isLeft: false) }

    public static func left(columns: @autoclosure @escaping () -> Int) -> OSLogStringAlignment {
        OSLogStringAlignment(columns: columns, isLeft: true)
    }

    public static func right(columns: @autoclosure @escaping () -> Int) -> OSLogStringAlignment {
        OSLogStringAlignment(columns: columns, isLeft: false)
    }

    func aligned(_ text: String) -> String {
        let padding = String(repeating: " ", count: max(0, columns() - text.count))
        return isLeft ? text + padding : padding + text
    }
}
