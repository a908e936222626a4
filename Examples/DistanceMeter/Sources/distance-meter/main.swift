import DistanceMeter
import Foundation

// Prints reports until the program is interrupted.
let meter = DistanceMeter { report in
    if case .distance(let metres) = report {
        print(String(format: "%.2f m", metres))
    } else {
        print(report)
    }
    fflush(nil)
}
withExtendedLifetime(meter) { RunLoop.main.run() }
