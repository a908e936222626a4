import Foundation
import HeartRate

// Prints reports until the program is interrupted.
let monitor = HeartRateMonitor { print($0) }
withExtendedLifetime(monitor) { RunLoop.main.run() }
