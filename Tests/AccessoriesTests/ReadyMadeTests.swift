import Testing

@testable import Accessories

/// The machines of ready-made accessories with states, without a radio.
@Suite struct ReadyMadeTests {
    /// An accessory whose effects are applied at once, in the order of their delays.
    private struct Bench {
        var machine: AccessoryMachine
        let accessory: Accessory
        /// The characteristics without a subscription of the writer, by their UUIDs.
        var unsubscribed: Set<String> = []

        init(_ readyMade: ReadyMadeAccessory) {
            accessory = readyMade.accessory
            machine = AccessoryMachine(accessory)
        }

        /// Writes a value, and returns the ATT error or what subscribers get.
        mutating func write(_ octets: [UInt8], to reference: String, upTo limit: Duration = .seconds(60)) -> Answer {
            guard let index = accessory.index(of: reference) else { return .none }
            let missing = unsubscribed.compactMap { accessory.index(of: $0) }
            let result = machine.write([(index, 0, octets)]) { !missing.contains($0) }
            if case .error(let code) = result.answer.outcome { return .error(code) }
            let due = result.effects.enumerated().filter { $1.after <= limit }
                .sorted { ($0.element.after, $0.offset) < ($1.element.after, $1.offset) }
            return .sent(
                due.compactMap { machine.apply($1) }.filter { !$0.isStored }.map { update in
                    "\(accessory.characteristics[update.index].uuid) " + Accessory.Value(update.value).digits
                }
            )
        }
    }

    private enum Answer: Equatable {
        case none
        case error(UInt8)
        case sent([String])

        /// The values of a characteristic.
        func values(of uuid: String) -> [String] {
            guard case .sent(let lines) = self else { return [] }
            return lines.filter { $0.hasPrefix(uuid + " ") }.map { String($0.dropFirst(uuid.count + 1)) }
        }
    }

    @Test(
        "GLS 1.0.1: the record access control point reports and counts records, and refuses what it does not know",
        arguments: [
            ([1, 1], 3, "06000101"), ([1, 5], 1, "06000101"), ([1, 6], 1, "06000101"),
            ([1, 3, 1, 2, 0], 2, "06000101"),
            ([1, 3, 1, 9, 0], 0, "06000106"), ([1, 9], 0, "06000104"), ([4, 1], 0, "05000300"),
            ([4, 3, 1, 2, 0], 0, "05000200"), ([4, 3, 1, 9, 0], 0, "05000000"), ([2, 1], 0, "06000202"),
            ([3, 0], 0, "06000301"),
        ] as [([UInt8], Int, String)]
    )
    func records(request: [UInt8], count: Int, response: String) {
        var bench = Bench(.glucose)
        let answer = bench.write(request, to: "2A52")
        #expect(answer.values(of: "2A18").count == count)
        #expect(answer.values(of: "2A52") == [response])
    }

    @Test("GLS 1.0.1: a meter whose client has not subscribed is improperly configured")
    func aMeterNeedsSubscriptions() {
        var bench = Bench(.glucose)
        bench.unsubscribed = ["2A18"]
        #expect(bench.write([1, 1], to: "2A52") == .error(0xFD))
        #expect(bench.write([4, 1], to: "2A52").values(of: "2A52") == ["05000300"])
        bench.unsubscribed = ["2A52"]
        #expect(bench.write([1, 1], to: "2A52") == .error(0xFD))
        #expect(bench.write([4, 1], to: "2A52") == .error(0xFD))
        bench.unsubscribed = []
        #expect(bench.write([1, 5], to: "2A52").values(of: "2A18").count == 1)
    }

    @Test func aMeterThatReportsTakesNothingButAnAbort() {
        var bench = Bench(.glucose)
        _ = bench.write([1, 1], to: "2A52", upTo: .milliseconds(100))
        #expect(bench.write([4, 1], to: "2A52") == .error(254))
        #expect(bench.write([3, 0], to: "2A52").values(of: "2A52") == ["06000301"])
        #expect(bench.write([4, 1], to: "2A52").values(of: "2A52") == ["05000300"])
    }

    @Test func aFirmwareTargetConfirmsPacketsAndChecksTheirSum() {
        let control = "6466752D-0002-4861-7261-6C6420303031"
        var bench = Bench(.firmwareTarget)
        #expect(bench.write([2, 2, 0], to: "control").values(of: control) == ["600201"])
        #expect(bench.write([1], to: "control").values(of: control) == ["600101"])
        #expect(bench.write(Array("12345".utf8), to: "packets").values(of: control) == [])
        // The check value of the CRC-32 of ISO-HDLC is CBF43926.
        let sum = "090000002639F4CB"
        #expect(bench.write(Array("6789".utf8), to: "packets").values(of: control) == ["600301" + sum])
        #expect(bench.write([3], to: "control").values(of: control) == ["600301" + sum])
        #expect(bench.write([4, 9, 0, 0, 0, 0, 0, 0, 0], to: "control").values(of: control) == ["600405"])
        #expect(
            bench.write([4, 9, 0, 0, 0, 0x26, 0x39, 0xF4, 0xCB], to: "control").values(of: control) == ["600401"]
        )
        #expect(bench.write([9], to: "control").values(of: control) == ["600902"])
    }

    @Test func aHiddenValueHasABound() {
        var bench = Bench(.firmwareTarget)
        let packet = [UInt8](repeating: 7, count: 512)
        for _ in 0...AccessoryLimits.hiddenValueLength / 512 { _ = bench.write(packet, to: "packets") }
        #expect(bench.machine.values.map(\.count).max() == AccessoryLimits.hiddenValueLength)
    }

    @Test(
        "errors about values, effects and includes name the place",
        arguments: [
            ("\"then\": [{\"append\": \"a\", \"value\": \"00\"}]", "then[0].append: only hidden values grow"),
            ("\"then\": [{\"notify\": \"h\", \"value\": \"00\"}]", "then[0].notify: a hidden value has no subscribers"),
            ("\"then\": [{\"cancel\": \"a\", \"value\": \"00\"}]", "then[0].value: nothing has a value here"),
            ("\"then\": [{\"set\": \"a\", \"value\": {\"size\": \"b\"}}]", "then[0].value: \"b\" names no"),
            ("\"then\": [{\"set\": \"a\", \"value\": \"\", \"everyNth\": \"b\"}]", "then[0].everyNth: \"b\" names no"),
            ("\"unlessSubscribed\": [\"h\"]", "unlessSubscribed[0]: \"h\" names no characteristic"),
            ("\"if\": {\"equals\": {\"crc32\": \"b\"}}", "if.equals: \"b\" names no"),
            ("\"if\": {\"beginsWith\": {\"value\": \"h\"}}", "if.beginsWith: this value cannot contain others"),
        ]
    )
    func errors(rule: String, message: String) {
        let text = """
            {"format": 1, "name": "X", "values": [{"id": "h"}], "services": [{"uuid": "180F", "characteristics": [
                {"uuid": "2A19", "id": "a", "properties": ["write"], "onWrite": [{\(rule)}]}
            ]}]}
            """
        let error = #expect(throws: AccessoryError.self) { try Accessory(json: text) }
        let place = "services[0].characteristics[0].onWrite[0].\(message)"
        #expect(error?.description.hasPrefix(place) == true, "\(error?.description ?? "")")
    }

    @Test func anIncludedServiceComesFirst() {
        let text = """
            {"format": 1, "name": "X", "services": [{"uuid": "1812", "includes": ["180F"]}, {"uuid": "180F"}]}
            """
        let error = #expect(throws: AccessoryError.self) { try Accessory(json: text) }
        #expect(error?.description.hasPrefix("services[0].includes[0]: no service before") == true)
    }
}
