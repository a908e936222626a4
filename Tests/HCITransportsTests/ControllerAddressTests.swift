import BluetoothTypes
import HCITransports
import Testing

@Suite struct ControllerAddressTests {
    @Test func tcpAddressesAreRead() throws {
        #expect(try ControllerAddress("tcp:127.0.0.1:6402") == .tcp(host: "127.0.0.1", port: 6402))
        #expect(try ControllerAddress("tcp:[::1]:6402") == .tcp(host: "::1", port: 6402))
        #expect(try ControllerAddress("tcp:[::1]:6402").description == "tcp:[::1]:6402")
    }

    @Test func adaptersOfTheKernelAreNamedInFourWays() throws {
        let address = BluetoothAddress(0xC0FF_EE00_0001, kind: .publicDevice)
        let choices: [(String, AdapterChoice)] = [
            ("hci", .first), ("hci0", .number(0)), ("hci12", .number(12)),
            ("hci:C0:FF:EE:00:00:01", .address(address)), ("hci:usb-1-2.3", .attachment("usb-1-2.3")),
        ]
        for (text, choice) in choices {
            #expect(try ControllerAddress(text) == .adapter(choice))
            #expect(ControllerAddress.adapter(choice).description == text)
        }
    }

    @Test(
        arguments: [
            ("", ControllerAddress.ParseError.unknownForm("")),
            ("tcp", .unknownForm("tcp")), ("capture:", .unknownForm("capture:")),
            ("tcp:host", .unknownForm("tcp:host")), ("tcp::1", .unknownForm("tcp::1")),
            ("tcp:host:0", .port("0")), ("tcp:host:65536", .port("65536")), ("tcp:host:x", .port("x")),
            ("hci70000", .unknownForm("hci70000")), ("hci:", .unknownForm("hci:")),
            ("hci:../x", .unknownForm("hci:../x")),
            ("hci-1", .unknownForm("hci-1")), ("virtual", .notAvailable("virtual")), ("usb:x", .usb("usb:x")),
            ("hcix", .unknownForm("hcix")),
        ])
    func othersAreRefusedWithAReason(text: String, error: ControllerAddress.ParseError) {
        #expect(throws: error) { try ControllerAddress(text) }
    }
}
