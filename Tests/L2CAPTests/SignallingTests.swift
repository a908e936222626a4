import BluetoothTypes
import EventLoops
import LoopbackLinks
import Testing

@testable import L2CAP

@Suite struct SignallingTests {
    static let update: [UInt8] = [0x12, 1, 8, 0, 24, 0, 36, 0, 0, 0, 88, 2]

    @Test("L2CAP/LE/CPU/BV-01: a peripheral requests connection parameters")
    func peripheralAsks() {
        let fixture = Fixture(role: .peripheral)
        var outcomes: [ParameterUpdateOutcome] = []
        let parameters = ConnectionParameters(intervalMinimum: 24, intervalMaximum: 36, latency: 0, timeout: 600)
        fixture.connection.requestParameterUpdate(parameters) { outcomes.append($0) }
        fixture.connection.requestParameterUpdate(parameters) { outcomes.append($0) }
        #expect(outcomes == [.busy])
        #expect(fixture.link.takeSent(on: 5) == [Self.update])
        // A response with another identifier is ignored.
        #expect(fixture.signal([0x13, 2, 2, 0, 0, 0]).isEmpty)
        #expect(outcomes == [.busy])
        #expect(fixture.signal([0x13, 1, 2, 0, 0, 0]).isEmpty)
        #expect(outcomes == [.busy, .accepted])
        fixture.connection.requestParameterUpdate(parameters) { outcomes.append($0) }
        #expect(fixture.link.takeSent(on: 5).map { $0[1] } == [2])
        _ = fixture.signal([0x13, 2, 2, 0, 1, 0])
        fixture.connection.requestParameterUpdate(parameters) { outcomes.append($0) }
        _ = fixture.signal([0x01, 3, 2, 0, 0, 0])
        #expect(outcomes == [.busy, .accepted, .rejected, .notUnderstood])
    }

    @Test("AB-C05: a malformed parameter response leaves the request waiting")
    func answersAboutParametersOfAnotherShape() {
        let fixture = Fixture(role: .peripheral)
        var outcomes: [ParameterUpdateOutcome] = []
        let parameters = ConnectionParameters(intervalMinimum: 24, intervalMaximum: 36, latency: 0, timeout: 600)
        fixture.connection.requestParameterUpdate(parameters) { outcomes.append($0) }
        #expect(fixture.link.takeSent(on: 5) == [Self.update])
        for octets in [[], [0], [0, 0, 0], [0, 0, 0, 0]] as [[UInt8]] {
            #expect(fixture.signal([0x13, 1] + le(octets.count) + octets).isEmpty)
        }
        for code: UInt8 in [0x07, 0x15, 0x18, 0x1A] { #expect(fixture.signal([code, 1, 2, 0, 0, 0]).isEmpty) }
        #expect(fixture.signal([0x01, 1, 1, 0, 0]).isEmpty)
        #expect(outcomes.isEmpty)
        #expect(fixture.discards.count == 9)
        _ = fixture.signal([0x13, 1, 2, 0, 0, 0])
        #expect(outcomes == [.accepted])
        #expect(fixture.connection.signallingTimers.isEmpty)
    }

    // Found by fuzzing, like the same defect in ATT.
    @Test("AB-C09: signalling responses to a peer that acknowledges nothing do not accumulate")
    func aPeerThatTakesNoAnswersGetsNoMore() {
        let fixture = Fixture(role: .peripheral)
        fixture.link.isHeld = true
        for _ in 0..<1000 { _ = fixture.signal([0x02, 1, 0, 0]) }
        #expect(fixture.link.queuedPDUs == L2CAPConnection.maximumQueuedAnswers)
        fixture.link.isHeld = false
        #expect(fixture.link.takeSent(on: 5).count == L2CAPConnection.maximumQueuedAnswers)
        #expect(fixture.signal([0x02, 1, 0, 0]).count == 1)
    }

    @Test func aRequestWithoutAnswerEnds() {
        let fixture = Fixture(role: .peripheral)
        var outcomes: [ParameterUpdateOutcome] = []
        let parameters = ConnectionParameters(intervalMinimum: 24, intervalMaximum: 36, latency: 0, timeout: 600)
        fixture.connection.requestParameterUpdate(parameters) { outcomes.append($0) }
        fixture.loop.run(for: .milliseconds(29_999))
        #expect(outcomes.isEmpty)
        fixture.loop.run(for: .milliseconds(1))
        #expect(outcomes == [.timedOut])
        fixture.connection.requestParameterUpdate(parameters) { outcomes.append($0) }
        fixture.connection.close()
        #expect(outcomes == [.timedOut, .closed])
        fixture.connection.requestParameterUpdate(parameters) { outcomes.append($0) }
        #expect(outcomes.last == .closed)
    }

    @Test func identifiersNeverAreZero() {
        let fixture = Fixture(role: .peripheral)
        let parameters = ConnectionParameters(intervalMinimum: 24, intervalMaximum: 36, latency: 0, timeout: 600)
        var seen: [UInt8] = []
        for _ in 0..<300 {
            fixture.connection.requestParameterUpdate(parameters) { _ in }
            let identifier = fixture.link.takeSent(on: 5)[0][1]
            seen.append(identifier)
            _ = fixture.signal([0x13, identifier, 2, 0, 0, 0])
        }
        #expect(seen == Array(1...255) + Array(1...45))
    }

    @Test("L2CAP/LE/CPU/BV-02: a central accepts connection parameters")
    func centralAccepts() {
        let fixture = Fixture(role: .central)
        var accepted: [ConnectionParameters] = []
        fixture.connection.onParametersAccepted = { accepted.append($0) }
        #expect(fixture.signal(Self.update) == [[0x13, 1, 2, 0, 0, 0]])
        #expect(accepted.map(\.intervalMaximum) == [36])
        fixture.connection.parameterPolicy = { _ in false }
        #expect(fixture.signal(Self.update) == [[0x13, 1, 2, 0, 1, 0]])
        #expect(accepted.count == 1)
    }

    @Test(
        "L2CAP/LE/CPU/BI-01, AB-C10: a central rejects illegal connection parameters",
        arguments: [
            [36, 0, 24, 0, 0, 0, 88, 2], [24, 0, 36, 0, 30, 0, 10, 0], [0, 0, 0, 0, 0, 0, 0, 0],
            [6, 0, 0x81, 0x0C, 0, 0, 0x80, 0x0C],
        ] as [[UInt8]]
    )
    func centralRejectsIllegalValues(fields: [UInt8]) {
        let fixture = Fixture(role: .central)
        fixture.connection.parameterPolicy = { _ in true }
        fixture.connection.onParametersAccepted = { _ in Issue.record("passed to the controller") }
        #expect(fixture.signal([0x12, 9, 8, 0] + fields) == [[0x13, 9, 2, 0, 1, 0]])
    }

    @Test("L2CAP/LE/CPU/BI-02, AB-C10: a peripheral rejects a request for connection parameters as unknown")
    func peripheralDoesNotKnowTheRequest() {
        let fixture = Fixture(role: .peripheral)
        #expect(fixture.signal(Self.update) == [[0x01, 1, 2, 0, 0, 0]])
    }

    @Test(
        "L2CAP/LE/REJ/BI-02: unknown signalling codes are rejected",
        arguments: [0x00, 0x02, 0x04, 0x08, 0x0A, 0x1B, 0xFF] as [UInt8]
    )
    func unknownCodes(code: UInt8) {
        let fixture = Fixture()
        #expect(fixture.signal([code, 3, 0, 0]) == [[0x01, 3, 2, 0, 0, 0]])
    }

    @Test("AB-C09: several commands in one packet and false lengths are rejected or ignored")
    func severalCommandsAndLyingLengths() {
        let fixture = Fixture(role: .central)
        let reject: [[UInt8]] = [[0x01, 1, 2, 0, 0, 0]]
        #expect(fixture.signal(Self.update + [0xFF]) == reject)
        #expect(fixture.signal([0x12, 1, 8, 0] + [UInt8](repeating: 0, count: 7)) == reject)
        #expect(fixture.signal([0x0A, 1, 1, 0, 0, 0x0A, 2, 1, 0, 0]) == reject)
        #expect(fixture.signal([0x12, 1, 0xFF, 0xFF] + Self.update[4...]) == reject)
        // Nothing to answer: identifier 0, incomplete headers, unsolicited responses.
        #expect(fixture.signal([0x12, 0] + Self.update[2...]).isEmpty)
        for length in 0..<4 { #expect(fixture.signal(Array(Self.update.prefix(length))).isEmpty) }
        for code: UInt8 in [0x01, 0x07, 0x13, 0x15, 0x16, 0x18, 0x1A] {
            #expect(fixture.signal([code, 1, 0, 0]).isEmpty)
            #expect(fixture.signal([code, 1, 9, 0]).isEmpty)
        }
    }

    @Test("AB-C09: signalling packets above the MTU are rejected")
    func packetsAboveTheSignallingMTU() {
        let fixture = Fixture(role: .central)
        let long = [0x12, 7, 20, 0] + [UInt8](repeating: 0, count: 20)
        #expect(fixture.signal(long) == [[0x01, 7, 4, 0, 1, 0, 23, 0]])
        #expect(fixture.signal([UInt8](repeating: 1, count: 256)).isEmpty)
    }

    @Test func everyCommandGoesBothWaysAndNoneIsReadWhenTruncated() throws {
        try check(CommandReject.self, [2, 0, 0x40, 0, 0x41, 0], from: 2)
        try check(ConnectionParameters.self, [24, 0, 36, 0, 0, 0, 88, 2])
        try check(ParameterUpdateResponse.self, [1, 0])
        try check(DisconnectionRequest.self, [0x40, 0, 0x41, 0])
        try check(DisconnectionResponse.self, [0x40, 0, 0x41, 0])
        try check(CreditBasedConnectionRequest.self, [0x80, 0, 0x40, 0, 23, 0, 24, 0, 1, 0])
        try check(CreditBasedConnectionResponse.self, [0x40, 0, 23, 0, 24, 0, 1, 0, 2, 0])
        try check(FlowControlCredit.self, [0x40, 0, 1, 0])
        try check(EnhancedConnectionRequest.self, [0x80, 0, 64, 0, 65, 0, 1, 0, 0x40, 0])
        // The list of a response may be missing, and so may the data of a rejection.
        try check(EnhancedConnectionResponse.self, [64, 0, 65, 0, 1, 0, 2, 0, 0x40, 0], from: 8)
        try check(ReconfigureRequest.self, [64, 0, 65, 0, 0x40, 0])
        try check(ReconfigureResponse.self, [3, 0])
        try check(SignallingPacket.self, [0x12, 1, 2, 0, 3, 4])
    }

    /// Expects all octets to decode to a value that encodes to the same octets, and fewer to fail, except that those
    /// after `optional` may be left out.
    private func check<T: PacketFields>(_ type: T.Type, _ octets: [UInt8], from optional: Int? = nil) throws {
        #expect(try T(reading: PacketBuffer(octets)).encoded().bytes == octets)
        for length in 0..<(optional ?? octets.count) {
            #expect(throws: PacketError.self) { try T(reading: PacketBuffer(Array(octets[..<length]))) }
        }
    }

    /// Every packet of the table, cut at every octet, with a header that matches and one that does not.
    @Test(
        "AB-C09: every signalling command truncated at every octet gets at most one answer",
        arguments: [UInt8](0x00...0x1F) + [0xFF]
    )
    func everyCommandCutAtEveryOctetGetsOneAnswerAtMost(code: UInt8) {
        let fields = pattern(19)
        for role in [L2CAPRole.central, .peripheral] {
            let fixture = Fixture(role: role)
            for length in 0...19 {
                let cut = fields.prefix(length)
                #expect(fixture.signal([code, 1] + le(length) + cut).count <= 1)
                #expect(fixture.signal([code, 1] + le(length + 1) + cut).count <= 1)
                #expect(fixture.signal([code, 1, 0xFF, 0xFF] + cut).count <= 1)
                #expect(fixture.signal([code, 0] + le(length) + cut).isEmpty)
            }
            #expect(fixture.connection.signalling.endpoints.isEmpty)
        }
    }
}
