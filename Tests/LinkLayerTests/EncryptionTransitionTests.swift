import BluetoothTypes
import Cryptography
import HCI
import Testing

@testable import LinkLayer

/// The encryption procedures as a transition table: each event at each stage, with every resulting action and the next
/// stage (Core Vol 6 Part B 5.1.3).
@Suite struct EncryptionTransitionTests {
    typealias Machine = EncryptionMachine

    /// How far a procedure has come, for the first key or for a new one.
    enum Stage: String, CaseIterable {
        case plain, encrypted
        case requesting, awaitsStart, awaitsConfirmation
        case pausing, requestingAgain, awaitsStartAgain, awaitsConfirmationAgain
        case asked, started
        case paused, resumable, askedAgain, startedAgain

        /// The events that lead there.
        var events: [Machine.Event] {
            let start: [Machine.Event] = [
                .start(EncryptionTransitionTests.start), .received(.encryptionResponse(.init())),
                .received(.startEncryptionRequest), .received(.startEncryptionResponse),
            ]
            let again = start + [.start(EncryptionTransitionTests.start), .received(.pauseEncryptionResponse)]
            let answer: [Machine.Event] = [
                .requested(.init(), .init()), .key(.sample), .received(.startEncryptionResponse),
            ]
            let pause = answer + [.received(.pauseEncryptionRequest), .received(.pauseEncryptionResponse)]
            return switch self {
            case .plain: []
            case .encrypted: start
            case .requesting: Array(start.prefix(1))
            case .awaitsStart: Array(start.prefix(2))
            case .awaitsConfirmation: Array(start.prefix(3))
            case .pausing: again.dropLast()
            case .requestingAgain: again
            case .awaitsStartAgain: again + start[1...1]
            case .awaitsConfirmationAgain: again + start[1...2]
            case .asked: Array(answer.prefix(1))
            case .started: Array(answer.prefix(2))
            case .paused: pause.dropLast()
            case .resumable: pause
            case .askedAgain: pause + answer.prefix(1)
            case .startedAgain: pause + answer.prefix(2)
            }
        }
    }

    private static let start = Machine.Start(longTermKey: .sample, request: .init())
    private static let session = EncryptionSession(longTermKey: .sample, request: .init(), response: .init())

    private static func machine(_ stage: Stage) -> Machine {
        var machine = Machine()
        for event in stage.events { _ = machine.handle(event) }
        return machine
    }

    private typealias Row = (from: Stage, event: String, actions: [Machine.Action], to: Stage)

    private static let refusals: [(name: String, pdu: ControlPDU, error: HCIStatus, of: [ControlOpcode])] = [
        ("reject", .reject(.init(.pinOrKeyMissing)), .pinOrKeyMissing, [.encReq, .pauseEncReq]),
        ("reject for nothing", .reject(.init(.success)), .unspecifiedError, [.encReq, .pauseEncReq]),
        ("reject request", .rejectExtended(.init(.encReq, .pinOrKeyMissing)), .pinOrKeyMissing, [.encReq]),
        ("reject pause", .rejectExtended(.init(.pauseEncReq, .pinOrKeyMissing)), .pinOrKeyMissing, [.pauseEncReq]),
        ("reject something", .rejectExtended(.init(.phyReq, .pinOrKeyMissing)), .success, []),
        ("unknown request", .unknown(.init(.encReq)), .unsupportedRemoteFeature, [.encReq]),
        ("unknown pause", .unknown(.init(.pauseEncReq)), .unsupportedRemoteFeature, [.pauseEncReq]),
        ("unknown something", .unknown(.init(.phyReq)), .success, []),
    ]

    private static let events: [(name: String, event: Machine.Event)] =
        [
            ("start", .start(start)), ("requested", .requested(.init(), .init())), ("key", .key(.sample)),
            ("no key", .key(nil)),
        ] + refusals.map { ($0.name, .received($0.pdu)) }
        + ControlProcedureTests.pdus.filter { ![.unknownRsp, .rejectInd, .rejectExtInd].contains($0.opcode) }
        .map { ("\($0.opcode)", .received($0)) }

    private static func name(_ pdu: ControlPDU) -> String { "\(pdu.opcode)" }

    /// Every transition that has an effect; no other pair does.
    private static let rows: [Row] = {
        let request = ControlPDU.encryptionRequest(.init())
        let response = ControlPDU.encryptionResponse(.init())
        let (startRequest, startResponse) = (ControlPDU.startEncryptionRequest, ControlPDU.startEncryptionResponse)
        let (pause, paused) = (ControlPDU.pauseEncryptionRequest, ControlPDU.pauseEncryptionResponse)
        var rows: [Row] = [
            // The central, with the first key.
            (.plain, "start", [.hold, .send(request)], .requesting),
            (.requesting, name(response), [], .awaitsStart),
            (.awaitsStart, name(startRequest), began, .awaitsConfirmation),
            (.awaitsConfirmation, name(startResponse), [.reportChange(.success), .release], .encrypted),
            // The central, changing the key.
            (.encrypted, "start", [.hold, .send(pause)], .pausing),
            (.pausing, name(paused), [.receive(nil), .transmit(nil), .send(paused), .send(request)], .requestingAgain),
            (.requestingAgain, name(response), [], .awaitsStartAgain),
            (.awaitsStartAgain, name(startRequest), began, .awaitsConfirmationAgain),
            (.awaitsConfirmationAgain, name(startResponse), [.reportRefresh(.success), .release], .encrypted),
            // The peripheral, with the first key.
            (.plain, "requested", [.hold, .send(response), .askForKey(.init())], .asked),
            (.asked, "key", [.receive(session), .send(startRequest)], .started),
            (.asked, "no key", [.refuse(.pinOrKeyMissing), .release], .plain),
            (
                .started, name(startResponse),
                [.transmit(session), .send(startResponse), .reportChange(.success), .release], .encrypted
            ),
            (.plain, name(pause), [.send(.unknown(.init(.pauseEncReq)))], .plain),
            // The peripheral, changing the key.
            (.encrypted, name(pause), [.hold, .send(paused), .receive(nil)], .paused),
            (.paused, name(paused), [.transmit(nil)], .resumable),
            (.resumable, "requested", [.hold, .send(response), .askForKey(.init())], .askedAgain),
            (.askedAgain, "key", [.receive(session), .send(startRequest)], .startedAgain),
            // A link that was encrypted does not go on without encryption (AB-L07).
            (.askedAgain, "no key", [.terminate(.pinOrKeyMissing)], .plain),
            (
                .startedAgain, name(startResponse),
                [.transmit(session), .send(startResponse), .reportRefresh(.success), .release], .encrypted
            ),
        ]
        // A request during a key change may not replace it.
        for stage in Stage.allCases where ![.plain, .resumable].contains(stage) {
            rows.append((stage, "requested", [.end(.terminatedByMICFailure)], stage))
        }
        for refusal in refusals {
            let change: [Machine.Action] = [.reportChange(refusal.error), .release]
            if refusal.of.contains(.encReq) {
                rows += [(.requesting, refusal.name, change, .plain), (.awaitsStart, refusal.name, change, .plain)]
                // After the pause the link ends (AB-L07).
                let end: [Machine.Action] = [.terminate(refusal.error)]
                rows += [(.requestingAgain, refusal.name, end, .plain), (.awaitsStartAgain, refusal.name, end, .plain)]
            }
            if refusal.of.contains(.pauseEncReq) {
                rows.append((.pausing, refusal.name, [.reportRefresh(refusal.error), .release], .encrypted))
            }
        }
        return rows
    }()

    private static let began: [Machine.Action] = [
        .receive(session), .transmit(session), .send(.startEncryptionResponse),
    ]

    @Test(
        "AB-L06, AB-L07: each event at each stage does what the table says and nothing else",
        arguments: Stage.allCases
    )
    func eachEventAtEachStageDoesWhatTheTableSays(stage: Stage) {
        let rows = Self.rows.filter { $0.from == stage }
        #expect(Set(rows.map(\.event)).isSubset(of: Self.events.map(\.name)))
        for (name, event) in Self.events {
            var machine = Self.machine(stage)
            let actions = machine.handle(event)
            let row = rows.first { $0.event == name }
            #expect(actions == row?.actions ?? [], "\(name)")
            #expect(machine.state == Self.machine(row?.to ?? stage).state, "\(name)")
        }
    }

    /// Whether a stage is busy, whether it waits for its host, and which PDUs it accepts meanwhile.
    @Test(arguments: Stage.allCases)
    func properties_of_each_stage(stage: Stage) {
        let machine = Self.machine(stage)
        let isBusy = ![.plain, .encrypted].contains(stage)
        #expect(machine.isBusy == isBusy)
        #expect(machine.awaitsHost == [.asked, .askedAgain].contains(stage))
        #expect(machine.isStrict == (isBusy && ![.requesting, .pausing].contains(stage)))
        // A busy stage accepts the PDUs that the table lists for it, and never an encryption request outside the table.
        for (name, event) in Self.events {
            guard case .received(let pdu) = event, isBusy else { continue }
            let isExpected = Self.rows.contains { $0.from == stage && $0.event == name } || pdu.opcode == .terminateInd
            let isNext = stage == .resumable && pdu.opcode == .encReq
            let verdict: Machine.Verdict = isExpected || isNext ? .handle : machine.isStrict ? .violation : .postpone
            #expect(machine.verdict(on: pdu) == verdict, "\(name)")
        }
    }
}

/// The packet counter, and the limits of a session (Core Vol 6 Part E 2).
@Suite struct PacketCipherTests {
    private let session = EncryptionSession(longTermKey: .sample, request: .init(), response: .init())

    /// 39 bits: a counter one bit longer would reach into the direction bit.
    @Test func a_session_has_two_to_the_39_PDUs_in_each_direction() {
        #expect(PacketCipher.maximumPackets == 549_755_813_888)
        for (counter, isLeft) in [(PacketCipher.maximumPackets - 1, true), (PacketCipher.maximumPackets, false)] {
            var cipher = PacketCipher(session, isFromCentral: true, counter: counter)
            let sealed = cipher.seal([1], header: 2)
            #expect((sealed != nil) == isLeft)
        }
    }

    /// The counter after the last one has the direction bit set, and would be the first one of the other side.
    @Test("AB-L08: the first PDU of one side is not mistaken for that of the other")
    func the_first_PDU_of_one_side_is_none_of_the_other_sides() throws {
        for isFromCentral in [false, true] {
            var sender = PacketCipher(session, isFromCentral: isFromCentral)
            let made = sender.seal([5], header: 2)
            let sealed = try #require(made)
            for counter in [0, PacketCipher.maximumPackets - 1, PacketCipher.maximumPackets] {
                var receiver = PacketCipher(session, isFromCentral: !isFromCentral, counter: counter)
                let opened = receiver.open(sealed, header: 2)
                #expect(opened == nil, "\(counter)")
            }
        }
    }

    /// A PDU without a payload has no MIC (Core Vol 6 Part B 2.4): four octets would be a MIC over nothing.
    @Test func a_code_for_nothing_opens_nothing() throws {
        var sender = PacketCipher(session, isFromCentral: true)
        var receiver = PacketCipher(session, isFromCentral: true)
        let (made, next) = (sender.seal([], header: 1), sender.seal([7], header: 1))
        let (nothing, something) = (try #require(made), try #require(next))
        #expect(nothing.count == CCM.codeLength)
        let opened = receiver.open(nothing, header: 1)
        #expect(opened == nil)
        // It does not count either: the peer's next PDU keeps its number.
        let early = receiver.open(something, header: 1)
        #expect(early == nil)
        sender = PacketCipher(session, isFromCentral: true)
        let first = sender.seal([8], header: 1)
        let taken = receiver.open(try #require(first), header: 1)
        #expect(taken == [8])
    }

    /// Each PDU has the next number: none is skipped, and none is repeated.
    @Test func numbers_follow_one_another() throws {
        var sender = PacketCipher(session, isFromCentral: false)
        for number in 0..<300 as Range<UInt64> {
            let made = sender.seal([9], header: 2)
            let sealed = try #require(made)
            for other in [number &- 1, number, number + 1] where other < 1_000 {
                var receiver = PacketCipher(session, isFromCentral: false, counter: other)
                let opened = receiver.open(sealed, header: 2)
                #expect((opened == [9]) == (other == number))
            }
        }
        // In each octet of the number.
        for shift in stride(from: 0, to: 39, by: 1) as StrideTo<UInt64> {
            var (a, b) = (
                PacketCipher(session, isFromCentral: true, counter: 1 << shift),
                PacketCipher(session, isFromCentral: true, counter: 0)
            )
            let (one, other) = (a.seal([9], header: 2), b.seal([9], header: 2))
            #expect(one != other, "bit \(shift)")
        }
    }
}
