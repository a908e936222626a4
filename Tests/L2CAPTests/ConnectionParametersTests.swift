import BluetoothTypes
import EventLoops
import LoopbackLinks
import Testing

@testable import L2CAP

struct ParameterCase: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var parameters: ConnectionParameters
    var isLegal: Bool

    init(_ name: String, _ minimum: UInt16, _ maximum: UInt16, _ latency: UInt16, _ timeout: UInt16, legal: Bool) {
        testDescription = name
        parameters = ConnectionParameters(
            intervalMinimum: minimum,
            intervalMaximum: maximum,
            latency: latency,
            timeout: timeout
        )
        isLegal = legal
    }
}

@Suite struct ConnectionParametersTests {
    static let cases = [
        ParameterCase("15/15 ms", 12, 12, 0, 600, legal: true),
        ParameterCase("15/28.75 ms", 12, 23, 0, 600, legal: true),
        ParameterCase("20/40 ms is no multiple of 15", 16, 32, 0, 600, legal: true),
        ParameterCase("7.5/15 ms", 6, 12, 0, 600, legal: true),
        ParameterCase("11.25/26.25 ms", 9, 21, 0, 600, legal: true),
        ParameterCase("latency 31", 24, 36, 31, 600, legal: true),
        ParameterCase("timeout 5.99 s", 24, 36, 0, 599, legal: true),
        ParameterCase("timeout 18.01 s", 24, 36, 0, 1801, legal: true),
        ParameterCase("effective above 6 s", 1200, 1608, 2, 1800, legal: true),
        ParameterCase("minimum above maximum", 36, 24, 0, 600, legal: false),
        ParameterCase("below 7.5 ms", 5, 24, 0, 600, legal: false),
        ParameterCase("above 4 s", 24, 3201, 0, 3200, legal: false),
        ParameterCase("latency 500", 6, 6, 500, 3200, legal: false),
        ParameterCase("timeout of two effective intervals", 40, 80, 4, 100, legal: false),
        ParameterCase("zero", 0, 0, 0, 0, legal: false),
        ParameterCase("all ones", .max, .max, .max, .max, legal: false),
        ParameterCase("the smallest of all", 6, 6, 0, 10, legal: true),
        ParameterCase("the largest of all", 3200, 3200, 0, 3200, legal: true),
    ]

    @Test("AB-C10: connection parameters are legal within the bounds of the specification", arguments: cases)
    func legalIsWhatTheSpecificationAllows(_ testCase: ParameterCase) {
        #expect(testCase.parameters.isLegal == testCase.isLegal)
    }

    @Test("behaviour 3.30: an accepted parameter request stays accepted, whatever its outcome")
    func anAcceptedRequestIsAcceptedWhateverBecomesOfIt() {
        let fixture = Fixture(role: .peripheral)
        var outcomes: [ParameterUpdateOutcome] = []
        let parameters = ConnectionParameters(intervalMinimum: 24, intervalMaximum: 36, latency: 0, timeout: 600)
        fixture.connection.requestParameterUpdate(parameters) { outcomes.append($0) }
        _ = fixture.signal([0x13, 1, 2, 0, 0, 0])
        fixture.loop.run(for: .seconds(100))
        #expect(outcomes == [.accepted])
    }

    @Test("AB-C10: illegal connection parameters are never requested", arguments: cases)
    func noIllegalValuesAreAskedFor(_ testCase: ParameterCase) {
        for role in [L2CAPRole.central, .peripheral] {
            let fixture = Fixture(role: role)
            var outcomes: [ParameterUpdateOutcome] = []
            fixture.connection.requestParameterUpdate(testCase.parameters) { outcomes.append($0) }
            let isAllowed = role == .peripheral && testCase.isLegal
            #expect(outcomes == (isAllowed ? [] : [.notAllowed]))
            #expect(fixture.link.sent.count == (isAllowed ? 1 : 0))
        }
    }

    /// As central, with a policy that accepts everything and one that accepts nothing.
    @Test("AB-C10: no illegal connection parameters reach the controller", arguments: cases)
    func noIllegalValuesReachTheController(_ testCase: ParameterCase) {
        for takesEverything in [true, false] {
            let fixture = Fixture(role: .central)
            fixture.connection.parameterPolicy = { _ in takesEverything }
            var passed: [ConnectionParameters] = []
            fixture.connection.onParametersAccepted = { passed.append($0) }
            let answer = fixture.signal([0x12, 9, 8, 0] + testCase.parameters.encoded().bytes)
            let isAccepted = takesEverything && testCase.isLegal
            #expect(answer == [[0x13, 9, 2, 0, isAccepted ? 0 : 1, 0]])
            #expect(passed == (isAccepted ? [testCase.parameters] : []))
        }
    }
}
