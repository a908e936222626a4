import CapturePlayback
import Foundation
import HCI
import HCITransports

/// Prints the departures of a playback, and writes them to a file.
struct DepartureReporter: Sendable {
    private let file: CaptureFile?

    /// Creates a reporter.
    ///
    /// - Parameter path: The path of the file; nil to print only.
    init(_ path: String?) {
        guard let path else {
            file = nil
            return
        }
        do throws(CaptureError) {
            file = try CaptureFile(path: path)
        } catch {
            Console.problem("harald: cannot write the departures to \(path): \(error.reason)")
            file = nil
        }
    }

    func report(_ departure: CaptureDeparture) {
        for (index, line) in departure.description.split(separator: "\n").enumerated() {
            Console.problem(index == 0 ? "departure at \(line)" : String(line))
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let file, let octets = try? encoder.encode(departure) else { return }
        file.write([UInt8](octets) + [0x0A])
    }
}

extension ControllerAddress {
    /// Whether the controller is a capture that is played back.
    var isPlayback: Bool { if case .capture = self { true } else { false } }
}
