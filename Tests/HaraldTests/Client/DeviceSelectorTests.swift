import BluetoothTypes
import Foundation
import TestBasics
import Testing

@testable import harald

@Suite struct DeviceSelectorTests {
    private static let identifier = UUID(uuidString: "CB2E897C-E481-4D3F-B117-B799F0076361") ?? UUID()
    private static let pulse = DeviceCandidate(
        identifier: identifier,
        address: BluetoothAddress("F0:F1:F2:F3:F4:F5", kind: .randomDevice),
        names: ["Pulse 7", "P7"],
        services: [0x180D]
    )

    @Test(
        "a device fits by name in any case, identifier, address, service, or the beginning of a name or identifier",
        arguments: [
            ("pulse 7", DeviceSelector.Fit.named), ("p7", .named), ("PUL", .partly), ("ulse", nil),
            ("cb2e897c-e481-4d3f-b117-b799f0076361", .unique), ("CB2E", .partly), ("CB2", nil), ("CB2E0", nil),
            ("f0:f1:f2:f3:f4:f5", .unique), ("F0:F1:F2:F3:F4:F6", nil),
            ("service:180d", .partly), ("service:0000180D-0000-1000-8000-00805F9B34FB", .partly), ("service:180F", nil),
        ] as [(String, DeviceSelector.Fit?)]
    )
    func fits(text: String, fit: DeviceSelector.Fit?) throws {
        #expect(try #require(DeviceSelector(argument: text)).fit(Self.pulse) == fit)
    }

    @Test("an empty text and an invalid service are refused", arguments: ["", "service:", "service:18", "SERVICE:x"])
    func refusals(text: String) {
        #expect(DeviceSelector(argument: text) == nil)
    }

    @Test("a whole name takes precedence over the beginning of another one")
    func wholeNames() throws {
        var choice = DeviceChoice<Int>(try #require(DeviceSelector(argument: "Pulse")))
        choice.add(DeviceCandidate(identifier: UUID(), names: ["Pulse Pro"]), 1)
        choice.add(DeviceCandidate(identifier: UUID(), names: ["Scale"]), 2)
        guard case .one(_, 1) = choice.result else { return recordIssue("\(choice.result)") }
        choice.add(DeviceCandidate(identifier: UUID(), names: ["pulse"]), 3)
        guard case .one(_, 3) = choice.result else { return recordIssue("\(choice.result)") }
        choice.add(DeviceCandidate(identifier: UUID(), names: ["PULSE"]), 4)
        guard case .several(let devices) = choice.result else { return recordIssue("\(choice.result)") }
        #expect(devices.map(\.names) == [["pulse"], ["PULSE"]])
        #expect(choice.found.description == "1 other device was heard: \"Scale\"")
    }

    @Test("what becomes known of a device replaces what was known")
    func sameDevice() throws {
        var choice = DeviceChoice<Int>(try #require(DeviceSelector(argument: "Pulse")))
        let identifier = UUID()
        choice.add(DeviceCandidate(identifier: identifier, names: ["Pulse Pro"]), 1)
        choice.add(DeviceCandidate(identifier: identifier, names: ["Pulse"]), 1)
        guard case .one(let device, 1) = choice.result else { return recordIssue("\(choice.result)") }
        #expect(device.names == ["Pulse"] && choice.best == .named)
    }

    @Test("numbers have their plural", arguments: [(0, "0 octets"), (1, "1 octet"), (2, "2 octets")])
    func plurals(number: Int, text: String) {
        #expect(count(number, "octet") == text)
    }
}
