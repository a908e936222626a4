public import Foundation

/// The interpolation of a log message.
public struct OSLogInterpolation: StringInterpolationProtocol {
    var parts: [() -> String] = []

    public init(literalCapacity: Int, interpolationCount: Int) {}

    public mutating func appendLiteral(_ literal: String) {
        parts.append { literal }
    }

    /// Appends a value that is neither a number nor a string.
    @_disfavoredOverload
    public mutating func appendInterpolation<T: CustomStringConvertible>(
        _ value: @autoclosure @escaping () -> T,
        align: OSLogStringAlignment = .none,
        privacy: OSLogPrivacy = .auto,
        attributes: String = ""
    ) {
        append(isNumber: false, align, privacy) { value().description }
    }

    public mutating func appendInterpolation(
        _ value: @autoclosure @escaping () -> String,
        align: OSLogStringAlignment = .none,
        privacy: OSLogPrivacy = .auto,
        attributes: String = ""
    ) {
        append(isNumber: false, align, privacy) { value() }
    }

    /// Appends an object, or `(null)`.
    public mutating func appendInterpolation(
        _ value: @autoclosure @escaping () -> NSObject?,
        privacy: OSLogPrivacy = .auto,
        attributes: String = ""
    ) {
        append(isNumber: false, .none, privacy) { value()?.description ?? "(null)" }
    }

    /// Appends an error, or `(null)`.
    @_disfavoredOverload
    public mutating func appendInterpolation(
        _ value: @autoclosure @escaping () -> (any Error)?,
        privacy: OSLogPrivacy = .auto,
        attributes: String = ""
    ) {
        append(isNumber: false, .none, privacy) { value().map { "\($0)" } ?? "(null)" }
    }

    public mutating func appendInterpolation(
        _ value: @autoclosure @escaping () -> Any.Type,
        align: OSLogStringAlignment = .none,
        privacy: OSLogPrivacy = .auto,
        attributes: String = ""
    ) {
        append(isNumber: true, align, privacy) { String(describing: value()) }
    }

    public mutating func appendInterpolation(
        _ value: @autoclosure @escaping () -> Bool,
        format: OSLogBoolFormat = .truth,
        privacy: OSLogPrivacy = .auto
    ) {
        append(isNumber: true, .none, privacy) { format.written(value()) }
    }

    public mutating func appendInterpolation<T: FixedWidthInteger & CVarArg>(
        _ value: @autoclosure @escaping () -> T,
        format: OSLogIntegerFormatting = .decimal,
        align: OSLogStringAlignment = .none,
        privacy: OSLogPrivacy = .auto,
        attributes: String = ""
    ) {
        append(isNumber: true, align, privacy) { format.written(value()) }
    }

    public mutating func appendInterpolation<T: BinaryFloatingPoint & CVarArg>(
        _ value: @autoclosure @escaping () -> T,
        format: OSLogFloatFormatting = .fixed,
        align: OSLogStringAlignment = .none,
        privacy: OSLogPrivacy = .auto,
        attributes: String = ""
    ) {
        append(isNumber: true, align, privacy) { String(format: format.format, Double(value())) }
    }

    private mutating func append(
        isNumber: Bool,
        _ alignment: OSLogStringAlignment,
        _ privacy: OSLogPrivacy,
        _ value: @escaping () -> String
    ) {
        parts.append { privacy.shown(alignment.aligned(value()), isNumber: isNumber) }
    }
}
