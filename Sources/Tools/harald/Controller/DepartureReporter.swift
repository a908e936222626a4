import Administration
import BluetoothTypes
import CapturePlayback
import HCI
import HCITransports
import Synchronization

/// Prints the first departures of a playback, and writes all of them to a file.
final class DepartureReporter: Sendable {
    /// How many are printed. A host that departs early misses each later packet.
    private static let maximumPrinted = 20

    private let path: String?
    private let file: CaptureFile?
    private let count = Mutex(0)

    /// - Parameter path: The path of the file; nil to print only.
    init(_ path: String?, reading inputs: [String]) {
        self.path = path
        guard let path else {
            file = nil
            return
        }
        do throws(OutputFile.Failure) {
            file = try CaptureFile(path: path, reading: inputs)
        } catch {
            Console.problem("harald: cannot write the departures to \(path): \(error.reason)")
            file = nil
        }
    }

    func report(_ departure: CaptureDeparture) {
        print(departure)
        guard let file, let text = JSONText.of(departure) else { return }
        file.write(Array("\(text)\n".utf8))
    }

    private func print(_ departure: CaptureDeparture) {
        let number = count.withLock { count in
            count += 1
            return count
        }
        guard number <= Self.maximumPrinted else {
            guard number == Self.maximumPrinted + 1 else { return }
            return Console.problem("further departures are not printed: \(path ?? "--departures FILE") has all of them")
        }
        for (index, line) in departure.description.split(separator: "\n").enumerated() {
            Console.problem(index == 0 ? "departure at \(line)" : String(line))
        }
    }
}

extension ControllerAddress {
    var isPlayback: Bool { !playedFiles.isEmpty }

    /// The file of the capture that is played back, if there is one.
    var playedFiles: [String] { if case .capture(let path) = self { [path] } else { [] } }
}
