import Foundation
import HeartRate

// Reports until it is interrupted.
let monitor = HeartRateMonitor { print($0) }
withExtendedLifetime(monitor) { RunLoop.main.run() }
