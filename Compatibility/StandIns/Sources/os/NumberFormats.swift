import Foundation

/// The format of a Boolean.
public enum OSLogBoolFormat: Sendable {
    case truth
    case answer

    func written(_ value: Bool) -> String {
        switch self {
        case .truth: value ? "true" : "false"
        case .answer: value ? "YES" : "NO"
        }
    }
}

/// The format of an integer.
public struct OSLogIntegerFormatting: Sendable {
    let radix: Int
    var prefix = ""
    var isUppercase = false
    var minDigits = 0
    var hasPlus = false

    public static var decimal: OSLogIntegerFormatting { OSLogIntegerFormatting(radix: 10) }
    public static var hex: OSLogIntegerFormatting { OSLogIntegerFormatting(radix: 16) }
    public static var octal: OSLogIntegerFormatting { OSLogIntegerFormatting(radix: 8) }

    public static func decimal(explicitPositiveSign: Bool = false) -> OSLogIntegerFormatting {
        OSLogIntegerFormatting(radix: 10, hasPlus: explicitPositiveSign)
    }

    public static func decimal(
        explicitPositiveSign: Bool = false,
        minDigits: @autoclosure () -> Int
    ) -> OSLogIntegerFormatting {
        OSLogIntegerFormatting(radix: 10, minDigits: minDigits(), hasPlus: explicitPositiveSign)
    }

    public static func hex(explicitPrefix: Bool = false, uppercase: Bool = false) -> OSLogIntegerFormatting {
        OSLogIntegerFormatting(radix: 16, prefix: explicitPrefix ? "0x" : "", isUppercase: uppercase)
    }

    public static func hex(
        explicitPrefix: Bool = false,
        uppercase: Bool = false,
        minDigits: @autoclosure () -> Int
    ) -> OSLogIntegerFormatting {
        OSLogIntegerFormatting(
            radix: 16,
            prefix: explicitPrefix ? "0x" : "",
            isUppercase: uppercase,
            minDigits: minDigits()
        )
    }

    public static func octal(explicitPrefix: Bool = false, uppercase: Bool = false) -> OSLogIntegerFormatting {
        OSLogIntegerFormatting(radix: 8, prefix: explicitPrefix ? "0" : "", isUppercase: uppercase)
    }

    func written<T: FixedWidthInteger>(_ value: T) -> String {
        let digits = String(value.magnitude, radix: radix, uppercase: isUppercase)
        let zeros = String(repeating: "0", count: max(0, minDigits - digits.count))
        return (value < 0 ? "-" : hasPlus ? "+" : "") + prefix + zeros + digits
    }
}

/// The format of a floating-point number.
public struct OSLogFloatFormatting: Sendable {
    let format: String

    public static var fixed: OSLogFloatFormatting { OSLogFloatFormatting(format: "%f") }
    public static var hex: OSLogFloatFormatting { OSLogFloatFormatting(format: "%a") }
    public static var exponential: OSLogFloatFormatting { OSLogFloatFormatting(format: "%e") }
    public static var hybrid: OSLogFloatFormatting { OSLogFloatFormatting(format: "%g") }

    public static func fixed(precision: @autoclosure () -> Int) -> OSLogFloatFormatting {
        OSLogFloatFormatting(format: "%.\(max(0, precision()))f")
    }

    public static func exponential(precision: @autoclosure () -> Int) -> OSLogFloatFormatting {
        OSLogFloatFormatting(format: "%.\(max(0, precision()))e")
    }

    public static func hybrid(precision: @autoclosure () -> Int) -> OSLogFloatFormatting {
        OSLogFloatFormatting(format: "%.\(max(0, precision()))g")
    }
}
