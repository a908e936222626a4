import BluetoothService
import EventLoops
import L2CAP
import Testing

struct RuleCase: CustomTestStringConvertible, Sendable {
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
        RuleCase("15/15 ms", 12, 12, 0, 600, true),
        RuleCase("15/30 ms", 12, 24, 0, 600, true),
        RuleCase("15/28.75 ms", 12, 23, 0, 600, false),
        RuleCase("30/30 ms", 24, 24, 0, 600, false),
        RuleCase("30/45 ms", 24, 36, 0, 600, true),
        RuleCase("20/40 ms is no multiple of 15", 16, 32, 0, 600, false),
        RuleCase("7.5/15 ms", 6, 12, 0, 600, false, inputDevice: false),
        RuleCase("11.25/11.25 ms", 9, 9, 0, 600, false, inputDevice: true),
        RuleCase("11.25/26.25 ms", 9, 21, 0, 600, false, inputDevice: true),
        RuleCase("latency 30", 24, 36, 30, 600, true),
        RuleCase("latency 31", 24, 36, 31, 600, false),
        RuleCase("timeout 5.99 s", 24, 36, 0, 599, false),
        RuleCase("timeout 18 s", 24, 36, 0, 1800, true),
        RuleCase("timeout 18.01 s", 24, 36, 0, 1801, false),
        RuleCase("minimum 1.995 s", 1596, 1620, 0, 800, true),
        RuleCase("minimum 2.01 s", 1608, 1632, 0, 800, false),
        RuleCase("effective 6 s", 1200, 1600, 2, 1801 - 1, false),
        RuleCase("effective 6 s, timeout above 18 s", 1200, 1600, 2, 1801, false),
        RuleCase("effective 5.985 s", 1584, 1596, 2, 1800, true),
        RuleCase("effective above 6 s", 1200, 1608, 2, 1800, false),
        RuleCase("timeout of three effective intervals", 1584, 1600, 0, 600, false),
        RuleCase("minimum above maximum", 36, 24, 0, 600, legal: false, false),
        RuleCase("below 7.5 ms", 5, 24, 0, 600, legal: false, false),
        RuleCase("above 4 s", 24, 3201, 0, 3200, legal: false, false),
        RuleCase("latency 500", 6, 6, 500, 3200, legal: false, false),
        RuleCase("timeout of two effective intervals", 40, 80, 4, 100, legal: false, false),
        RuleCase("zero", 0, 0, 0, 0, legal: false, false),
        RuleCase("all ones", .max, .max, .max, .max, legal: false, false),
    ]

    @Test("behaviour 3.27: a central accepts what Apple's rules accept", arguments: cases)
    func centralFollowsApplesRules(_ testCase: RuleCase) {
        #expect(testCase.parameters.isLegal == testCase.isLegal)
        #expect(AppleConnectionParameterRules().accept(testCase.parameters) == testCase.isAccepted)
    }

    /// A bound of an edition: the last values that it accepts, the first that it does not, and why.
    struct Bound: CustomTestStringConvertible, Sendable {
        typealias Values = (minimum: UInt16, maximum: UInt16, latency: UInt16, timeout: UInt16)

        var testDescription: String
        var rules: AppleConnectionParameterRules
        var taken: ConnectionParameters
        var refused: ConnectionParameters
        var reasons: [AppleConnectionParameterRules.Refusal]

        init(
            _ edition: AppleConnectionParameterRules.Edition,
            keyboard: Bool = false,
            _ taken: Values,
            _ refused: Values,
            _ reasons: AppleConnectionParameterRules.Refusal...
        ) {
            testDescription = "\(edition) \(taken) \(refused)"
            rules = AppleConnectionParameterRules(edition, allowsHumanInterfaceDevice: keyboard)
            (self.taken, self.refused) = (Self.parameters(taken), Self.parameters(refused))
            self.reasons = reasons
        }

        static func parameters(_ values: Values) -> ConnectionParameters {
            ConnectionParameters(
                intervalMinimum: values.minimum,
                intervalMaximum: values.maximum,
                latency: values.latency,
                timeout: values.timeout
            )
        }
    }

    private static let oldBounds = [
        // Before iOS 11: the guidelines of 2013.
        Bound(.first, (16, 32, 0, 600), (15, 31, 0, 600), .minimum(16...3200)),
        Bound(.first, (24, 40, 0, 600), (24, 39, 0, 600), .width(least: 16)),
        Bound(.first, (24, 40, 4, 600), (24, 40, 5, 600), .latency(most: 4)),
        Bound(.first, (24, 40, 0, 600), (24, 40, 0, 601), .timeout(10...600)),
        Bound(.first, (24, 40, 0, 16), (24, 40, 0, 15), .shortTimeout),
        Bound(.first, (300, 319, 4, 600), (300, 321, 4, 600), .effectiveInterval(most: 1600), .shortTimeout),
        // From iOS 11 to 17: QA1931, the guidelines R11 to R24.
        Bound(.second, (24, 36, 0, 200), (24, 36, 0, 199), .timeout(200...600)),
        Bound(.second, (24, 36, 0, 600), (24, 36, 0, 601), .timeout(200...600)),
        Bound(.second, (24, 36, 0, 400), (24, 36, 31, 600), .latency(most: 30)),
        Bound(.second, (12, 24, 0, 600), (11, 24, 0, 600), .minimum(12...1600), .multiple),
        Bound(.second, (24, 36, 0, 600), (25, 37, 0, 600), .multiple),
        Bound(.second, (24, 36, 0, 600), (24, 35, 0, 600), .width(least: 12)),
        Bound(.second, (12, 12, 0, 600), (24, 24, 0, 600), .width(least: 12)),
        Bound(.second, (300, 319, 4, 600), (300, 321, 4, 600), .effectiveInterval(most: 1600), .shortTimeout),
    ]

    private static let bounds = [
        // Since: quoted from February 2025 on, and R30.
        Bound(.current, (24, 36, 30, 600), (24, 36, 31, 600), .latency(most: 30)),
        Bound(.current, (24, 36, 0, 600), (24, 36, 0, 599), .timeout(600...1800)),
        Bound(.current, (24, 36, 0, 600), (24, 36, 0, 400), .timeout(600...1800)),
        Bound(.current, (24, 36, 0, 1800), (24, 36, 0, 1801), .timeout(600...1800)),
        Bound(.current, (12, 24, 0, 600), (11, 23, 0, 600), .minimum(12...1600), .multiple),
        Bound(.current, (1596, 1608, 0, 700), (1608, 1620, 0, 700), .minimum(12...1600)),
        Bound(.current, (24, 36, 0, 600), (25, 37, 0, 600), .multiple),
        Bound(.current, (24, 36, 0, 600), (24, 35, 0, 600), .width(least: 12)),
        Bound(.current, (12, 12, 0, 600), (24, 24, 0, 600), .width(least: 12)),
        Bound(.current, (12, 160, 9, 601), (12, 160, 9, 600), .shortTimeout),
        // Effective intervals of 5.99 s, and of 6 s, for which no timeout is long enough.
        Bound(.current, (1584, 1599, 2, 1800), (1584, 1600, 2, 1800), .shortTimeout),
        Bound(.current, (1584, 1599, 2, 1800), (1584, 1601, 2, 1800), .effectiveInterval(most: 4800), .shortTimeout),
        Bound(.current, keyboard: true, (9, 9, 0, 600), (8, 20, 0, 600), .minimum(12...1600), .multiple),
        Bound(.current, keyboard: true, (9, 21, 0, 600), (9, 20, 0, 600), .width(least: 12)),
        Bound(.current, (12, 12, 0, 600), (9, 9, 0, 600), .minimum(12...1600), .multiple, .width(least: 12)),
        Bound(.current, (12, 12, 0, 600), (36, 24, 0, 600), .illegal),
    ]

    @Test(
        "behaviours 3.27, 3.28: the last parameters within each bound, the first beyond, why, and what would be accepted",
        arguments: oldBounds + bounds
    )
    func eachBound(bound: Bound) {
        #expect(bound.rules.refusals(of: bound.taken) == [])
        #expect(bound.rules.nearest(to: bound.taken) == bound.taken)
        #expect(bound.rules.refusals(of: bound.refused) == bound.reasons)
        let nearest = bound.rules.nearest(to: bound.refused)
        #expect(bound.rules.refusals(of: nearest) == [], "\(nearest)")
        #expect(nearest != bound.refused)
    }

    @Test("behaviour 12.28: whatever is requested, the parameters that would be accepted are", arguments: 0..<20)
    func nearestParameters(seed: Int) {
        let random = RandomSource(seed: UInt64(seed))
        for _ in 0..<500 {
            // Small and large numbers, of each field.
            func number() -> UInt16 { UInt16(random.below(random.below(2) == 0 ? 65_536 : 4_000)) }
            let wanted = Bound.parameters((number(), number(), number(), number()))
            for edition in AppleConnectionParameterRules.Edition.allCases {
                for keyboard in [true, false] {
                    let rules = AppleConnectionParameterRules(edition, allowsHumanInterfaceDevice: keyboard)
                    #expect(rules.accept(rules.nearest(to: wanted)), "\(edition) \(wanted)")
                }
            }
        }
    }

    @Test(
        "behaviour 12.28: a supervision timeout of 4 s is refused with the reason, and with one that would be accepted"
    )
    func fourSeconds() {
        let common = Bound.parameters((24, 48, 0, 400))
        let explanation = """
            interval 30 to 60 ms, latency 0, timeout 4000 ms, because the supervision timeout is not from 6 to 18 s; \
            interval 30 to 60 ms, latency 0, timeout 6000 ms would be accepted
            """
        #expect(AppleConnectionParameterRules().explanation(of: common) == explanation)
        #expect(AppleConnectionParameterRules(.second).accept(common))
        #expect(AppleConnectionParameterRules(.first).accept(common))
        let keyboard = AppleConnectionParameterRules(allowsHumanInterfaceDevice: true)
        let fast = Bound.parameters((6, 12, 30, 400))
        #expect(
            keyboard.explanation(of: fast).hasSuffix(
                "; interval 11.25 to 26.25 ms, latency 30, timeout 6000 ms would be accepted"
            )
        )
    }

    @Test("behaviour 3.29: input devices may ask for a shorter interval", arguments: cases)
    func inputDevicesMayAskForLess(_ testCase: RuleCase) {
        let rules = AppleConnectionParameterRules(allowsHumanInterfaceDevice: true)
        let expected = testCase.isAcceptedForInputDevice ?? testCase.isAccepted
        #expect(rules.accept(testCase.parameters) == expected)
    }
}
