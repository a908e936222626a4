import Foundation
import HCI
import HCIHost
import Testing

@testable import harald

@Suite struct ToolErrorTests {
    @Test("a search without a result lists what was heard, and advises more time")
    func noSuchDevice() throws {
        let strap = try #require(DeviceSelector(argument: "Strap"))
        var heard = ScannedDevices()
        let scan = ToolError.noSuchDevice(strap, .scan, seconds: 10, found: heard)
        #expect(
            scan.description == """
                no device named "Strap" was found within 10.0 s; no other device was heard; check that it is on and in range, \
                or allow more time with --timeout
                """
        )
        heard.add(DeviceCandidate(identifier: UUID(), names: ["Pulse"]))
        let one = ToolError.noSuchDevice(strap, .scan, seconds: 10, found: heard)
        #expect(one.description.contains("; 1 other device was heard: \"Pulse\"; "))
        heard.add(DeviceCandidate(identifier: UUID()))
        heard.add(DeviceCandidate(identifier: UUID(), names: ["Ale"]))
        let explore = ToolError.noSuchDevice(strap, .explore, seconds: 10, found: heard)
        #expect(explore.description.hasPrefix("no connectable device named"))
        #expect(explore.description.contains("; 3 other devices were heard: \"Ale\", \"Pulse\"; "))
        #expect(explore.description.hasSuffix("allow more time with --timeout"))
    }

    @Test(
        "the advice about a failed controller fits how it is attached",
        arguments: [
            ("tcp:127.0.0.1:6402", "check that it uses H4 and that no other program uses it"),
            ("usb:1-1", "check that no other program uses it, and ask `harald doctor` about it"),
        ]
    )
    func failedController(address: String, advice: String) {
        let error = ToolError.controllerFailed(address, reason: "it was reset")
        #expect(error.description == "the controller at \(address) failed: it was reset; \(advice)")
    }

    @Test("a controller without room for another program says what to do, and not to check the transport")
    func fullController() {
        let error = ToolError(
            .commandRefused(Reset.opcode, .rejectedForLimitedResources),
            controller: "tcp:127.0.0.1:9100"
        )
        #expect(error.exitStatus == 4)
        #expect(
            error.description == """
                the controller at tcp:127.0.0.1:9100 accepts no more connections: all of them are in use; end a program that \
                uses one, or start another `harald controllers` on a port of its own
                """
        )
    }

    @Test(
        "a controller that cannot be reached comes with advice once",
        arguments: [
            (
                "tcp:127.0.0.1:6402",
                "cannot reach the controller at tcp:127.0.0.1:6402: gone; start it, or check the host and port"
            ),
            (
                "unix:/tmp/hci",
                "cannot reach the controller at unix:/tmp/hci: gone; start it, or check the path and its permissions"
            ),
            ("hci0", "cannot use the controller hci0: gone"),
        ]
    )
    func unreachableController(address: String, text: String) {
        #expect(ToolError.controllerUnreachable(address, reason: "gone").description == text)
    }
}
