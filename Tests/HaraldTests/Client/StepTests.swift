import Accessories
import Foundation
import Testing

@testable import harald

@Suite("harald test") struct StepTests {
    private static let lamp = """
        {
          "format": 1,
          "name": "Lamp",
          "services": [
            {
              "uuid": "6C616D70-0001-4861-7261-6C6420303031",
              "characteristics": [
                {
                  "uuid": "6C616D70-0002-4861-7261-6C6420303031", "id": "switch", "properties": ["write"],
                  "onWrite": [
                    {"if": {"equals": "01"}, "then": [{"set": "light", "value": "01"},
                        {"set": "light", "value": "00", "after": 10}]},
                    {"fault": {"attError": 128}}
                  ]
                },
                {
                  "uuid": "6C616D70-0003-4861-7261-6C6420303031", "id": "light", "properties": ["read", "notify"],
                  "permission": "encrypted", "value": "00"
                }
              ]
            }
          ]
        }
        """

    private func run(_ steps: String) throws -> StepReport {
        let all = try DeviceSteps(json: Array("{\"format\": 1, \"steps\": [\(steps)]}".utf8))
        let outcome = StepWorld(accessory: try Accessory(json: Self.lamp), steps: all).run { _ in }
        return StepReport(name: "Lamp & co", results: outcome.results, story: outcome.story)
    }

    @Test func stepsPassInVirtualTime() throws {
        let report = try run(
            """
            {"connect": true}, {"pair": true}, {"subscribe": "light"}, {"write": "switch", "value": "01"},
            {"notification": "light", "expect": {"equals": "01"}}, {"silence": "light", "for": 9},
            {"notification": "light", "expect": {"equals": "00"}, "within": 2},
            {"write": "switch", "value": "07", "expect": {"attError": 128}},
            {"set": "light", "value": "05"}, {"read": "light", "expect": {"equals": "05"}},
            {"wait": 3600}, {"unsubscribe": "light"}, {"disconnect": true}
            """
        )
        #expect(report.results.map(\.message) == Array(repeating: nil, count: 13))
        #expect(report.summary == nil)
        #expect(report.results[10].duration == .seconds(3600))
    }

    @Test(
        "a failure says what was expected, and what came",
        arguments: [
            (
                "{\"read\": \"light\", \"expect\": {\"equals\": \"01\"}}",
                "step 2 of 3 failed: read light: expected the value 01; the device sent 00"
            ),
            (
                "{\"write\": \"switch\", \"value\": \"07\"}",
                "step 2 of 3 failed: write 07 to switch: expected no error; the device refused with the ATT error 128:"
            ),
            (
                "{\"write\": \"switch\", \"value\": \"01\", \"expect\": {\"error\": true}}",
                "step 2 of 3 failed: write 01 to switch: expected an error; the device accepted it"
            ),
            ("{\"notification\": \"light\"}", "nothing is subscribed to \"light\"; add a step \"subscribe\" before"),
            ("{\"read\": \"lihgt\"}", "\"lihgt\" names no characteristic of the device; it has "),
            ("{\"services\": [\"180F\"]}", "the device has no service 180F Battery; it has "),
            ("{\"disconnection\": true, \"within\": 1}", "it is still connected after 1 s"),
        ]
    )
    func failures(step: String, message: String) throws {
        let report = try run("{\"connect\": true}, \(step), {\"disconnect\": true}")
        #expect(report.summary?.contains(message) == true, "\(report.summary ?? "none")")
        #expect(report.results.map(\.status) == [.passed, .failed, .skipped])
        #expect(report.lines.last == "1 passed, 1 failed, 1 skipped")
        #expect(!report.storyOfFailure.isEmpty)
    }

    @Test func theStoryOfAFailureHasItsEvents() throws {
        let report = try run("{\"connect\": true}, {\"write\": \"switch\", \"value\": \"07\"}")
        let story = report.storyOfFailure.joined(separator: "\n")
        #expect(story.contains("Phone: test → write"))
        #expect(story.contains("Lamp: accessory ← write requested"))
        #expect(!story.contains("is switched on"))
    }

    @Test func theSameSeedGivesTheSameStory() throws {
        let steps = "{\"connect\": true}, {\"read\": \"light\"}, {\"wait\": 5}"
        #expect(try run(steps).story == run(steps).story)
    }

    @Test func aFileOfJUnitHasATestCaseForEachStep() throws {
        let report = try run("{\"connect\": true}, {\"read\": \"a<b\"}, {\"disconnect\": true}")
        let text = report.junit
        #expect(
            text.contains("<testsuite name=\"Lamp &amp; co\" tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\"")
        )
        #expect(text.contains("name=\"2 read a&lt;b\""))
        #expect(text.contains("<failure message=\"expected no error; &quot;a&lt;b&quot; names no characteristic"))
        #expect(text.components(separatedBy: "<testcase ").count == 4)
        #expect(text.contains("<skipped/>"))
    }

    @Test(
        "ready-made accessories with states behave over the air as their files say",
        arguments: [
            (
                .glucose,
                """
                {"connect": true}, {"pair": true}, {"subscribe": "2A18"}, {"subscribe": "2A52"},
                {"write": "2A52", "value": "0101"},
                {"notification": "2A18", "expect": {"number": {"format": "uint16", "at": 1, "from": 1}}},
                {"write": "2A52", "value": "0106", "expect": {"attError": 254}},
                {"notification": "2A18"}, {"notification": "2A18", "expect": {"length": 13}},
                {"notification": "2A52", "expect": {"equals": "06000101"}},
                {"write": "2A52", "value": "0101"}, {"write": "2A52", "value": "0300"},
                {"notification": "2A52", "expect": {"equals": "06000301"}},
                {"silence": "2A52", "for": 2}
                """
            ),
            (
                .firmwareTarget,
                """
                {"connect": true}, {"subscribe": "control"}, {"write": "control", "value": "020200"},
                {"notification": "control", "expect": {"equals": "600201"}},
                {"write": "packets", "value": {"text": "12345"}}, {"silence": "control", "for": 1},
                {"write": "packets", "value": {"text": "6789"}},
                {"notification": "control", "expect": {"equals": "600301 09000000 2639F4CB"}},
                {"write": "control", "value": "04 09000000 2639F4CB"},
                {"notification": "control", "expect": {"equals": "600401"}}
                """
            ),
            (
                .keyboard,
                """
                {"connect": true}, {"services": ["Battery", "Device Information"]}, {"read": "2A19"},
                {"disconnect": true}, {"wait": 200}, {"connect": true}, {"read": "2A50"}
                """
            ),
        ] as [(ReadyMadeAccessory, String)]
    )
    func readyMade(accessory: ReadyMadeAccessory, steps: String) throws {
        let all = try DeviceSteps(json: Array("{\"format\": 1, \"steps\": [\(steps)]}".utf8))
        let outcome = StepWorld(accessory: accessory.accessory, steps: all).run { _ in }
        let report = StepReport(name: accessory.rawValue, results: outcome.results, story: outcome.story)
        #expect(report.summary == nil, "\(report.lines.joined(separator: "\n"))")
    }

    @Test(
        "each fault has its effect on a central",
        arguments: [
            (.outOfRange, "{FAULT}, {\"disconnection\": true, \"within\": 30}, {END}, {\"connect\": true}, {READ}"),
            (.lossy, "{FAULT}, {READ}, {END}, {READ}"),
            (.jammedChannel, "{FAULT}, {READ}, {END}, {READ}"),
            (.lowBattery, "{FAULT}, {\"read\": \"2A19\", \"expect\": {\"equals\": {\"uint8\": 5}}}"),
            (
                .batteryReplaced,
                "{SET}, {FAULT}, {\"disconnection\": true, \"within\": 30}, {\"connect\": true}, {READ}"
            ),
            (.reboot, "{FAULT}, {\"disconnection\": true, \"within\": 30}, {\"connect\": true}, {READ}"),
            (.factoryReset, "{FAULT}, {\"disconnection\": true, \"within\": 30}, {\"connect\": true}, {READ}"),
            (
                .newFirmware,
                """
                {FAULT}, {"wait": 2}, {"services": ["6E657766-0001-4861-7261-6C6420303031"]},
                {"read": "6E657766-0002-4861-7261-6C6420303031", "expect": {"equals": "02"}}, {READ}
                """
            ),
            (.bondLost, "{FAULT}, {READ}"),
            (.newAddress, "{FAULT}, {READ}"),
            (.slowAnswers, "{FAULT}, {\"read\": \"2A19\", \"within\": 2, \"expect\": {\"error\": true}}"),
            (.noAnswers, "{FAULT}, {\"read\": \"2A19\", \"expect\": {\"error\": true}}"),
            (.malformedAnswers, "{FAULT}, {\"read\": \"2A19\", \"expect\": {\"error\": true}}"),
            (.shortAnswers, "{FAULT}, {\"read\": \"2A19\", \"expect\": {\"length\": 0}}, {END}, {READ}"),
            (.longAnswers, "{FAULT}, {\"read\": \"2A19\", \"expect\": {\"error\": true}}"),
            (.attError, "{FAULT}, {\"read\": \"2A19\", \"expect\": {\"attError\": 14}}, {END}, {READ}"),
            (.mtuRefused, "{\"disconnect\": true}, {FAULT}, {\"connect\": true}, {READ}"),
            (
                .notificationFlood,
                """
                {"subscribe": "2A19"}, {FAULT}, {"notification": "2A19", "within": 1}, {"notification": "2A19", "within": 1},
                {END}, {READ}
                """
            ),
            (.parameterFlood, "{\"subscribe\": \"2A19\"}, {FAULT}, {\"wait\": 5}, {END}, {READ}"),
            (.userDeclines, "{FAULT}, {READ}, {END}"),
            (.appKilled, "{FAULT}, {\"wait\": 1}, {\"read\": \"2A19\", \"expect\": {\"error\": true}}"),
            (.appUpgraded, "{FAULT}, {\"wait\": 3}, {\"services\": [\"180F\"]}, {READ}"),
            (.appSuspended, "{FAULT}, {\"wait\": 1}, {END}, {READ}"),
            (.airplaneMode, "{FAULT}, {\"disconnection\": true}, {END}, {\"connect\": true}, {READ}"),
            (.locked, "{FAULT}, {\"disconnection\": true, \"within\": 30}, {END}, {\"connect\": true}, {READ}"),
        ] as [(DeviceFault.Kind, String)]
    )
    func faults(kind: DeviceFault.Kind, steps: String) throws {
        let text = steps.replacing("{FAULT}", with: "{\"fault\": \"\(kind.rawValue)\"}")
            .replacing("{END}", with: "{\"endFault\": \"\(kind.rawValue)\"}")
            .replacing("{SET}", with: "{\"set\": \"2A19\", \"value\": \"01\"}")
            .replacing("{READ}", with: "{\"read\": \"2A19\", \"expect\": {\"equals\": {\"uint8\": 87}}}")
        let all = try DeviceSteps(
            json: Array("{\"format\": 1, \"steps\": [{\"connect\": true}, {\"services\": []}, \(text)]}".utf8)
        )
        let outcome = StepWorld(accessory: ReadyMadeAccessory.heartRate.accessory, steps: all).run { _ in }
        let report = StepReport(name: "fault", results: outcome.results, story: outcome.story)
        #expect(report.summary == nil, "\(report.lines.joined(separator: "\n"))")
    }
}
