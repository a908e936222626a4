import BluetoothService
import L2CAP
import Testing

struct ParameterCase: CustomTestStringConvertible, Sendable {
    var name: String
    var parameters: ConnectionParameters
    var isLegal = true
    var isAccepted: Bool
    var isAcceptedForInputDevice: Bool?

    init(
        _ name: String,
        _ minimum: UInt16,
        _ maximum: UInt16,
        _ latency: UInt16,
        _ timeout: UInt16,
        legal: Bool = true,
        _ isAccepted: Bool,
        inputDevice: Bool? = nil
    ) {
        self.name = name
        parameters = ConnectionParameters(
            intervalMinimum: minimum,
            intervalMaximum: maximum,
            latency: latency,
            timeout: timeout
        )
        isLegal = legal
        self.isAccepted = isAccepted
        isAcceptedForInputDevice = inputDevice
    }

    var testDescription: String { name }
}

@Suite struct AppleConnectionParameterRulesTests {
    static let cases = [
        ParameterCase("15/15 ms", 12, 12, 0, 600, true),
        ParameterCase("15/30 ms", 12, 24, 0, 600, true),
        ParameterCase("15/28.75 ms", 12, 23, 0, 600, false),
        ParameterCase("30/30 ms", 24, 24, 0, 600, false),
        ParameterCase("30/45 ms", 24, 36, 0, 600, true),
        ParameterCase("20/40 ms is no multiple of 15", 16, 32, 0, 600, false),
        ParameterCase("7.5/15 ms", 6, 12, 0, 600, false, inputDevice: false),
        ParameterCase("11.25/11.25 ms", 9, 9, 0, 600, false, inputDevice: true),
        ParameterCase("11.25/26.25 ms", 9, 21, 0, 600, false, inputDevice: true),
        ParameterCase("latency 30", 24, 36, 30, 600, true),
        ParameterCase("latency 31", 24, 36, 31, 600, false),
        ParameterCase("timeout 5.99 s", 24, 36, 0, 599, false),
        ParameterCase("timeout 18 s", 24, 36, 0, 1800, true),
        ParameterCase("timeout 18.01 s", 24, 36, 0, 1801, false),
        ParameterCase("minimum 1.995 s", 1596, 1620, 0, 800, true),
        ParameterCase("minimum 2.01 s", 1608, 1632, 0, 800, false),
        ParameterCase("effective 6 s", 1200, 1600, 2, 1801 - 1, false),
        ParameterCase("effective 6 s, timeout above 18 s", 1200, 1600, 2, 1801, false),
        ParameterCase("effective 5.985 s", 1584, 1596, 2, 1800, true),
        ParameterCase("effective above 6 s", 1200, 1608, 2, 1800, false),
        ParameterCase("timeout of three effective intervals", 1584, 1600, 0, 600, false),
        ParameterCase("minimum above maximum", 36, 24, 0, 600, legal: false, false),
        ParameterCase("below 7.5 ms", 5, 24, 0, 600, legal: false, false),
        ParameterCase("above 4 s", 24, 3201, 0, 3200, legal: false, false),
        ParameterCase("latency 500", 6, 6, 500, 3200, legal: false, false),
        ParameterCase("timeout of two effective intervals", 40, 80, 4, 100, legal: false, false),
        ParameterCase("zero", 0, 0, 0, 0, legal: false, false),
        ParameterCase("all ones", .max, .max, .max, .max, legal: false, false),
    ]

    @Test("behaviour 3.27: a central accepts what Apple's rules accept", arguments: cases)
    func centralFollowsApplesRules(_ testCase: ParameterCase) {
        #expect(testCase.parameters.isLegal == testCase.isLegal)
        #expect(AppleConnectionParameterRules().accept(testCase.parameters) == testCase.isAccepted)
    }

    @Test(
        "behaviour 3.28: each rule of older editions is exact at its limit",
        arguments: [
            (.first, [16, 32, 0, 600], [15, 31, 0, 600]), (.first, [24, 40, 0, 600], [24, 39, 0, 600]),
            (.first, [24, 40, 4, 600], [24, 40, 5, 600]), (.first, [24, 40, 0, 600], [24, 40, 0, 601]),
            (.first, [25, 41, 0, 100], [25, 41, 0, 15]), (.first, [300, 320, 4, 601 - 1], [300, 321, 4, 600]),
            (.second, [24, 36, 0, 200], [24, 36, 0, 199]), (.second, [24, 36, 0, 600], [24, 36, 0, 601]),
            (.second, [24, 36, 30, 600], [24, 36, 31, 600]), (.second, [24, 36, 0, 600], [25, 37, 0, 600]),
            (.second, [12, 12, 0, 600], [24, 24, 0, 600]), (.second, [300, 320, 3, 600], [300, 321, 4, 600]),
        ] as [(AppleConnectionParameterRules.Edition, [UInt16], [UInt16])]
    )
    func olderEditionsHaveTheirEdges(
        edition: AppleConnectionParameterRules.Edition,
        taken: [UInt16],
        refused: [UInt16]
    ) {
        let rules = AppleConnectionParameterRules(edition)
        let values = [taken, refused].map {
            ConnectionParameters(intervalMinimum: $0[0], intervalMaximum: $0[1], latency: $0[2], timeout: $0[3])
        }
        #expect(rules.accept(values[0]) == (taken[1] != 320 || taken[2] != 4) && !rules.accept(values[1]))
    }

    /// The last value that each rule accepts, and the first that it rejects.
    @Test(
        "behaviour 3.27: each of Apple's rules for parameters is exact at its limit",
        arguments: [
            ("latency of 30", [24, 36, 30, 600], [24, 36, 31, 600]),
            ("timeout of 6 s", [24, 36, 0, 600], [24, 36, 0, 599]),
            ("timeout of 18 s", [24, 36, 0, 1800], [24, 36, 0, 1801]),
            ("minimum of 15 ms", [12, 24, 0, 600], [11, 23, 0, 600]),
            ("minimum of 2 s", [1596, 1608, 0, 700], [1608, 1620, 0, 700]),
            ("multiple of 15 ms", [24, 36, 0, 600], [25, 37, 0, 600]),
            ("maximum 15 ms above the minimum", [24, 36, 0, 600], [24, 35, 0, 600]),
            ("both 15 ms", [12, 12, 0, 600], [24, 24, 0, 600]),
            ("effective interval of 6 s", [1584, 1600, 2, 1801], [1584, 1600, 2, 1800]),
            ("timeout of more than three effective intervals", [12, 160, 9, 601], [12, 160, 9, 600]),
        ] as [(String, [UInt16], [UInt16])]
    )
    func eachRuleHasItsEdge(rule: String, taken: [UInt16], refused: [UInt16]) {
        let rules = AppleConnectionParameterRules()
        let values = [taken, refused].map {
            ConnectionParameters(intervalMinimum: $0[0], intervalMaximum: $0[1], latency: $0[2], timeout: $0[3])
        }
        #expect(values.allSatisfy { $0.isLegal }, "\(rule)")
        #expect(!rules.accept(values[1]), "\(rule)")
        // An effective interval of 6 s would need a timeout above 18 s, so that edge is unreachable.
        #expect(rules.accept(values[0]) == (taken[3] <= 1800), "\(rule)")
    }

    @Test("behaviour 3.29: input devices may ask for a shorter interval", arguments: cases)
    func inputDevicesMayAskForLess(_ testCase: ParameterCase) {
        let rules = AppleConnectionParameterRules(allowsHumanInterfaceDevice: true)
        let expected = testCase.isAcceptedForInputDevice ?? testCase.isAccepted
        #expect(rules.accept(testCase.parameters) == expected)
    }
}
