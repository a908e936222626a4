import BluetoothTypes
import Foundation
import TestBasics
import Testing

@testable import Accessories

/// A file with every key of the format.
let everyKey = """
    {
      "$schema": "accessory-1.schema.json",
      "format": 1,
      "name": "Everything",
      "description": "Uses every key.",
      "advertising": {
        "name": "Every", "services": ["180D"], "interval": 0.25, "connectable": true,
        "manufacturerData": {"company": 65535, "data": "01 02"},
        "serviceData": [{"uuid": "Battery", "value": {"uint8": 9}}]
      },
      "security": {"pairing": true, "io": "display", "fixedAddress": false},
      "services": [
        {
          "uuid": "Heart Rate", "primary": false,
          "characteristics": [
            {
              "uuid": "2A37", "id": "rate", "properties": ["read", "write", "notify", "indicate", "writeWithoutResponse"],
              "permission": {"read": "authenticated", "write": "plain", "notify": "authenticated"},
              "value": [{"hex": "00"}, {"text": "é"}, {"uint8": 1}, {"uint16": 2}, {"uint24": 3}, {"uint32": 4},
                        {"uint48": 5}, {"int8": -1}, {"int16": -2}, {"int24": -3}, {"int32": -4}, {"float32": 0.5},
                        {"float64": 0.25}, {"medfloat16": 36.6}, {"medfloat32": 36.6}],
              "changes": [{"after": 1.5, "value": "AA"}], "repeat": true,
              "notifyEvery": 0.5, "notifyChanges": false,
              "onRead": {"delay": 0.1, "fault": {"length": 3}, "everyNth": 2},
              "onWrite": [
                {
                  "if": {"equals": "01"}, "whenValues": [{"characteristic": "rate", "value": "02"}],
                  "unlessSubscribed": ["rate"],
                  "delay": 1, "fault": {"attError": 128}, "everyNth": 3
                },
                {
                  "if": {"beginsWith": "02"},
                  "then": [
                    {"set": "2A37", "value": {"written": {"from": 1, "count": 2}}, "after": 0.5},
                    {"notify": "rate", "value": ["FF", {"written": {}}]}
                  ]
                },
                {"if": {"length": 4}, "fault": {"noAnswer": true}}
              ],
              "descriptors": [
                {"uuid": "2901", "value": {"text": "Rate"}}, {"uuid": "2904", "value": "04000727010000"}
              ]
            }
          ]
        }
      ]
    }
    """

/// Returns the error of a file.
private func failure(_ json: String) -> AccessoryError? {
    do throws(AccessoryError) {
        _ = try Accessory(json: json)
        return nil
    } catch {
        return error
    }
}

/// Returns the error of a file with one characteristic, which has these members beside its UUID.
private func failure(characteristic members: String, _ rest: String = "") -> AccessoryError? {
    failure(
        """
        {"format": 1, "name": "X"\(rest), "services": [{"uuid": "180D", "characteristics": [{"uuid": "2A37", \(members)}]}]}
        """
    )
}

@Suite struct AccessoryFormatTests {
    @Test func eachKeyIsRead() throws {
        let accessory = try Accessory(json: everyKey)
        #expect(accessory.summary == "Uses every key.")
        #expect(accessory.advertising.name == "Every")
        #expect(accessory.advertising.services == [0x180D])
        #expect(accessory.advertising.interval == .milliseconds(250))
        #expect(accessory.advertising.manufacturerData?.company == 0xFFFF)
        #expect(accessory.advertising.manufacturerData?.data.octets() == [1, 2])
        #expect(accessory.advertising.serviceData.first?.uuid == 0x180F)
        #expect(accessory.security.inputOutput == .display)
        #expect(!accessory.security.hasFixedAddress)
        #expect(accessory.services[0].isPrimary == false)
        let rate = accessory.characteristics[0]
        #expect(rate.properties.count == 5)
        #expect(rate.reading == .authenticated)
        #expect(rate.writing == .plain)
        #expect(rate.changes == [Accessory.Change(after: .milliseconds(1_500), value: .init([0xAA]))])
        #expect(rate.repeatsChanges)
        #expect(rate.notificationInterval == .milliseconds(500))
        #expect(!rate.notifiesChanges)
        #expect(rate.onRead == Accessory.Response(delay: .milliseconds(100), fault: .length(3), faultPeriod: 2))
        #expect(rate.onWrite.map(\.response.fault) == [.attError(128), nil, .noAnswer])
        #expect(rate.onWrite[1].effects[1].value.octets(written: [2, 7]) == [0xFF, 2, 7])
        #expect(rate.descriptors.map(\.uuid) == [0x2901, 0x2904])
    }

    @Test func eachNumberFormatHasItsOctets() throws {
        let accessory = try Accessory(json: everyKey)
        let octets = accessory.characteristics[0].value.octets()
        let expected = """
            00 c3a9 01 0200 030000 04000000 050000000000 ff feff fdffff fcffffff 0000003f 000000000000d03f 6ef1 6e0100ff
            """
        #expect(hexadecimal(octets) == expected.filter { $0 != " " })
    }

    @Test("a medical float has as few decimals as it needs, and large numbers have a positive exponent")
    func medicalFloats() {
        #expect(Accessory.NumberFormat.medfloat16.octets(of: 0) == [0, 0])
        #expect(Accessory.NumberFormat.medfloat16.octets(of: 114) == [0x72, 0x00])
        #expect(Accessory.NumberFormat.medfloat16.octets(of: -1.5) == [0xF1, 0xFF])
        #expect(Accessory.NumberFormat.medfloat16.octets(of: 25_000) == [0xFA, 0x20])
        #expect(Accessory.NumberFormat.medfloat16.octets(of: 1e30) == nil)
        #expect(Accessory.NumberFormat.medfloat32.octets(of: 36.4) == [0x6C, 0x01, 0x00, 0xFF])
    }

    @Test func encodedAccessoriesDecodeToEqualValues() throws {
        let accessory = try Accessory(json: everyKey)
        #expect(try Accessory(json: accessory.json) == accessory)
        let coded = try JSONEncoder().encode(accessory)
        #expect(try JSONDecoder().decode(Accessory.self, from: coded) == accessory)
    }

    @Test("a file that is cut anywhere is refused")
    func cutFiles() {
        let octets = Array(everyKey.utf8)
        for length in octets.indices {
            #expect(throws: AccessoryError.self, "\(length)") { try Accessory(json: octets[..<length]) }
        }
    }

    @Test("a file whose octets are changed at random is read or refused")
    func changedFiles() {
        var random = SystemRandom(state: 1)
        let original = Array(everyKey.utf8)
        let marks = Array("{}[]\",:0-.e1truenull\\\u{0}\u{80}".utf8)
        for _ in 0..<500 {
            var octets = original
            for _ in 0...random.next(3) {
                let place = random.next(octets.count)
                switch random.next(3) {
                case 0: octets[place] = marks[random.next(marks.count)]
                case 1: octets.remove(at: place)
                default: octets.insert(marks[random.next(marks.count)], at: place)
                }
            }
            if let accessory = try? Accessory(json: octets) {
                #expect((try? Accessory(json: accessory.json)) == accessory)
            }
        }
    }

    @Test("random octets are refused")
    func garbage() {
        var random = SystemRandom(state: 2)
        for _ in 0..<2_000 {
            let octets = (0..<random.next(64)).map { _ in UInt8(random.next(256)) }
            #expect(throws: AccessoryError.self) { try Accessory(json: octets) }
        }
    }

    private struct SystemRandom {
        var state: UInt64

        /// Returns a number below `bound` (Knuth's linear congruential generator).
        mutating func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
    }

    @Test("AB-F01: depth, number and length of values are bounded")
    func boundsAreHeld() {
        let deep = String(repeating: "[", count: 100_000)
        #expect(failure(deep)?.problem == "values are nested too deeply")
        let wide = "[" + String(repeating: "1,", count: AccessoryLimits.nodes) + "1]"
        #expect(failure(wide)?.problem == "the file has too many values")
        let long = String(repeating: " ", count: AccessoryLimits.fileSize + 1)
        #expect(failure(long)?.advice == "use at most 1048576")
        let value = #""properties": ["read"], "value": "\#(String(repeating: "00", count: 513))""#
        #expect(failure(characteristic: value)?.problem == "the value has 513 octets")
        let parts =
            #""properties": ["read"], "value": ["\#(String(repeating: "00", count: 500))", {"text": "0123456789abc"}]"#
        #expect(failure(characteristic: parts)?.problem == "the value has 513 octets")
        let changes = String(repeating: #"{"after": 1, "value": ""},"#, count: 10_000) + #"{"after": 1, "value": ""}"#
        let many = failure(characteristic: #""properties": ["read"], "changes": [\#(changes)]"#)
        #expect(many?.problem == "the array has 10001 elements")
    }

    @Test(
        "an error of syntax has its line and column, and a key that is there twice is one",
        arguments: [
            ("{\n  \"format\": 1\n  \"name\": 2}", 3, 3, "neither a comma nor a closing brace"),
            ("{\"ä\": 1, }", 1, 10, "no key"), ("[1,\n]", 2, 1, "no value"),
            ("{\"a\": 1, \"\\u0061\": 2}", 1, 10, "\"a\" is there twice"),
            ("[1] 2", 1, 5, "should end here"), ("[\"a\nb\"]", 1, 4, "not closed on its line"),
            ("[\"a", 1, 4, "no end"),
            ("[\"\\x\"]", 1, 3, "escape is unknown"), ("[01]", 1, 2, "number"), ("[1.]", 1, 2, "number"),
            ("{", 1, 2, "no key"),
            ("{\"a\" 1}", 1, 6, "no colon"), ("[1", 1, 3, "neither a comma nor a closing bracket"),
            ("", 1, 1, "ends too early"),
            ("[nil]", 1, 2, "no value"),
        ]
    )
    func syntax(_ text: String, _ line: Int, _ column: Int, _ problem: String) throws {
        let found = try #require(failure(text))
        #expect(found.path == "line \(line), column \(column)")
        #expect(found.problem.contains(problem), "\(found)")
    }

    @Test("whatever JSON allows passes the check of the syntax")
    func validSyntax() {
        #expect(
            failure(
                " {\r\n\t\"$schema\" : \"\\u00e4\\n\\/\", \"format\": 1.0E+0, \"name\": \"\\\"\", \"services\": [ ] } "
            ) == nil
        )
        #expect(failure("\u{FEFF}{\"format\": 1, \"name\": \"X\"}") == nil)
    }

    @Test("a member without the property that it is for is refused, and so is a characteristic without properties")
    func missingProperties() {
        #expect(failure(characteristic: #""properties": []"#)?.problem == "the list is empty")
        let written = failure(characteristic: #""properties": ["read"], "onWrite": []"#)
        #expect(written?.path == "services[0].characteristics[0].onWrite")
        #expect(written?.problem == #"the characteristic lacks the property "write" or "writeWithoutResponse""#)
        #expect(
            failure(characteristic: #""properties": ["read"], "notifyEvery": 1"#)?.advice
                == "add it"
        )
        #expect(
            failure(characteristic: #""properties": ["write"], "onRead": {}"#)?.problem.contains(#""read""#) == true
        )
        #expect(failure(characteristic: #""properties": ["indicate"], "notifyEvery": 1"#) == nil)
    }

    @Test("a key that is almost right is answered with the right one")
    func similarKeys() {
        #expect(failure(#"{"format": 1, "name": "X", "sevices": []}"#)?.advice == #"did you mean "services"?"#)
        #expect(
            failure(#"{"format": 1, "name": "X", "zzzz": 1}"#)?.advice.hasPrefix("remove it, or use one of") == true
        )
        #expect(SimilarWords.mostSimilar(to: "lok", of: ReadyMadeAccessory.allCases.map(\.rawValue)) == ["lock"])
    }

    @Test("behaviours 6.9, 7.8, 7.10: an error names the place, and what to do")
    func errorsNameThePlace() {
        #expect(failure("[]")?.problem == "this is an array")
        #expect(failure("{")?.problem.hasPrefix("this is not JSON") == true)
        #expect(
            "\(failure(#"{"format": 2, "name": "X"}"#), default: "-")"
                == "format: this version of the format is unknown; write 1"
        )
        #expect(failure(#"{"format": 1}"#)?.problem == #"the key "name" is missing"#)
        #expect(failure(#"{"format": 1, "name": ""}"#)?.path == "name")
        #expect(failure(#"{"format": 1, "name": "X", "nmae": 1}"#)?.problem == #"the key "nmae" is unknown"#)
        let service = failure(#"{"format": 1, "name": "X", "services": [{"uuid": "Hart Rate"}]}"#)
        #expect(service?.path == "services[0].uuid")
        #expect(service?.problem == #""Hart Rate" is no UUID"#)
        #expect(failure(#"{"format": 1, "name": "X", "services": [{"uuid": "1800"}]}"#)?.advice == "remove it")

        let place = "services[0].characteristics[0]"
        let property = failure(characteristic: #""properties": ["notfy"]"#)
        #expect(property?.path == "\(place).properties[0]")
        #expect(property?.advice == "use one of read, write, writeWithoutResponse, notify, indicate")
        let number = failure(characteristic: #""properties": ["write", "notify"], "value": [{"uint8": 256}]"#)
        #expect(number?.path == "\(place).value[0].uint8")
        #expect(number?.advice == "write a whole number from 0 to 255")
        let digits = failure(characteristic: #""properties": ["write", "notify"], "value": "0E4""#)
        #expect(digits?.problem == "this is no hexadecimal text")
        let written = failure(characteristic: #""properties": ["write", "notify"], "value": {"written": {}}"#)
        #expect(written?.path == "\(place).value")
        let reference = failure(
            characteristic: #""properties": ["write", "notify"], "onWrite": [{"then": [{"set": "2A00", "value": ""}]}]"#
        )
        #expect(reference?.path == "\(place).onWrite[0].then[0].set")
        let descriptor = failure(
            characteristic: #""properties": ["write", "notify"], "descriptors": [{"uuid": "2902", "value": "0000"}]"#
        )
        #expect(descriptor?.problem == "Core Bluetooth cannot publish the descriptor 2902")
        let advertised = failure(
            #"{"format": 1, "name": "X", "advertising": {"manufacturerData": {"company": 1, "data": {"text": "0123456789012345678901234"}}}}"#
        )
        #expect(advertised?.problem == "manufacturer and service data take 29 octets, two of them for each header")
        let authenticated = failure(characteristic: #""properties": ["read"], "permission": "authenticated""#)
        #expect(authenticated?.problem == "a device without input and output cannot authenticate")
        let mixed = #""properties": ["read"], "permission": {"read": "authenticated", "write": "encrypted"}"#
        #expect(failure(characteristic: mixed, #", "security": {"io": "display"}"#)?.path == "\(place).permission")
        let fault = failure(
            characteristic: #""properties": ["write", "notify"], "onWrite": [{"fault": {"length": 1}}]"#
        )
        #expect(fault?.advice == "use attError or noAnswer")
        let wrongType = failure(characteristic: #""properties": ["write", "notify"], "repeat": "yes""#)
        #expect("\(wrongType, default: "-")" == "\(place).repeat: this is a text; write true or false")
        let tooFast = failure(characteristic: #""properties": ["write", "notify"], "notifyEvery": 0"#)
        #expect(tooFast?.advice == "write a number from 0.001 to 604800 seconds")
    }

    @Test("a value of the wrong type in any place is refused, with its place")
    func wrongTypes() throws {
        let tree = try JSONTree.parse(Array(everyKey.utf8))
        var places = 0
        for wrong in [JSONTree.null, .bool(true), .number(-1e300), .text("\u{0}"), .array([]), .object([:])] {
            for changed in tree.everyChange(to: wrong) {
                places += 1
                let json = try JSONEncoder().encode(changed)
                guard let accessory = try? Accessory(json: json) else { continue }
                #expect((try? Accessory(json: accessory.json)) == accessory)
            }
        }
        #expect(places > 500)
    }

    @Test func theSchemaHasTheSameKeys() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Documentation/accessory-1.schema.json").standardized
        let tree = try JSONDecoder().decode(JSONTree.self, from: Data(contentsOf: file))
        guard case .object(let schema) = tree, case .object(let definitions) = schema["$defs"] else {
            return recordIssue("the schema has no definitions")
        }
        for (name, keys) in FormatKeys.all {
            let definition = name == "accessory" ? tree : definitions[name] ?? .null
            guard case .object(let members) = definition, case .object(let properties) = members["properties"] else {
                Issue.record("the schema does not define \(name)")
                continue
            }
            #expect(properties.keys.sorted() == keys.sorted(), "\(name)")
            #expect(members["additionalProperties"] == .bool(false), "\(name)")
        }
    }

    @Test func theExampleOfTheDocumentIsValid() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Documentation/Accessories.md").standardized
        let text = try String(contentsOf: file, encoding: .utf8)
        let blocks = text.components(separatedBy: "```json\n").dropFirst()
            .filter { !$0.contains("\"steps\"") }
        #expect(blocks.count == 1)
        for block in blocks {
            let lamp = try Accessory(json: block.components(separatedBy: "```")[0])
            #expect(lamp.name == "Lamp")
            #expect(try Accessory(json: lamp.json) == lamp)
        }
    }

    @Test(arguments: ReadyMadeAccessory.allCases)
    func readyMadeAccessoriesAreValid(_ readyMade: ReadyMadeAccessory) throws {
        let accessory = try Accessory(json: readyMade.json)
        #expect(accessory.summary?.hasSuffix(".") == true)
        #expect(try Accessory(json: accessory.json) == accessory)
    }

    @Test func aFileIsReadByItsURL() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "accessory-\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(everyKey.utf8).write(to: file)
        #expect(try Accessory(contentsOf: file).name == "Everything")
        #expect(throws: AccessoryError.self) { try Accessory(contentsOf: file.appendingPathExtension("not")) }
        #expect(throws: AccessoryError.self) { try Accessory(contentsOf: FileManager.default.temporaryDirectory) }
    }

    @Test("AB-F03: a pipe, a device or a directory in place of a file is refused at once")
    func noFiles() throws {
        let pipe = FileManager.default.temporaryDirectory.appending(path: "accessory-\(UUID())")
        defer { try? FileManager.default.removeItem(at: pipe) }
        try #require(mkfifo(pipe.path, 0o600) == 0)
        for path in [pipe.path, "/dev/zero", "/dev/tty", "/tmp"] {
            #expect(throws: AccessoryError.self) { try Accessory(contentsOf: URL(filePath: path)) }
            #expect(throws: AccessoryError.self) { try DeviceSteps(contentsOf: URL(filePath: path)) }
        }
    }
}

extension JSONTree {
    /// The trees in which one value is replaced by another one.
    fileprivate func everyChange(to other: JSONTree) -> [JSONTree] {
        var changed = [other]
        switch self {
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                for new in element.everyChange(to: other) {
                    var copy = elements
                    copy[index] = new
                    changed.append(.array(copy))
                }
            }
        case .object(let members):
            for (key, value) in members {
                for new in value.everyChange(to: other) {
                    var copy = members
                    copy[key] = new
                    changed.append(.object(copy))
                }
            }
        default: break
        }
        return changed
    }
}
