import Foundation
import TestBasics
import Testing

@testable import Accessories

/// A file of steps with every verb and every expectation.
private let everyStep = """
    {
      "$schema": "steps-1.schema.json",
      "format": 1,
      "name": "Everything",
      "device": "Lamp",
      "seed": 7,
      "steps": [
        {"connect": true, "within": 3},
        {"pair": true},
        {"services": ["180D", "Battery"]},
        {"read": "2A19", "expect": {"number": {"format": "uint8", "at": 0, "from": 1, "to": 5}}},
        {"write": "light", "value": "01", "response": false},
        {"write": "light", "value": "01", "expect": {"attError": 128}},
        {"subscribe": "light", "expect": {"error": true}},
        {"notification": "light", "expect": {"equals": "0102", "beginsWith": "01", "length": 2}},
        {"silence": "light", "for": 2},
        {"unsubscribe": "light"},
        {"name": "dark", "set": "light", "value": "00"},
        {"wait": 0.5},
        {"disconnection": true},
        {"disconnect": true}
      ]
    }
    """

@Suite struct StepsTests {
    private func steps(_ text: String) throws -> DeviceSteps { try DeviceSteps(json: Array(text.utf8)) }

    private func step(_ text: String) throws -> DeviceSteps.Step {
        try #require(try steps("{\"format\": 1, \"steps\": [\(text)]}").steps.first)
    }

    @Test func aFileWithEveryVerbIsRead() throws {
        let steps = try steps(everyStep)
        #expect(steps.name == "Everything")
        #expect(steps.device == "Lamp")
        #expect(steps.seed == 7)
        #expect(steps.steps.count == 14)
        #expect(steps.steps[0].limit == .seconds(3))
        #expect(steps.steps[1].limit == .seconds(10))
        #expect(steps.steps[4].action == .write("light", Accessory.Value([1]), isConfirmed: false))
        #expect(steps.titles[10] == "dark")
        #expect(steps.titles[8] == "no value of light for 2 s")
    }

    @Test("AB-F01: steps whose octets are changed at random are read or refused, and their words are there")
    func changedFiles() {
        var state: UInt64 = 3
        func below(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let marks = Array("{}[]\",:0-.e19truenull\\\u{0}\u{80}".utf8)
        for _ in 0..<2_000 {
            var octets = Array(everyStep.utf8)
            for _ in 0...below(3) {
                let place = below(octets.count)
                if below(2) == 0 { octets[place] = marks[below(marks.count)] } else { octets.remove(at: place) }
            }
            guard let steps = try? DeviceSteps(json: octets) else { continue }
            #expect(steps.titles.count == steps.steps.count)
            #expect(
                steps.steps.allSatisfy { $0.limit <= .seconds(AccessoryLimits.longestInterval) && $0.limit >= .zero }
            )
            #expect(steps.steps.compactMap(\.expectation).allSatisfy { !$0.words.isEmpty })
        }
    }

    @Test(
        "errors name the place and what to do",
        arguments: [
            ("{}", "steps[0]: a step needs a verb; use one of connect, "),
            ("{\"read\": \"a\", \"wait\": 1}", "steps[0]: a step has one verb"),
            ("{\"wait\": 1, \"value\": \"00\"}", "steps[0].value: \"value\" does not belong to \"wait\"; remove it"),
            ("{\"write\": \"a\"}", "steps[0]: the key \"value\" is missing; add it"),
            ("{\"connect\": false}", "steps[0].connect: this is false; write true, or remove the step"),
            (
                "{\"write\": \"a\", \"value\": \"\", \"expect\": {\"length\": 1}}",
                "steps[0].expect: a write has no value to expect"
            ),
            (
                "{\"read\": \"a\", \"expect\": {\"length\": 1, \"attError\": 5}}",
                "steps[0].expect: an error has no value"
            ),
            (
                "{\"read\": \"a\", \"expect\": {\"number\": {\"format\": \"uint8\", \"from\": 2, \"to\": 1}}}",
                "steps[0].expect.number: the range is empty"
            ),
        ]
    )
    func errors(text: String, message: String) {
        let error = #expect(throws: AccessoryError.self) { try self.step(text) }
        #expect(error?.description.hasPrefix(message) == true, "\(error?.description ?? "")")
    }

    @Test(
        "a number is read as it was written",
        arguments: Accessory.NumberFormat.allCases
    )
    func numbers(format: Accessory.NumberFormat) throws {
        let isFloat = "\(format)".contains("float")
        for number in [0.0, 1, 72] + (isFloat ? [36.6, -40.5] : []) + ("\(format)".hasPrefix("int") ? [-5] : []) {
            let octets = try #require(format.octets(of: number))
            let read = try #require(format.number(octets))
            #expect(abs(read - number) < 1e-4, "\(number) as \(format)")
            #expect(format.number(octets.dropLast()) == nil)
        }
    }

    @Test func anExpectationFitsTheValuesThatItDescribes() throws {
        let expectation = try #require(
            try step(
                """
                {"read": "a", "expect": {"beginsWith": "0E", "length": 2,
                    "number": {"format": "uint8", "at": 1, "from": 60, "to": 90}}}
                """
            ).expectation
        )
        #expect(expectation.fits([0x0E, 72]))
        #expect(!expectation.fits([0x0E, 59]))
        #expect(!expectation.fits([0x0F, 72]))
        #expect(!expectation.fits([0x0E, 72, 0]))
        #expect(!expectation.fits([0x0E]))
        #expect(
            expectation.words
                == "a value that begins with 0E, and a value of 2 octets, and a uint8 at octet 1 from 60 to 90"
        )
    }

    @Test("the steps of the document are for the accessory of the document")
    func theDocument() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Documentation/Accessories.md").standardized
        let blocks = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "```json\n").dropFirst()
            .map { $0.components(separatedBy: "```")[0] }
        let steps = try steps(try #require(blocks.first { $0.contains("\"steps\"") }))
        let lamp = try Accessory(json: try #require(blocks.first { $0.contains("\"services\"") }))
        for step in steps.steps {
            switch step.action {
            case .read(let reference), .write(let reference, _, isConfirmed: _), .subscribe(let reference),
                .notification(let reference), .silence(let reference, _):
                #expect(lamp.place(of: reference) != nil || reference == "Battery Level", "\(reference)")
            default: break
            }
        }
    }

    @Test func thePlaceOfACharacteristicCountsThoseWithTheSameUUIDs() throws {
        let twice = """
            {"uuid": "180F", "characteristics": [
                {"uuid": "2A19", "properties": ["read"]}, {"uuid": "2A19", "id": "ID", "properties": ["read"]}
            ]}
            """
        let one = try Accessory(
            json: "{\"format\": 1, \"name\": \"X\", \"services\": [{\"uuid\": \"180F\"}, "
                + twice.replacing("ID", with: "last") + "]}"
        )
        let place = try #require(one.place(of: "last"))
        #expect(place.serviceNumber == 1)
        #expect(place.characteristicNumber == 1)
        #expect(one.place(of: "2A19") == nil)
    }

    @Test func theSchemaHasTheSameKeys() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Documentation/steps-1.schema.json").standardized
        let tree = try JSONDecoder().decode(JSONTree.self, from: Data(contentsOf: file))
        guard case .object(let schema) = tree, case .object(let definitions) = schema["$defs"] else {
            return recordIssue("the schema has no definitions")
        }
        for (name, keys) in StepKeys.all {
            let definition = name == "steps" ? tree : definitions[name] ?? .null
            guard case .object(let members) = definition, case .object(let properties) = members["properties"] else {
                Issue.record("the schema does not define \(name)")
                continue
            }
            #expect(properties.keys.sorted() == keys.sorted(), "\(name)")
            #expect(members["additionalProperties"] == .bool(false), "\(name)")
        }
    }
}
