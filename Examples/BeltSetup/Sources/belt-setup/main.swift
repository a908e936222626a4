import BeltSetup
import Foundation

// belt-setup: shows the picker unless a belt is there, and prints its heart rates until it is interrupted.
var belts: BeltSetup?
belts = BeltSetup { report in
    print(report)
    fflush(nil)
    if report == .needsBelt { MainActor.assumeIsolated { belts?.addBelt() } }
}
RunLoop.main.run()
