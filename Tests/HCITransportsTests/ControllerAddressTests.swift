import HCITransports
import Testing

@Suite struct ControllerAddressTests {
    @Test func tcpAddressesAreRead() throws {
        #expect(try ControllerAddress("tcp:127.0.0.1:6402") == .tcp(host: "127.0.0.1", port: 6402))
        #expect(try ControllerAddress("tcp:[::1]:6402") == .tcp(host: "::1", port: 6402))
        #expect(try ControllerAddress("tcp:[::1]:6402").description == "tcp:[::1]:6402")
    }

    @Test(
        arguments: [
            ("", ControllerAddress.ParseError.unknownForm("")),
            ("tcp", .unknownForm("tcp")), ("tcp:host", .unknownForm("tcp:host")), ("tcp::1", .unknownForm("tcp::1")),
            ("tcp:host:0", .port("0")), ("tcp:host:65536", .port("65536")), ("tcp:host:x", .port("x")),
            ("hci0", .notAvailable("hci0")), ("usb", .notAvailable("usb")),
            ("hcix", .unknownForm("hcix")),
        ])
    func othersAreRefusedWithAReason(text: String, error: ControllerAddress.ParseError) {
        #expect(throws: error) { try ControllerAddress(text) }
    }
}
