import CoreBluetooth
import Dispatch
import Foundation

/// Programs for a comparison with another stack (`Benchmarks/machine beside`): a central and a peripheral on the
/// controller that the environment names. The programs of the other stack do the same (`Interop/peers/throughput.py`).
enum SideBySide {
    /// The first argument of such a program.
    static let argument = "--beside"

    static let service = CBUUID(string: "FFF0")
    /// Notifies as fast as it can while a central is subscribed.
    static let notified = CBUUID(string: "FFF1")
    /// Accepts writes, and counts them.
    static let written = CBUUID(string: "FFF2")
    /// The number of octets written since the last read, and the nanoseconds that took: two numbers of eight octets.
    static let tally = CBUUID(string: "FFF3")
    /// Unrelated services, as in a typical table, and the number of characteristics in each.
    static let others = (services: 5, characteristics: 4)

    /// The number of values that a central writes.
    static let writes = 2_000

    static func run(_ arguments: [String]) {
        switch arguments.first {
        case "peripheral":
            let app = MeasuredPeripheral()
            while readLine() != nil {}
            withExtendedLifetime(app) {}
        case "central":
            let seconds = arguments.dropFirst().first.flatMap { Double($0) } ?? 5
            let app = MeasuredCentral(seconds: seconds)
            app.done.wait()
        default: say("central or peripheral")
        }
    }

    static func say(_ text: String) {
        FileHandle.standardOutput.write(Data("\(text)\n".utf8))
    }

    static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }
}

/// A count of octets from the first value on.
struct OctetCount {
    private(set) var octets = 0
    private var first: UInt64?
    private var last: UInt64 = 0

    /// The nanoseconds from the first value to the last. A single value counts no octets.
    var duration: UInt64 { last - (first ?? last) }

    mutating func take(_ count: Int) {
        last = SideBySide.now
        if first == nil { first = last } else { octets += count }
    }

    static func perSecond(_ octets: UInt64, _ nanoseconds: UInt64) -> String {
        "\(nanoseconds == 0 ? 0 : Int(Double(octets) * 1e9 / Double(nanoseconds)))"
    }
}
