/// A message whose values are looked at only when it is written.
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

/// Whether a value may be read by whoever reads the log.
public struct OSLogPrivacy: Sendable {
    enum Kind { case automatic, open, hidden }

    /// How a hidden value is shown.
    public enum Mask: Sendable { case hash, none }

    let kind: Kind
    let mask: Mask

    /// Numbers may, all else may not.
    public static var auto: OSLogPrivacy { OSLogPrivacy(kind: .automatic, mask: .none) }
    public static var `public`: OSLogPrivacy { OSLogPrivacy(kind: .open, mask: .none) }
    public static var `private`: OSLogPrivacy { OSLogPrivacy(kind: .hidden, mask: .none) }
    public static var sensitive: OSLogPrivacy { OSLogPrivacy(kind: .hidden, mask: .none) }

    public static func auto(mask: Mask) -> OSLogPrivacy { OSLogPrivacy(kind: .automatic, mask: mask) }
    public static func `private`(mask: Mask) -> OSLogPrivacy { OSLogPrivacy(kind: .hidden, mask: mask) }
    public static func sensitive(mask: Mask) -> OSLogPrivacy { OSLogPrivacy(kind: .hidden, mask: mask) }

    /// A value as it is written; `isNumber` decides where nothing was said.
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

/// In how many columns a value is written.
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
