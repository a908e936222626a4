import Foundation
import HCI
import HCIHost
import Logging
import Testing

@testable import harald

/// The errors of commands whose service or controller has gone.
@Suite struct ServiceWatchTests {
    private let path = "/nowhere/service"

    @Test("a service that has gone is the cause, whatever the command was doing")
    func gone() {
        let watch = ServiceWatch()
        watch.opened()
        watch.closed()
        let error = watch.loss
        #expect(error.description == "the Bluetooth service has ended; start it again with `harald service`")
        #expect(error.exitStatus == 1 && error.code == "service" && watch.ends == 1)
        let next = watch.obstacle(at: path)?.description
        #expect(next == "no service is running at /nowhere/service; start it again with `harald service`")
    }

    @Test("a connection counts as ended once, and one that never was does not count")
    func counting() {
        let watch = ServiceWatch()
        watch.closed()
        #expect(watch.ends == 0)
        watch.opened()
        watch.closed()
        watch.closed()
        #expect(watch.ends == 1)
        watch.opened()
        #expect(watch.isOpen && watch.obstacle(at: path) == nil)
    }

    @Test("a dismissal has the reason of the service; complaints without a connection are no dismissals")
    func dismissal() {
        let watch = ServiceWatch()
        let logger = Logger(label: "test") { _ in ServiceWatchLog(watch: watch) }
        logger.error("Bluetooth is unsupported: nothing is listening")
        #expect(!watch.loss.description.contains("listening"))
        watch.opened()
        logger.error("Bluetooth is unsupported: the app is not running: the user force-quit it")
        watch.closed()
        let text = "the Bluetooth service has dismissed this tool: the app is not running: the user force-quit it"
        #expect(watch.loss.description == text && watch.obstacle(at: path)?.description == text)
    }

    @Test("a controller that has worked and is unreachable is gone")
    func controller() {
        let lost = ToolError(losing: "tcp:host:1", .transport(.unreachable(address: "", reason: "refused")))
        #expect(lost.exitStatus == 4 && lost.code == "controllerFailed")
        #expect(lost.description.hasPrefix("the controller at tcp:host:1 is gone; "))
        #expect(ToolError(losing: "hci0", .transport(.closedByPeer)).description.contains(" is gone; "))
        #expect(ToolError(losing: "hci0", .noCommandCredits).description.contains(" failed: "))
    }
}
