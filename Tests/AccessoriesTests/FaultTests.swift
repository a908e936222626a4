import Foundation
import Testing

@testable import Accessories

@Suite struct FaultTests {
    @Test(arguments: DeviceFault.Kind.allCases)
    func eachFaultIsReadAsItIsWritten(kind: DeviceFault.Kind) throws {
        #expect(try DeviceFault(kind.rawValue) == DeviceFault(kind))
        guard let number = kind.number else {
            #expect(throws: AccessoryError.self) { try DeviceFault("\(kind.rawValue)=1") }
            return
        }
        let other = DeviceFault(kind, number.range.upperBound)
        #expect(try DeviceFault(other.text) == other)
        #expect(throws: AccessoryError.self) { try DeviceFault("\(kind.rawValue)=-1") }
        #expect(number.range.contains(number.usual))
    }

    @Test("the schema has all faults")
    func schema() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Documentation/accessory-1.schema.json").standardized
        let text = try String(contentsOf: file, encoding: .utf8)
        let names = DeviceFault.Kind.allCases.map(\.rawValue).joined(separator: "|")
        #expect(text.contains("\"^(\(names))(=[0-9.]+(s|%|/s)?)?$\""))
    }

    @Test(
        arguments: [
            ("reboot", DeviceFault.Kind.reboot, 0.0, nil), ("lossy=0.25@3", .lossy, 3, nil),
            ("slow-answers@1.5-2", .slowAnswers, 1.5, 2),
        ] as [(String, DeviceFault.Kind, Double, Double?)]
    )
    func aFaultOfACommandLineHasTimes(text: String, kind: DeviceFault.Kind, start: Double, end: Double?) throws {
        let fault = try ScheduledFault(text)
        #expect(fault.fault.kind == kind)
        #expect(fault.start == .milliseconds(Int(start * 1_000)))
        #expect(fault.end == end.map { .milliseconds(Int($0 * 1_000)) })
    }

    @Test(
        arguments: [
            ("slow-answers=2s", 2, "slow-answers=2s"), ("slow-answers=2", 2, "slow-answers=2s"),
            ("low-battery=20%", 20, "low-battery=20%"), ("notification-flood=100/s", 100, "notification-flood=100/s"),
            ("lossy=0.25", 0.25, "lossy=0.25"), ("slow-answers=5s", 5, "slow-answers"),
        ]
    )
    func aNumberHasItsUnit(text: String, value: Double, written: String) throws {
        let fault = try DeviceFault(text)
        #expect(fault.value == value)
        #expect(fault.text == written)
    }

    @Test(arguments: [
        "slow-answers=2%", "low-battery=s", "", "rebot", "reboot=1", "lossy=2", "reboot@", "reboot@x", "reboot@2-1",
        "reboot@1-2-3",
    ])
    func aWrongFaultIsRefused(text: String) {
        #expect(throws: AccessoryError.self) { try ScheduledFault(text) }
    }

    @Test func theFaultsOfAFileAreReadAndWritten() throws {
        let accessory = try Accessory(
            json: """
                {"format": 1, "name": "X", "faults": [
                    {"fault": "reboot", "at": 5}, {"fault": "lossy=0.5", "until": 2, "onWrite": "2A19"}
                ], "services": [{"uuid": "180F", "characteristics": [{"uuid": "2A19", "properties": ["write"]}]}]}
                """
        )
        #expect(accessory.faults.map(\.fault.kind) == [.reboot, .lossy])
        #expect(accessory.faults[1].trigger == "2A19")
        #expect(try Accessory(json: accessory.json) == accessory)
    }

    @Test func aFileWithoutSuchACharacteristicIsRefused() {
        let text = """
            {"format": 1, "name": "X", "faults": [{"fault": "reboot", "onWrite": "2A19"}]}
            """
        let error = #expect(throws: AccessoryError.self) { try Accessory(json: text) }
        #expect(error?.description.hasPrefix("faults[0].onWrite: \"2A19\" names no characteristic") == true)
    }
}
