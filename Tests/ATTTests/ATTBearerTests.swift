import BluetoothTypes
import EventLoops
import L2CAP
import LoopbackLinks
import Testing

@testable import ATT

/// A bearer under test; the other end is a bare link, to which tests write octets and from which they read them.
final class BearerFixture {
    let loop = VirtualEventLoop()
    let link: LoopbackLink
    let peer: LoopbackLink
    let connection: L2CAPConnection
    let bearer: ATTBearer
    var results: [Result<ATTPDU, ATTBearerError>] = []
    var closures: [ATTBearerClosure] = []
    var requests: [ATTPDU] = []
    var replies: [ATTReply] = []
    var values: [[UInt8]] = []

    init(preferredMTU: Int = 185) {
        (link, peer) = LoopbackLink.pair(loop: loop)
        connection = L2CAPConnection(link: link, role: .central, loop: loop)
        let channel = connection.register(.attribute, maximumPayload: 517)
        bearer = ATTBearer(channel: channel, loop: loop, preferredMTU: preferredMTU)
        bearer.onClose = { [weak self] in self?.closures.append($0) }
    }

    /// A fixture whose L2CAP already listens.
    static func listening() -> BearerFixture {
        let fixture = BearerFixture()
        fixture.loop.run(for: .zero)
        return fixture
    }

    /// Delivers a fragment of an L2CAP PDU of the peer.
    func receive(_ octets: [UInt8], isStart: Bool) {
        link.onReceive?(PacketBuffer(octets), isStart)
        loop.run(for: .zero)
    }

    func serve() {
        bearer.onRequest = { [weak self] in
            self?.requests.append($0)
            self?.replies.append($1)
        }
    }

    func recordValues() {
        bearer.onNotification = { [weak self] handle, value, _ in
            self?.values.append([0x1B, UInt8(handle)] + value)
        }
        bearer.onIndication = { [weak self] handle, value, _ in
            self?.values.append([0x1D, UInt8(handle)] + value)
        }
    }

    func read(_ handle: UInt16) {
        bearer.request(.readRequest(ATTReadRequest(handle: handle))) { [weak self] result, _ in
            self?.results.append(result)
        }
    }

    /// Injects octets from the peer, and returns the answers.
    @discardableResult
    func exchange(_ octets: [UInt8]) -> [[UInt8]] {
        peer.inject(octets, on: 4)
        return sent()
    }

    func sent() -> [[UInt8]] {
        loop.run(for: .zero)
        return link.takeSent(on: 4)
    }

    /// Agrees on an MTU.
    func agree(_ mtu: UInt16) {
        exchange([0x02, UInt8(truncatingIfNeeded: mtu), UInt8(mtu >> 8)])
    }
}

@Suite struct ATTClientRoleTests {
    let fixture = BearerFixture()

    @Test func oneRequestIsUnderWayAndTheOthersWaitInOrder() {
        for handle: UInt16 in 1...3 { fixture.read(handle) }
        #expect(fixture.sent() == [[0x0A, 1, 0]])
        #expect(fixture.exchange([0x0B, 7]) == [[0x0A, 2, 0]])
        #expect(fixture.exchange([0x01, 0x0A, 2, 0, 0x02]) == [[0x0A, 3, 0]])
        #expect(fixture.exchange([0x0B]).isEmpty)
        #expect(
            fixture.results == [
                .success(.readResponse(ATTReadResponse(value: [7]))),
                .failure(.response(ATTErrorResponse(.readNotPermitted, to: .readRequest, at: 2))),
                .success(.readResponse(ATTReadResponse())),
            ]
        )
    }

    @Test func theQueueOfRequestsHasABound() {
        for _ in 0...ATTBearer.maximumWaitingRequests { fixture.read(1) }
        #expect(fixture.results.isEmpty)
        fixture.read(1)
        #expect(fixture.results == [.failure(.queueFull)])
        #expect(fixture.sent().count == 1)
    }

    @Test("GATT/CL/GAT/BV-01: a request that is not answered in time makes the bearer unusable")
    func aRequestTimesOutAndTheBearerIsDead() {
        fixture.read(1)
        fixture.read(2)
        _ = fixture.sent()
        fixture.loop.run(for: .milliseconds(29_999))
        #expect(fixture.results.isEmpty)
        fixture.loop.run(for: .milliseconds(1))
        let dead = Result<ATTPDU, ATTBearerError>.failure(.closed(.requestTimeout))
        #expect(fixture.results == [dead, dead])
        #expect(fixture.closures == [.requestTimeout])
        fixture.read(3)
        #expect(fixture.results.count == 3)
        #expect(!fixture.bearer.write([1], withoutResponseTo: 3))
        #expect(!fixture.bearer.notify([1], of: 3))
        fixture.recordValues()
        #expect(fixture.exchange([0x0B, 1]).isEmpty)
        #expect(fixture.exchange([0x1D, 3, 0]).isEmpty)
        #expect(fixture.exchange([0x0A, 3, 0]).isEmpty)
        #expect(fixture.values.isEmpty)
    }

    @Test func theTimeoutCountsFromTheSendingOfEachRequest() {
        for _ in 0..<4 {
            fixture.read(1)
            fixture.loop.run(for: .seconds(20))
            fixture.exchange([0x0B])
        }
        #expect(fixture.results.count == 4)
        fixture.loop.run(for: .seconds(100))
        #expect(fixture.closures.isEmpty)
        fixture.read(1)
        fixture.read(2)
        fixture.loop.run(for: .seconds(29))
        fixture.exchange([0x0B])
        fixture.loop.run(for: .seconds(29))
        #expect(fixture.closures.isEmpty)
        fixture.loop.run(for: .seconds(1))
        #expect(fixture.closures == [.requestTimeout])
    }

    @Test("AB-A05: unsolicited responses are ignored")
    func unexpectedResponsesAreIgnored() {
        for sample in PDUSample.all where ATTOpcode(rawValue: sample.octets[0]).kind == .response {
            #expect(fixture.exchange(sample.octets).isEmpty)
        }
        fixture.read(1)
        _ = fixture.sent()
        for sample in PDUSample.all where ATTOpcode(rawValue: sample.octets[0]).kind == .response {
            guard ![0x01, 0x0B].contains(sample.octets[0]) else { continue }
            fixture.exchange(sample.octets)
        }
        // An error for another request, and a truncated one.
        fixture.exchange([0x01, 0x12, 1, 0, 1])
        fixture.exchange([0x01, 0x0A, 1])
        fixture.exchange([0x1E])
        #expect(fixture.results.isEmpty)
        fixture.exchange([0x0B, 5])
        #expect(fixture.results.count == 1)
    }

    @Test func impossibleResponsesFailTheRequest() {
        fixture.bearer.request(.readByTypeRequest(ATTReadByTypeRequest(ATTHandleRange(1, 9), type: 0x2803))) {
            result,
            _ in
            fixture.results.append(result)
        }
        fixture.exchange([0x09, 1, 1])
        fixture.read(1)
        fixture.exchange([0x0B] + [UInt8](repeating: 0, count: 23))
        guard case .failure(.malformedResponse(.readByTypeResponse, _)) = fixture.results.first else {
            Issue.record("\(fixture.results)")
            return
        }
        #expect(fixture.results.last == .failure(.oversizedResponse(.readResponse, length: 24)))
        let long = PacketBuffer(copying: [UInt8](repeating: 0, count: 21))
        fixture.bearer.request(.writeRequest(ATTWriteRequest(handle: 1, value: long))) { result, _ in
            fixture.results.append(result)
        }
        #expect(fixture.results.last == .failure(.requestTooLong(length: 24)))
    }

    @Test func valuesArriveInOrderAndIndicationsAreConfirmed() {
        fixture.recordValues()
        #expect(fixture.exchange([0x1B, 3, 0, 1]).isEmpty)
        #expect(fixture.exchange([0x1D, 4, 0, 2]) == [[0x1E]])
        #expect(fixture.exchange([0x23, 5, 0, 1, 0, 7, 6, 0, 0, 0]).isEmpty)
        #expect(fixture.values == [[0x1B, 3, 1], [0x1D, 4, 2], [0x1B, 5, 7], [0x1B, 6]])
    }

    @Test("GATT/CL/GAI/BI-01: indications back to back are each confirmed")
    func indicationsBackToBackAreEachConfirmed() {
        fixture.recordValues()
        fixture.peer.inject([0x1D, 4, 0, 1], on: 4)
        fixture.peer.inject([0x1D, 4, 0, 2], on: 4)
        #expect(fixture.sent() == [[0x1E], [0x1E]])
        #expect(fixture.values == [[0x1D, 4, 1], [0x1D, 4, 2]])
    }

    @Test(
        "behaviour 5.28: a long value that overtakes the response to the MTU exchange arrives, and none before or after"
    )
    func longValuesDuringTheExchange() {
        fixture.recordValues()
        let long = [UInt8](repeating: 9, count: 30)
        #expect(fixture.exchange([0x1D, 3, 0] + long) == [[0x1E]])
        fixture.bearer.exchangeMTU { _ in }
        fixture.loop.run(for: .zero)
        _ = fixture.sent()
        #expect(fixture.exchange([0x1B, 4, 0] + long).isEmpty)
        #expect(fixture.exchange([0x1D, 5, 0] + long) == [[0x1E]])
        // Longer than what this side announced.
        fixture.exchange([0x1B, 6, 0] + [UInt8](repeating: 9, count: 183))
        fixture.exchange([0x03, 23, 0])
        fixture.exchange([0x1B, 7, 0] + long)
        #expect(fixture.values == [[0x1B, 4] + long, [0x1D, 5] + long])
    }

    @Test func valuesAboveTheMTUAreDroppedAndStillConfirmed() {
        fixture.recordValues()
        let long = [UInt8](repeating: 0, count: 21)
        #expect(fixture.exchange([0x1B, 3, 0] + long).isEmpty)
        #expect(fixture.exchange([0x1D, 3, 0] + long) == [[0x1E]])
        #expect(fixture.exchange([0x23, 3, 0, 9, 0, 1]).isEmpty)
        #expect(fixture.exchange([0x1D, 3]).isEmpty)
        #expect(fixture.values.isEmpty)
    }

    @Test("behaviour 5.13: commands wait for space, and the owner is notified when there is space again")
    func commandsWaitForRoomAndRoomIsTold() {
        var ready = 0
        fixture.bearer.onCommandRoom = { ready += 1 }
        fixture.link.isHeld = true
        for index in 0..<ATTBearer.maximumQueuedPDUs {
            #expect(fixture.bearer.write([UInt8(index)], withoutResponseTo: 3))
        }
        #expect(!fixture.bearer.write([0xFF], withoutResponseTo: 3))
        #expect(!fixture.bearer.askForCommandRoom())
        #expect(fixture.link.queuedPDUs == ATTBearer.maximumQueuedPDUs)
        fixture.link.release(1)
        fixture.link.release(1)
        #expect(ready == 1)
        #expect(fixture.bearer.askForCommandRoom())
        fixture.link.isHeld = false
        #expect(ready == 1)
        #expect(fixture.sent().map { $0[3] } == (0..<20).map { UInt8($0) })
    }

    @Test("behaviour 5.11: a command that is too long for the MTU is truncated")
    func longCommandsAreCut() {
        #expect(fixture.bearer.write(PacketBuffer(copying: [UInt8](0..<30)), withoutResponseTo: 3))
        #expect(fixture.sent() == [[0x52, 3, 0] + [UInt8](0..<20)])
    }

    @Test func linkLossFailsWhoeverWaits() {
        fixture.read(1)
        fixture.bearer.exchangeMTU { _ in }
        fixture.connection.close()
        #expect(fixture.results == [.failure(.closed(.linkLost))])
        #expect(fixture.closures == [.linkLost])
    }

    @Test func closingFromThisSideIsNoNews() {
        fixture.read(1)
        fixture.bearer.close()
        #expect(fixture.results == [.failure(.closed(.local))])
        #expect(fixture.closures.isEmpty)
    }
}

@Suite struct ATTServerRoleTests {
    let fixture = BearerFixture()

    @Test func requestsAreAnsweredLaterAndInOrder() {
        fixture.serve()
        for handle: UInt8 in 1...3 { fixture.exchange([0x0A, handle, 0]) }
        #expect(fixture.requests.count == 1)
        fixture.replies[0].send(.readResponse(ATTReadResponse(value: [1])))
        fixture.replies[0].send(.readResponse(ATTReadResponse(value: [9])))
        #expect(fixture.requests.count == 2)
        fixture.replies[1].fail(.readNotPermitted, at: 2)
        fixture.replies[2].send(.readResponse(ATTReadResponse(value: [3])))
        fixture.replies[1].send(.writeResponse(ATTWriteResponse()))
        #expect(fixture.sent() == [[0x0B, 1], [0x01, 0x0A, 2, 0, 0x02], [0x0B, 3]])
    }

    @Test("AB-A06: more pipelined requests than the limit close the bearer")
    func pipelinedRequests() {
        fixture.serve()
        for _ in 0..<1000 { fixture.peer.inject([0x0A, 1, 0], on: 4) }
        #expect(fixture.sent().isEmpty)
        #expect(fixture.closures == [.tooManyRequests])
        #expect(fixture.requests.count == 1)
        fixture.replies[0].send(.readResponse(ATTReadResponse()))
        #expect(fixture.sent().isEmpty)
    }

    @Test("GATT/SR/GAR/BI-45, AB-A06: pipelined requests are answered as long as no more than the limit wait")
    func pipelinedRequestsWithinTheBound() {
        fixture.bearer.onRequest = { _, reply in reply.send(.readResponse(ATTReadResponse(value: [7]))) }
        for _ in 0..<1000 { fixture.peer.inject([0x0A, 1, 0], on: 4) }
        #expect(fixture.sent().count == 1000)
        fixture.serve()
        for _ in 0...ATTBearer.maximumPeerRequests { fixture.peer.inject([0x0A, 1, 0], on: 4) }
        #expect(fixture.sent().isEmpty)
        #expect(fixture.closures.isEmpty)
        while fixture.replies.count <= ATTBearer.maximumPeerRequests {
            fixture.replies.last?.send(.readResponse(ATTReadResponse()))
        }
        fixture.replies.last?.send(.readResponse(ATTReadResponse()))
        #expect(fixture.sent().count == ATTBearer.maximumPeerRequests + 1)
    }

    // Found by fuzzing: answers to a peer that acknowledges nothing accumulated without limit.
    @Test(
        "AB-A06: answers to a peer that acknowledges nothing do not accumulate",
        arguments: [[0x0A, 1, 0], [0x02, 23, 0], [0x1D, 1, 0, 7]] as [[UInt8]]
    )
    func aPeerThatTakesNoAnswersIsLeft(pdu: [UInt8]) {
        fixture.bearer.onRequest = { _, reply in reply.send(.readResponse(ATTReadResponse(value: [7]))) }
        fixture.link.isHeld = true
        for _ in 0..<1000 { fixture.peer.inject(pdu, on: 4) }
        fixture.loop.run(for: .zero)
        #expect(fixture.link.queuedPDUs == L2CAPConnection.maximumQueuedAnswers)
        #expect(fixture.closures == [.tooManyRequests])
    }

    @Test("AB-A05: every opcode truncated at any length is refused, and only requests get an answer")
    func everyOpcodeTruncatedAtEachLength() {
        fixture.serve()
        for sample in PDUSample.all where sample.octets.count <= 23 {
            let kind = ATTOpcode(rawValue: sample.octets[0]).kind
            for length in 1..<sample.octets.count where !sample.wholeLengths.contains(length) {
                let answer = fixture.exchange(Array(sample.octets[..<length]))
                let expected: [[UInt8]] = kind == .request ? [[0x01, sample.octets[0], 0, 0, 0x04]] : []
                #expect(answer == expected, "\(sample.name) of \(length) octets")
            }
        }
        #expect(fixture.requests.isEmpty)
    }

    @Test("GATT/SR/UNS/BI-01, GATT/SR/UNS/BI-02: unknown requests are refused and unknown commands ignored")
    func unknownRequestsAndCommands() {
        fixture.serve()
        fixture.bearer.onCommand = { _, _ in Issue.record("unknown command") }
        for raw in UInt8.min...UInt8.max where !PDUSample.all.contains(where: { $0.octets[0] == raw }) {
            let answer = fixture.exchange([raw, 1, 0])
            #expect(answer == (ATTOpcode(rawValue: raw).isCommand ? [] : [[0x01, raw, 0, 0, 0x06]]))
        }
        fixture.exchange([])
    }

    @Test func withoutAServerRequestsAreNotSupported() {
        #expect(fixture.exchange([0x0A, 1, 0]) == [[0x01, 0x0A, 0, 0, 0x06]])
        #expect(fixture.exchange([0x52, 1, 0]).isEmpty)
    }

    @Test func requestsAboveTheMTUAreInvalid() {
        fixture.serve()
        let long = [0x12, 1, 0] + [UInt8](repeating: 0, count: 21)
        #expect(fixture.exchange(long) == [[0x01, 0x12, 0, 0, 0x04]])
        fixture.agree(24)
        #expect(fixture.exchange(long).isEmpty)
        #expect(fixture.requests.count == 1)
    }

    /// Core Vol 3 Part F 3.2.8 and 3.3: commands have no response, so one that is too long is dropped.
    @Test func commandsAboveTheMTUAreDropped() {
        var commands = 0
        fixture.bearer.onCommand = { _, _ in commands += 1 }
        let tails = [(UInt8(0x52), [UInt8](repeating: 0, count: 21)), (0xD2, [UInt8](repeating: 0, count: 21))]
        for (opcode, tail) in tails { #expect(fixture.exchange([opcode, 1, 0] + tail).isEmpty) }
        #expect(commands == 0)
        for (opcode, tail) in tails { fixture.exchange([opcode, 1, 0] + tail.dropLast()) }
        #expect(commands == 2)
        fixture.agree(24)
        for (opcode, tail) in tails { fixture.exchange([opcode, 1, 0] + tail) }
        #expect(commands == 4)
    }

    @Test func indicationsGoOneByOne() {
        var confirmed: [UInt8] = []
        for index: UInt8 in 1...3 {
            #expect(fixture.bearer.indicate([index], of: 3) { _ in confirmed.append(index) })
        }
        #expect(fixture.sent() == [[0x1D, 3, 0, 1]])
        #expect(fixture.exchange([0x1E, 0]).isEmpty)
        #expect(fixture.exchange([0x1E]) == [[0x1D, 3, 0, 2]])
        #expect(fixture.exchange([0x1E]) == [[0x1D, 3, 0, 3]])
        #expect(fixture.exchange([0x1E]).isEmpty)
        #expect(fixture.exchange([0x1E]).isEmpty)
        #expect(confirmed == [1, 2, 3])
    }

    @Test func aFullQueueOfIndicationsSaysSoAndTellsOfRoom() {
        var ready = 0
        fixture.bearer.onNotificationRoom = { ready += 1 }
        for _ in 0...ATTBearer.maximumWaitingIndications { #expect(fixture.bearer.indicate([1], of: 3) { _ in }) }
        #expect(!fixture.bearer.indicate([1], of: 3) { _ in Issue.record("not taken") })
        #expect(ready == 0)
        fixture.exchange([0x1E])
        #expect(ready == 1)
        #expect(fixture.bearer.indicate([1], of: 3) { _ in })
    }

    @Test("GATT/SR/GAT/BV-01: an indication that is not confirmed in time closes the bearer")
    func anIndicationTimesOut() {
        var failure: ATTBearerError?
        _ = fixture.bearer.indicate([1], of: 3) { if case .failure(let error) = $0 { failure = error } }
        fixture.loop.run(for: .seconds(29))
        #expect(fixture.closures.isEmpty)
        fixture.loop.run(for: .seconds(1))
        #expect(fixture.closures == [.indicationTimeout])
        #expect(failure == .closed(.indicationTimeout))
        #expect(!fixture.bearer.indicate([1], of: 3) { _ in })
    }

    @Test("behaviour 7.44: values that are too long for the MTU are truncated")
    func longValuesAreCut() {
        let long = PacketBuffer(copying: [UInt8](0..<30))
        #expect(fixture.bearer.notify(long, of: 3))
        #expect(fixture.bearer.indicate(long, of: 3) { _ in })
        #expect(fixture.sent() == [[0x1B, 3, 0] + [UInt8](0..<20), [0x1D, 3, 0] + [UInt8](0..<20)])
    }
}

@Suite struct ATTExchangeTests {
    @Test(
        "GATT/SR/GAC/BV-01, AB-A04: the peer requests an MTU and both use the smaller one",
        arguments: [
            (0, 23), (1, 23), (22, 23), (23, 23), (24, 24), (158, 158), (184, 184), (185, 185), (517, 185),
            (65535, 185),
        ] as [(UInt16, Int)]
    )
    func thePeerAsks(offered: UInt16, agreed: Int) {
        let fixture = BearerFixture(preferredMTU: 185)
        var changes: [Int] = []
        fixture.bearer.onMTUChange = { changes.append($0) }
        let answer = fixture.exchange([0x02, UInt8(truncatingIfNeeded: offered), UInt8(offered >> 8)])
        #expect(answer == [[0x03, 185, 0]])
        #expect(fixture.bearer.mtu == agreed)
        #expect(changes == (agreed == 23 ? [] : [agreed]))
        // AB-A04: a second exchange, after traffic, has no effect.
        fixture.exchange([0x0A, 1, 0])
        #expect(fixture.exchange([0x02, 100, 0]) == [[0x03, 185, 0]])
        #expect(fixture.bearer.mtu == agreed)
    }

    @Test("GATT/CL/GAC/BV-01: this side requests an MTU once and gets the smaller of both")
    func weAsk() {
        let fixture = BearerFixture(preferredMTU: 517)
        var sizes: [Int?] = []
        fixture.bearer.exchangeMTU { sizes.append(try? $0.get()) }
        fixture.bearer.exchangeMTU { sizes.append(try? $0.get()) }
        #expect(fixture.sent() == [[0x02, 5, 2]])
        fixture.exchange([0x03, 185, 0])
        #expect(sizes == [185, 185])
        fixture.bearer.exchangeMTU { sizes.append(try? $0.get()) }
        #expect(sizes == [185, 185, 185])
        #expect(fixture.sent().isEmpty)
    }

    @Test func aServerWithoutTheExchangeStaysAt23() {
        let fixture = BearerFixture(preferredMTU: 517)
        var sizes: [Int?] = []
        fixture.bearer.exchangeMTU { sizes.append(try? $0.get()) }
        fixture.exchange([0x01, 0x02, 0, 0, 0x06])
        #expect(sizes == [23])
    }

    @Test func bothAskAtOnce() {
        let fixture = BearerFixture(preferredMTU: 517)
        fixture.bearer.exchangeMTU { _ in }
        fixture.agree(185)
        #expect(fixture.bearer.mtu == 185)
        fixture.exchange([0x03, 185, 0])
        #expect(fixture.bearer.mtu == 185)
    }
}
