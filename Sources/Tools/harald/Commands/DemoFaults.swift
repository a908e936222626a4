import Accessories
import BluetoothSimulation
import Foundation

/// Faults that the user of a demo types while it runs.
struct DemoFaults: Sendable {
    private static let end = "end "

    let device: SimulatedDevice
    /// The app of the device that the faults concern.
    let app: String
    let say: @Sendable (String) -> Void

    /// Reads lines from a terminal until the program ends. Nothing happens if standard input is not a terminal.
    func readLines() {
        guard isatty(STDIN_FILENO) != 0 else { return }
        let faults = self
        Thread.detachNewThread {
            while let line = readLine() { faults.perform(line) }
        }
    }

    /// Begins the fault that a line names, or ends it after `end`. A question mark lists the faults.
    func perform(_ line: String) {
        let text = line.trimmingCharacters(in: .whitespaces)
        guard !text.isEmpty else { return }
        if text == "?" { return say(Self.list) }
        do throws(AccessoryError) {
            if text.hasPrefix(Self.end) {
                device.end(try DeviceFault(String(text.dropFirst(Self.end.count))), ofApp: app)
                say(text)
            } else {
                let fault = try DeviceFault(text)
                let isPossible = device.begin(fault, ofApp: app)
                say(isPossible ? "fault: \(fault.text)" : "only accessories of files can have the fault \(fault.text)")
            }
        } catch {
            say("\(error)")
        }
    }

    private static var list: String {
        "faults: " + DeviceFault.Kind.allCases.map(\.form).joined(separator: ", ") + "; \"end NAME\" ends one"
    }
}
