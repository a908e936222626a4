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
}
