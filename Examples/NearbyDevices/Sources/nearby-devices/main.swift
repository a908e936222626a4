import Foundation
import NearbyDevices

// nearby-devices: counts the devices around until it is interrupted, or its Live Activity is removed.
var nearby: NearbyDevices?
nearby = NearbyDevices { report in
    print(report)
    fflush(nil)
    if report == .ready { MainActor.assumeIsolated { nearby?.start() } }
}
RunLoop.main.run()
