import Foundation
import HeartRate

/// Prints at once. `print` alone waits for its buffer to fill, unless standard output is a terminal.
func say(_ report: some Any) {
    print(report)
    fflush(nil)
}

// Prints reports until the program is interrupted.
let monitor = HeartRateMonitor { say($0) }
withExtendedLifetime(monitor) { RunLoop.main.run() }
