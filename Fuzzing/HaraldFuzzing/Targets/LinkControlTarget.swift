import BluetoothTypes
import EventLoops
import HCI

@testable import LinkLayer

extension FuzzTarget {
    /// The control procedures of a link: PDUs, requests of the host and events in any order.
    static let linkControl = FuzzTarget("link-control", maximumLength: 1_024, seeds: LinkControlScene.seeds) { input in
        var input = input
        var scene = LinkControlScene(setup: input.octet())
        while !input.isAtEnd, !scene.isOver { scene.take(&input) }
    }
}

/// A state machine, and the expectations about its actions.
private struct LinkControlScene {
    private var machine: LinkControl
    private var counter: UInt16
    private(set) var isOver = false

    init(setup octet: UInt8) {
        let asksHost = octet & 2 != 0
        var features = VirtualController.supportedFeatures
        if octet & 16 != 0 { features.formUnion([.channelSounding, .channelSoundingHost]) }
        if octet & 4 != 0 { features.remove(.connectionParametersRequest) }
        let setup = LinkControl.Setup(
            role: octet & 1 == 0 ? .central : .peripheral,
            features: features,
            version: .init(version: .v5_3, company: 1, subversion: 2),
            preferredPHYs: .init(tx: [.le1M, .le2M], rx: [.le1M, .le2M]),
            phys: [.le1M, .le2M, .coded],
            dataLength: DataLength(rxOctets: 251, rxTime: 17_040),
            accuracy: ClockAccuracy(code: 5),
            sounding: octet & 16 == 0 ? nil : .simulated(antennas: 2),
            random: RandomSource(seed: 1),
            hostAnswersParameters: { asksHost },
            hostHasKeys: { asksHost }
        )
        machine = LinkControl(setup, timing: .init(interval: 24, latency: 0, timeout: 100))
        counter = octet & 8 == 0 ? 0 : 65_530
        _ = machine.begin(counter: counter)
    }

    mutating func take(_ input: inout FuzzInput) {
        switch input.octet() & 0b111 {
        case 0, 1, 2, 3:
            let pdu = input.counted()
            let actions = machine.receive(PacketBuffer(pdu))
            take(actions, most: 3)
        case 4:
            // Connection events pass. The link skips none here, so every instant is met.
            for _ in 0...Int(input.octet() & 0x3F) where !isOver {
                counter &+= 1
                take(machine.begin(counter: counter), most: 2)
                let isLate = machine.pending.map { $0.instant &- counter >= 32_767 || $0.instant == counter } ?? false
                hold(!isLate, "an instant was missed")
            }
        case 5: take(request(&input).flatMap { machine.request($0) } ?? [], most: 2)
        case 6: take(machine.accept(parameters(&input)) ?? [], most: 2)
        default: take(machine.decline(HCIStatus(rawValue: input.octet())) ?? [], most: 2)
        }
        // A channel map may come in addition.
        hold(machine.requests.count <= LinkControl.maximumRequests + 1, "too many requests are queued")
        hold(machine.timing.isValid, "the timing became invalid")
        hold(machine.actions.isEmpty, "actions are left behind")
    }

    private mutating func take(_ actions: [LinkControl.Action], most: Int) {
        var sent = 0
        for action in actions {
            switch action {
            case .send(let pdu):
                sent += 1
                hold((try? ControlPDU(reading: pdu.encoded())) == pdu, "\(pdu) cannot be read")
            case .applyChannelMap(let map): hold(map.isUsable, "a channel map without channels")
            case .end, .endAfterAnswer: isOver = true
            default: break
            }
        }
        hold(sent <= most, "\(sent) PDUs for one")
    }

    private func request(_ input: inout FuzzInput) -> LinkControl.Request? {
        switch input.octet() % 9 {
        case 0: return .version
        case 1: return .features
        case 2: return .dataLength(octets: 27 + UInt16(input.octet()) % 225, time: 328 + input.word() % 16_713)
        case 3:
            let some = [LEPHYs.le1M, .le2M, .coded, [.le1M, .le2M]]
            return .phy(tx: some[Int(input.octet() & 3)], rx: some[Int(input.octet() & 3)])
        case 4: return machine.isCentral || input.octet() & 1 == 0 ? .parameters(parameters(&input)) : .version
        case 5: return machine.isCentral ? .channelMap(ChannelMap(bits: 3 | UInt64(input.word()))) : .features
        case 6: return .sounding(.capabilities)
        case 7: return .sounding(machine.isCentral ? .security : .errorTable)
        default: return .terminate(HCIStatus(rawValue: input.octet()))
        }
    }

    /// The parameters that the host may request: valid ones only, as the commands check.
    private func parameters(_ input: inout FuzzInput) -> ConnectionParameterRequest {
        var parameters = ConnectionParameterRequest()
        parameters.intervalMin = 6 + UInt16(input.octet())
        parameters.intervalMax = parameters.intervalMin + UInt16(input.octet())
        parameters.latency = UInt16(input.octet() & 3)
        parameters.timeout = 3_200
        return parameters
    }

    static var seeds: [[UInt8]] {
        let pdus = Recording.session.controlPDUs
        let session = pdus.prefix(40).flatMap { step(0, $0) + [4, 7] }
        var seeds: [[UInt8]] = []
        for setup in 0..<32 as Range<UInt8> {
            seeds.append([setup] + session)
            for pdu in pdus { seeds.append([setup] + step(0, pdu) + [4, 20]) }
            for request in 0..<9 as Range<UInt8> { seeds.append([setup, 5, request, 1, 1, 1, 1, 4, 10]) }
        }
        return seeds
    }
}
