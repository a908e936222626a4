import Foundation
import HealthThermometer

/// Prints at once. `print` alone waits for its buffer to fill, unless standard output is a terminal.
func say(_ report: some Any) {
    print(report)
    fflush(nil)
}

// thermometer [NAME]: sends a measurement once a second until it is interrupted.
let thermometer = Thermometer(
    name: CommandLine.arguments.dropFirst().first ?? "Thermometer",
    celsius: { 36.5 + Double.random(in: -0.2...0.2) },
    report: { say($0) }
)
Task { @MainActor in
    while true {
        try await Task.sleep(for: .seconds(1))
        thermometer.measure()
    }
}
RunLoop.main.run()
