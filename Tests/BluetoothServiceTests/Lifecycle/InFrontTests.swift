import EventLoops
import ServiceMessages
import Testing

@testable import BluetoothService

/// Which app was in front of the user last (behaviour 3.15).
@Suite struct InFrontTests {
    @Test(
        "behaviour 3.15: an app that was never in front comes before all that were, and each that comes there is the last"
    )
    func theOrder() {
        let phone = ServiceWorld().device("Phone")
        func open(_ name: String, inBackground: Bool = false, isManaged: Bool = true) -> App {
            phone.system.openApp(
                AppIdentity(name: name),
                declaring: AppDeclaration(isManaged: isManaged),
                inBackground: inBackground
            ).app.value
        }
        let (first, behind, second) = (open("first"), open("behind", inBackground: true), open("second"))
        #expect(behind.lifecycle.lastInFront < first.lifecycle.lastInFront)
        #expect(first.lifecycle.lastInFront < second.lifecycle.lastInFront)
        // An unmanaged app is in the foreground, however it was launched.
        let unmanaged = open("unmanaged", inBackground: true, isManaged: false)
        #expect(unmanaged.lifecycle.lastInFront > second.lifecycle.lastInFront)
        #expect(unmanaged.phase == .foreground)
        let before = first.lifecycle.lastInFront
        first.happened(.entered)
        #expect(first.lifecycle.lastInFront == before)
        first.happened(.left)
        first.happened(.entered)
        behind.happened(.entered)
        #expect(first.lifecycle.lastInFront > unmanaged.lifecycle.lastInFront)
        #expect(behind.lifecycle.lastInFront > first.lifecycle.lastInFront)
    }
}
