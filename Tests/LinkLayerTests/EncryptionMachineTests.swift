import BluetoothTypes
import Cryptography
import HCI
import Testing

@testable import LinkLayer

private typealias Machine = EncryptionMachine

/// The encryption procedures as a state machine: each PDU in each state.
@Suite struct EncryptionMachineTests {
    /// How far a procedure has come.
    enum Stage: String, CaseIterable {
        case plain, requesting, requestingAfterPause, awaitsStart, awaitsConfirmation, pausing, encrypted
        case asked, askedAfterPause, started, paused, resumable, encryptedPeripheral

        var isCentral: Bool {
            switch self {
            case .plain, .requesting, .requestingAfterPause, .awaitsStart, .awaitsConfirmation, .pausing, .encrypted:
                true
            default: false
            }
        }
    }

    private static let start = Machine.Start(longTermKey: .sample, request: .init())

    /// A machine brought to a stage by a regular procedure.
    private static func machine(_ stage: Stage) -> Machine {
        var machine = Machine()
        let fresh: [Machine.Event] = [
            .start(start), .received(.encryptionResponse(.init())), .received(.startEncryptionRequest),
            .received(.startEncryptionResponse),
        ]
        let again: [Machine.Event] = [.start(start), .received(.pauseEncryptionResponse)]
        let asked: [Machine.Event] = [
            .requested(.init(), .init()), .key(.sample), .received(.startEncryptionResponse),
        ]
        let pause: [Machine.Event] = [.received(.pauseEncryptionRequest), .received(.pauseEncryptionResponse)]
        let events: [Machine.Event] =
            switch stage {
            case .plain: []
            case .requesting: Array(fresh.prefix(1))
            case .awaitsStart: Array(fresh.prefix(2))
            case .awaitsConfirmation: Array(fresh.prefix(3))
            case .encrypted: fresh
            case .pausing: fresh + again.prefix(1)
            case .requestingAfterPause: fresh + again
            case .asked: Array(asked.prefix(1))
            case .started: Array(asked.prefix(2))
            case .encryptedPeripheral: asked
            case .paused: asked + pause.prefix(1)
            case .resumable: asked + pause
            case .askedAfterPause: asked + pause + asked.prefix(1)
            }
        for event in events { _ = machine.handle(event) }
        return machine
    }

    /// The PDUs accepted at a stage, besides LL_TERMINATE_IND.
    private static func expected(_ stage: Stage) -> Set<ControlOpcode> {
        switch stage {
        case .requesting, .requestingAfterPause: [.encRsp, .rejectInd, .rejectExtInd, .unknownRsp]
        case .awaitsStart: [.startEncReq, .rejectInd, .rejectExtInd, .unknownRsp]
        case .awaitsConfirmation, .started: [.startEncRsp]
        case .pausing: [.pauseEncRsp, .rejectInd, .rejectExtInd, .unknownRsp]
        case .paused: [.pauseEncRsp]
        case .resumable: [.encReq]
        case .plain, .encrypted, .encryptedPeripheral, .asked, .askedAfterPause: []
        }
    }

    /// Rejections of the last request.
    private static func refusals(_ stage: Stage) -> [ControlPDU] {
        let opcode: ControlOpcode = stage == .pausing ? .pauseEncReq : .encReq
        return [
            .reject(.init(.unsupportedRemoteFeature)), .rejectExtended(.init(opcode, .pinOrKeyMissing)),
            .unknown(.init(opcode)),
        ]
    }

    @Test("AB-L06, AB-L07: each state of encryption accepts only its expected PDUs", arguments: Stage.allCases)
    func statesAcceptOnlyExpectedPDUs(stage: Stage) {
        let machine = Self.machine(stage)
        let others = ControlProcedureTests.pdus.filter {
            ![.unknownRsp, .rejectInd, .rejectExtInd, .terminateInd].contains($0.opcode)
        }
        for pdu in others + Self.refusals(stage) {
            let expected: Machine.Verdict =
                !machine.isBusy || Self.expected(stage).contains(pdu.opcode)
                ? .handle : [.requesting, .pausing].contains(stage) ? .postpone : .violation
            #expect(machine.verdict(on: pdu) == expected, "\(pdu)")
        }
        #expect(machine.verdict(on: .terminate(.init(.remoteUserTerminated))) == .handle)
        // Unparsable PDUs, and rejections of another procedure.
        let stray: [ControlPDU?] = [nil, .unknown(.init(.phyReq)), .rejectExtended(.init(.phyReq, .pinOrKeyMissing))]
        for pdu in stray {
            let verdict = machine.verdict(on: pdu)
            #expect(verdict == (!machine.isBusy ? .handle : machine.isStrict ? .violation : .postpone), "\(stage)")
        }
        let relaxed: [Stage] = [.plain, .requesting, .encrypted, .pausing, .encryptedPeripheral]
        #expect(machine.isStrict == !relaxed.contains(stage))
    }

    // A PDU out of order that is accepted because no procedure runs has no effect, and never ends encryption.
    @Test(
        "AB-L06: encryption responses outside a procedure do nothing",
        arguments: [Stage.plain, .encrypted, .encryptedPeripheral]
    )
    func answersThatNobodyWaitsForDoNothing(stage: Stage) {
        for pdu in [
            ControlPDU.encryptionResponse(.init()), .startEncryptionRequest, .startEncryptionResponse,
            .pauseEncryptionResponse,
        ] {
            var machine = Self.machine(stage)
            #expect(machine.handle(.received(pdu)).isEmpty)
            #expect(machine.state == Self.machine(stage).state)
        }
    }

    /// Found by the fuzzer: the host was told that encryption had succeeded.
    @Test(
        "AB-L06: an encryption rejection with reason 0 is not a success",
        arguments: [
            ControlPDU.reject(.init(.success)), .rejectExtended(.init(.encReq, .success)),
        ]
    )
    func aRefusalWithoutAReasonIsNoSuccess(refusal: ControlPDU) {
        var machine = Self.machine(.requesting)
        #expect(machine.handle(.received(refusal)) == [.reportChange(.unspecifiedError), .release])
        #expect(machine.state == .plain)
    }

    @Test("AB-L06: a new key is not negotiated in the clear")
    func anotherKeyIsNotAgreedUponInThePlain() {
        for stage in [Stage.encryptedPeripheral, .asked, .started, .paused] {
            var machine = Self.machine(stage)
            #expect(machine.handle(.requested(.init(), .init())) == [.end(.terminatedByMICFailure)])
        }
    }

    @Test("AB-L07: an unencrypted link has no encryption to pause")
    func thereIsNothingToPause() {
        var machine = Self.machine(.plain)
        #expect(machine.handle(.received(.pauseEncryptionRequest)) == [.send(.unknown(.init(.pauseEncReq)))])
        #expect(machine.state == .plain)
    }

    @Test(arguments: [Stage.requesting, .awaitsStart])
    func aRefusalLeavesTheLinkPlain(stage: Stage) {
        for (pdu, error) in zip(
            Self.refusals(stage),
            [HCIStatus.unsupportedRemoteFeature, .pinOrKeyMissing, .unsupportedRemoteFeature]
        ) {
            var machine = Self.machine(stage)
            #expect(machine.handle(.received(pdu)) == [.reportChange(error), .release])
            #expect(machine.state == .plain)
        }
    }

    // AB-L07: the peer cannot turn an encrypted link into a plaintext one.
    @Test("AB-L07: a rejection of encryption after the pause ends the link")
    func aRefusalAfterThePauseEndsTheLink() {
        for pdu in Self.refusals(.requestingAfterPause) {
            var machine = Self.machine(.requestingAfterPause)
            let actions = machine.handle(.received(pdu))
            #expect(actions.count == 1)
            guard case .terminate? = actions.first else {
                Issue.record("\(actions)")
                return
            }
        }
    }

    @Test func aPeerThatCannotPauseKeepsTheOldKey() {
        for pdu in Self.refusals(.pausing) {
            var machine = Self.machine(.pausing)
            let actions = machine.handle(.received(pdu))
            #expect(actions.last == .release)
            #expect(machine.state == .encrypted)
            guard case .reportRefresh(let status)? = actions.first, status != .success else {
                Issue.record("\(actions)")
                return
            }
        }
    }

    @Test func withoutAKey() {
        var machine = Self.machine(.asked)
        #expect(machine.handle(.key(nil)) == [.refuse(.pinOrKeyMissing), .release])
        #expect(machine.state == .plain)
        var again = Self.machine(.askedAfterPause)
        #expect(again.handle(.key(nil)) == [.terminate(.pinOrKeyMissing)])
    }

    // Each event in each state: no trap, and a session comes into use only where the rules allow.
    @Test(arguments: Stage.allCases)
    func noEventUpsetsTheMachine(stage: Stage) {
        let events: [Machine.Event] =
            [.start(Self.start), .requested(.init(), .init()), .key(.other), .key(nil)]
            + ControlProcedureTests.pdus.map { .received($0) }
        for event in events {
            var machine = Self.machine(stage)
            for action in machine.handle(event) {
                guard case .transmit(.some) = action else { continue }
                #expect([.awaitsStart, .started].contains(stage), "\(event)")
            }
        }
    }
}

/// The encryption procedures among the other procedures of a link.
@Suite struct EncryptionControlTests {
    private func request(_ machine: inout LinkControl) -> [LinkControl.Action]? {
        machine.requestEncryption(key: .sample, random: 1, diversifier: 2)
    }

    private func encrypted(_ role: LinkRole) -> LinkControl {
        var machine = LinkControlTests.machine(role)
        if role == .central {
            _ = request(&machine)
            _ = machine.receive(ControlPDU.encryptionResponse(.init()).encoded())
            _ = machine.receive(ControlPDU.startEncryptionRequest.encoded())
        } else {
            _ = machine.receive(ControlPDU.encryptionRequest(.init()).encoded())
            _ = machine.answer(key: .sample)
        }
        _ = machine.receive(ControlPDU.startEncryptionResponse.encoded())
        #expect(machine.encryption.state == .encrypted)
        return machine
    }

    // A local procedure in progress ends first, and so does a change that waits for its instant.
    @Test(arguments: [LinkControl.Request.version, .features, .phy(tx: .le2M, rx: .le2M), .channelMap(.init(bits: 7))])
    func encryptionWaitsForItsTurn(other: LinkControl.Request) {
        var machine = LinkControlTests.machine(.central)
        _ = machine.request(other)
        #expect(request(&machine) == [])
        #expect(machine.encryptionIsRequested)
        #expect(!machine.encryption.isBusy)
        let answers: [ControlPDU] = [
            .version(.init()), .featureResponse(.init([.encryption])), .phyResponse(.init(tx: .le2M, rx: .le2M)),
        ]
        for answer in answers { _ = machine.receive(answer.encoded()) }
        for counter in 101...120 as ClosedRange<UInt16> { _ = machine.begin(counter: counter) }
        #expect(machine.encryption.isBusy)
    }

    @Test func aPeerWithoutTheFeatureIsNotAsked() {
        var machine = LinkControlTests.machine(.central)
        _ = machine.request(.features)
        _ = machine.receive(ControlPDU.featureResponse(.init([.ping])).encoded())
        #expect(request(&machine) == [.report(.encryption(.unsupportedRemoteFeature))])
        #expect(!machine.encryption.isBusy)
    }

    // The peripheral could not know that LL_ENC_REQ was on its way, so its request is answered afterwards.
    @Test("AB-L05: a request that crosses encryption is answered afterwards")
    func aRequestThatCrossesIsAnsweredAfterwards() {
        var machine = LinkControlTests.machine(.central)
        _ = request(&machine)
        let crossing = ControlPDU.peripheralFeatureRequest(.init([])).encoded()
        #expect(machine.receive(crossing).isEmpty)
        #expect(machine.receive(ControlPDU.encryptionResponse(.init()).encoded()).isEmpty)
        _ = machine.receive(ControlPDU.startEncryptionRequest.encoded())
        let actions = machine.receive(ControlPDU.startEncryptionResponse.encoded())
        #expect(actions.prefix(2) == [.report(.encryption(.success)), .release])
        guard case .send(.featureResponse)? = actions.last else {
            Issue.record("\(actions)")
            return
        }
    }

    @Test("AB-L05: requests that wait for encryption are bounded")
    func notManyWait() {
        var machine = LinkControlTests.machine(.central)
        _ = request(&machine)
        for _ in 0..<LinkControl.maximumPostponedPDUs {
            #expect(machine.hasRoom)
            #expect(machine.receive(ControlPDU.pingRequest.encoded()).isEmpty)
        }
        #expect(!machine.hasRoom, "the peer is throttled by NESN")
    }

    // The host's requests wait until the link is encrypted.
    @Test(arguments: [LinkRole.central, .peripheral])
    func otherProceduresWaitForEncryption(role: LinkRole) {
        var machine = LinkControlTests.machine(role)
        if role == .central {
            _ = request(&machine)
        } else {
            _ = machine.receive(ControlPDU.encryptionRequest(.init()).encoded())
        }
        #expect(machine.request(.version) == [])
        if role == .central {
            _ = machine.receive(ControlPDU.encryptionResponse(.init()).encoded())
            _ = machine.receive(ControlPDU.startEncryptionRequest.encoded())
        } else {
            _ = machine.answer(key: .sample)
        }
        let actions = machine.receive(ControlPDU.startEncryptionResponse.encoded())
        #expect(actions.contains(.send(.version(machine.setup.version))))
        #expect(
            actions.firstIndex(of: .release) ?? 99 < actions.firstIndex(of: .send(.version(machine.setup.version))) ?? 0
        )
    }

    /// The end whose turn it is has the running 40 s timer (5.2).
    @Test func awaitedEnd() {
        var central = LinkControlTests.machine(.central)
        #expect(!central.awaitsPeer)
        _ = request(&central)
        #expect(central.awaitsPeer)
        var peripheral = LinkControlTests.machine(.peripheral)
        _ = peripheral.receive(ControlPDU.encryptionRequest(.init()).encoded())
        #expect(!peripheral.awaitsPeer, "the machine waits for its host")
        _ = peripheral.answer(key: .sample)
        #expect(peripheral.awaitsPeer)
        #expect(peripheral.answer(key: .sample) == nil, "the host is not asked")
        _ = peripheral.receive(ControlPDU.startEncryptionResponse.encoded())
        #expect(!peripheral.awaitsPeer)
        _ = peripheral.receive(ControlPDU.pauseEncryptionRequest.encoded())
        #expect(peripheral.awaitsPeer)
        #expect(peripheral.timeout() == [.end(.linkLayerResponseTimeout)])
    }

    @Test func aHostThatDoesNotListenHasNoKeys() {
        var machine = LinkControlTests.machine(.peripheral, asksHost: false)
        let actions = machine.receive(ControlPDU.encryptionRequest(.init()).encoded())
        #expect(actions.contains(.send(.rejectExtended(.init(.encReq, .pinOrKeyMissing)))))
        #expect(machine.encryption.state == .plain)
    }

    @Test func aPeerThatLacksTheLongRefusalGetsTheShortOne() {
        var machine = LinkControlTests.machine(.peripheral)
        _ = machine.receive(ControlPDU.featureRequest(.init([.encryption])).encoded())
        _ = machine.receive(ControlPDU.encryptionRequest(.init()).encoded())
        #expect(machine.answer(key: nil) == [.send(.reject(.init(.pinOrKeyMissing))), .release])
    }

    @Test(arguments: [LinkRole.central, .peripheral])
    func pingIsAProcedureLikeOthers(role: LinkRole) {
        for (answer, isOver) in [
            (ControlPDU.pingResponse, true), (.unknown(.init(.pingReq)), true), (.pingRequest, false),
        ] {
            var machine = encrypted(role)
            #expect(machine.request(.ping) == [.send(.pingRequest)])
            #expect(machine.awaitsPeer)
            _ = machine.receive(answer.encoded())
            #expect(machine.awaitsPeer != isOver)
        }
    }
}
