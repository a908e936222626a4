import Foundation
import Testing

@testable import os

@Suite("The text of a log message")
struct FormatTests {
    private func text(_ format: String, _ arguments: any CVarArg...) -> String {
        FormattedMessage(format: format, arguments: arguments).text
    }

    @Test("numbers are shown, and other values only if they are public")
    func numbersAreShown() {
        #expect(text("%d of %u, %x", -1, 2, 255) == "-1 of 2, ff")
        #expect(text("%@ %{public}@ %{private}@", "a", "b", "c") == "<private> b <private>")
        #expect(text("%{private}d %{public}d", 1, 2) == "<private> 2")
        #expect(text("%{public}s", "text") == "text")
        #expect(text("%{public, location:name}@ %{sensitive}@", "a", "b") == "a <private>")
    }

    @Test("widths, precisions and lengths are those of C")
    func widthsAndPrecisions() {
        #expect(text("%5d|%-4d|%04x|%+d", 42, 7, 0xAB, 1) == "   42|7   |00ab|+1")
        #expect(text("%.2f %5.1f %g", 1.005, 2.25, 0.5) == String(format: "%.2f %5.1f %g", 1.005, 2.25, 0.5))
        #expect(text("%ld %llu %zu %hhx", 1, UInt64.max, 3, UInt8(200)) == "1 18446744073709551615 3 c8")
        #expect(text("%x", Int32(-1)) == "ffffffff")
        #expect(text("%.*f", 1, 2.55) == String(format: "%.1f", 2.55))
        #expect(text("100%% %c", 65) == "100% A")
    }

    @Test("a message is logged even if its format does not match the arguments")
    func aFormatThatDoesNotFit() {
        #expect(text("%d %d", 1) == "1 <missing>")
        #expect(text("%{public}@", 5) == "5")
        #expect(text("%d", "text") == "text")
        #expect(text("100%") == "100%")
        #expect(text("%{public") == "%{public")
        #expect(text("", 1) == "")
    }

    @Test("an interpolated message states for each value whether it is public")
    func anInterpolatedMessage() {
        func text(_ message: OSLogMessage) -> String { message.text }
        let name = "Sensor"
        let error: any Error = CocoaError(.fileNoSuchFile)
        #expect(text("plain") == "plain")
        #expect(text("\(name) \(name, privacy: .public) \(7) \(true)") == "<private> Sensor 7 true")
        #expect(text("\(7, privacy: .private)") == "<private>")
        #expect(text("\(255, format: .hex(explicitPrefix: true)) \(5, format: .decimal(minDigits: 3))") == "0xff 005")
        #expect(text("\(1.5, format: .fixed(precision: 2)) \(UInt8(9), format: .hex(minDigits: 2))") == "1.50 09")
        #expect(text("[\(3, align: .right(columns: 4))]") == "[   3]")
        #expect(text("[\(name, align: .left(columns: 8), privacy: .public)]") == "[Sensor  ]")
        #expect(text("\(String(describing: error), privacy: .public)").contains("CocoaError"))
        #expect(text("\(name, privacy: .private(mask: .hash))").hasPrefix("<mask.hash: '"))
        #expect(text("\([1, 2], privacy: .public) \(UUID.self)") == "[1, 2] UUID")
    }

    @Test("values are evaluated only when a message is written")
    func valuesAreLookedAtOnlyWhenWritten() {
        var looks = 0
        func value() -> Int {
            looks += 1
            return looks
        }
        Logger(.disabled).fault("\(value())")
        Logger(subsystem: "s", category: "c").debug("\(value())")
        #expect(looks == 0)
    }

    @Test("a message is one line without terminal control characters")
    func aMessageIsOneLine() {
        let line = LogLine(type: .error, subsystem: "app", category: "part", message: "a\nb\r\n\u{1B}[31mc\u{2028}d")
        #expect(line.text == "error [app:part] a b  [31mc d\n")
    }
}
