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
        let phone = TestWorld().device("Phone")
        func open(_ name: String, inBackground: Bool = false, isManaged: Bool = true) -> App {
            phone.system.openApp(
                AppIdentity(name: name),
                declaring: AppDeclaration(isManaged: isManaged),
                inBackground: inBackground
            ).app.value
        }
        let (first, behind, second) = (open("first"), open("behind", inBackground: true), open("second"))
        #expect(behind.life.lastInFront < first.life.lastInFront)
        #expect(first.life.lastInFront < second.life.lastInFront)
        // An unmanaged app is in the foreground, however it was launched.
        let unmanaged = open("unmanaged", inBackground: true, isManaged: false)
        #expect(unmanaged.life.lastInFront > second.life.lastInFront)
        #expect(unmanaged.phase == .foreground)
        let before = first.life.lastInFront
        first.happened(.entered)
        #expect(first.life.lastInFront == before)
        first.happened(.left)
        first.happened(.entered)
        behind.happened(.entered)
        #expect(first.life.lastInFront > unmanaged.life.lastInFront)
        #expect(behind.life.lastInFront > first.life.lastInFront)
    }
}
