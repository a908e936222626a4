import Testing

@testable import harald

@Suite struct ToolErrorTests {
    @Test("a search without a result advises the option that its command has")
    func noSuchDevice() {
        let scan = ToolError.noSuchDevice("Strap", .scan, seconds: 10, heard: 3)
        #expect(
            scan.description == """
                no device named "Strap" was found within 10.0 s (3 others were); check the name, or allow more time with \
                --seconds
                """
        )
        let explore = ToolError.noSuchDevice("Strap", .explore, seconds: 10, heard: 3)
        #expect(explore.description.hasPrefix("no connectable device named"))
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
}
