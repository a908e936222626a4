import BluetoothTypes
import Cryptography
import EventLoops
import HCI
import HCIHost
import L2CAP

@testable import LinkLayer

extension FuzzTarget {
    /// Two ends of a link that encrypt it, with an attacker in between who changes and adds PDUs. Data arrives in
    /// fragments: nothing that started unencrypted has the rights of the encrypted link (AB-L08).
    static let linkEncryption = FuzzTarget("link-encryption", maximumLength: 1_024, seeds: LinkEncryptionScene.seeds) {
        input in
        var input = input
        var scene = LinkEncryptionScene()
        while !input.isAtEnd, !scene.isOver { scene.take(&input) }
    }
}

/// A PDU on the air.
private struct AirPDU {
    var header: UInt8
    var payload: PacketBuffer
}

/// The host's handling of the data that its controller delivers.
private final class DataPath: ACLLink {
    let handle = ConnectionHandle(rawValue: 1)
    var onDrain: (() -> Void)?
    var onReceive: ((_ fragment: PacketBuffer, _ isStart: Bool) -> Void)?
    var queuedPDUs: Int { 0 }

    private let loop = VirtualEventLoop()
    private lazy var connection = L2CAPConnection(link: self, role: .peripheral, loop: loop)
    private lazy var channel = connection.register(.attribute, maximumPayload: LinkEnd.honest.count)

    init() {
        channel.onReceive = { [unowned self] payload, moment in
            let isTrusted = connection.history.linkSecurity(since: moment).isEncrypted
            hold(!isTrusted || payload.elementsEqual(LinkEnd.honest), "\(payload) is accepted as the other end's")
        }
        loop.run(for: .zero)
    }

    func send(_ pdu: consuming PacketBuffer) {}

    /// Notifies the host that the link is encrypted.
    func trust() {
        connection.linkSecurity = LinkSecurity(isEncrypted: true)
    }
}

/// One end: the state machine, its queue and its ciphers, combined as in a link.
private struct LinkEnd {
    /// The value that the ends send, and the PDU that contains it.
    static let honest: [UInt8] = Array("honest".utf8)
    static let honestPDU: [UInt8] = [UInt8(honest.count), 0, 4, 0] + honest

    var control: LinkControl
    var queue = TransmitQueue()
    var transmit: PacketCipher?
    var receive: PacketCipher?
    /// Whether the host has been notified that the link is encrypted.
    var isTrusted = false {
        didSet { if isTrusted, !oldValue { data.trust() } }
    }
    var isOver = false
    /// The maximum number of data octets in one PDU.
    var limit = 251
    let data = DataPath()

    init(_ role: LinkRole) {
        let setup = LinkControl.Setup(
            role: role,
            features: VirtualController.supportedFeatures,
            version: .init(version: .v5_3, company: 1, subversion: 2),
            preferredPHYs: .init(tx: [.le1M, .le2M], rx: [.le1M, .le2M]),
            phys: [.le1M, .le2M, .coded],
            dataLength: DataLength(rxOctets: 251, rxTime: 17_040),
            accuracy: ClockAccuracy(code: 5),
            random: RandomSource(seed: role == .central ? 1 : 2),
            hostAnswersParameters: { true },
            hostHasKeys: { true }
        )
        control = LinkControl(setup, timing: .init(interval: 24, latency: 0, timeout: 100))
    }

    var isCentral: Bool { control.isCentral }

    mutating func perform(_ actions: [LinkControl.Action]?) {
        for action in actions ?? [] {
            switch action {
            case .send(let pdu): queue.add(control: pdu.encoded())
            case .hold: queue.hold()
            case .release: queue.release()
            case .transmit(let session): transmit = session.map { PacketCipher($0, isFromCentral: isCentral) }
            case .receive(let session): receive = session.map { PacketCipher($0, isFromCentral: !isCentral) }
            case .report(.encryption(.success)): isTrusted = true
            case .end, .endAfterAnswer, .terminate: isOver = true
            default: break
            }
        }
    }

    /// The next PDU; nil for an empty one.
    mutating func send() -> AirPDU? {
        let outgoing = queue.next(limit: limit)
        _ = queue.acknowledged()
        guard !outgoing.payload.isEmpty else { return nil }
        let header = outgoing.content.rawValue
        guard transmit != nil else {
            hold(outgoing.content == .control || !isTrusted, "data leaves an encrypted link unencrypted")
            return AirPDU(header: header, payload: outgoing.payload)
        }
        return transmit?.seal(outgoing.payload, header: header).map { AirPDU(header: header, payload: $0) }
    }

    mutating func take(_ pdu: AirPDU) {
        var payload = pdu.payload
        if payload.isEmpty { return }
        if receive != nil {
            guard let opened = receive?.open(payload, header: pdu.header) else { return isOver = true }
            payload = opened
        }
        if pdu.header & 0b11 == DataHeader.Content.control.rawValue {
            guard control.hasRoom else { return }
            return perform(control.receive(payload))
        }
        guard control.admitsData else { return isOver = true }
        // On a link that the host considers encrypted, only data of the other end is delivered.
        hold(!isTrusted || receive != nil, "unencrypted data is accepted")
        hold(!isTrusted || Self.isPiece(payload), "\(payload) was never sent")
        data.onReceive?(payload, pdu.header & 0b11 == DataHeader.Content.start.rawValue)
    }

    /// Whether the other end may have sent this: consecutive octets of its PDU.
    private static func isPiece(_ payload: PacketBuffer) -> Bool {
        honestPDU.indices.contains { honestPDU[$0...].starts(with: payload) }
    }
}

private struct LinkEncryptionScene {
    private var ends = [LinkEnd(.central), LinkEnd(.peripheral)]
    /// The PDUs in flight to each end.
    private var air: [[AirPDU]] = [[], []]

    var isOver: Bool { ends[0].isOver || ends[1].isOver }

    mutating func take(_ input: inout FuzzInput) {
        let octet = input.octet()
        let to = Int(octet >> 7)
        switch octet & 0b1111 {
        case 0, 1, 2: pass(to)
        case 3: ends[to].queue.add(PacketBuffer(LinkEnd.honestPDU), isStart: true)
        case 4:
            let key = Key128([UInt8](repeating: octet >> 4 & 1, count: 16)) ?? .zero
            if !ends[0].control.encryptionIsRequested {
                ends[0].perform(ends[0].control.requestEncryption(key: key, random: 1, diversifier: 2))
            }
        case 5:
            let key = Key128([UInt8](repeating: octet >> 4 & 1, count: 16))
            ends[1].perform(ends[1].control.answer(key: octet & 0x40 == 0 ? key : nil))
        case 6: inject(AirPDU(header: input.octet() & 0b1110_0011, payload: PacketBuffer(input.counted())), to)
        case 7: spoil(to, input.word())
        case 8: if !air[to].isEmpty { air[to].removeFirst() }
        case 9: if let first = air[to].first { air[to].append(first) }
        case 10: if air[to].count > 1 { air[to].swapAt(0, 1) }
        // Reflected to its sender.
        case 11: if let first = air[to].first { inject(first, 1 - to) }
        case 12: ends[to].perform(ends[to].control.request([.version, .features, .ping][Int(octet >> 4 & 0b11) % 3]))
        case 13: ends[to].limit = ends[to].limit == 251 ? 4 : 251
        default: settle()
        }
        check()
    }

    /// Sends the other end's next PDU, and delivers the first PDU in flight.
    private mutating func pass(_ to: Int) {
        if air[to].count < 16, let pdu = ends[1 - to].send() { air[to].append(pdu) }
        if !air[to].isEmpty { ends[to].take(air[to].removeFirst()) }
    }

    private mutating func inject(_ pdu: AirPDU, _ to: Int) {
        if air[to].count < 16 { air[to].insert(pdu, at: 0) }
    }

    private mutating func spoil(_ to: Int, _ how: UInt16) {
        guard var pdu = air[to].first, !pdu.payload.isEmpty else { return }
        pdu.payload[Int(how & 0xFF) % pdu.payload.count] ^= UInt8(how >> 8)
        air[to][0] = pdu
    }

    /// Forwards everything, as without an attacker.
    private mutating func settle() {
        for _ in 0..<16 where !isOver {
            for to in [0, 1] where !isOver { pass(to) }
        }
    }

    private func check() {
        for index in ends.indices {
            hold(ends[index].control.requests.count <= LinkControl.maximumRequests, "too many requests are queued")
            hold(ends[index].control.postponed.count <= LinkControl.maximumPostponedPDUs, "too many PDUs are queued")
            hold(ends[index].control.actions.isEmpty, "actions are left behind")
        }
    }

    static var seeds: [[UInt8]] {
        // Settle, encrypt, settle, supply the key, settle; then data and another key.
        let start: [UInt8] = [15, 4, 15, 5, 15, 3, 0x83, 15]
        let again: [UInt8] = [0x14, 15, 0x15, 15, 3, 0x83, 15]
        let forged: [[UInt8]] = [
            [2, 3, 1, 2, 3], [3, 2, 0x02, 0x13], [3, 1, 0x0A], [3, 1, 0x0B], [3, 1, 0x05], [3, 1, 0x06],
            [3, 2, 0x0D, 6],
            // The beginning of a PDU that the other end would complete, and a whole one.
            [2, 6, 10, 0, 4, 0, 0x68, 0x6F], [2, 10, 6, 0, 4, 0] + Array("forged".utf8),
            [3, 23, 0x03] + [UInt8](repeating: 1, count: 22), [3, 13, 0x04] + [UInt8](repeating: 1, count: 12),
        ]
        // In fragments, some of them before the link is encrypted and some after.
        let pieces: [UInt8] = [13, 0x8D, 3, 0x83, 0, 0x80]
        var seeds = [start, start + again, start + again + again]
        for position in 0...start.count {
            seeds.append(Array(start.prefix(position)) + pieces + start.suffix(from: position) + again)
        }
        for position in 0...start.count {
            for pdu in forged {
                for to in [0, 0x80] as [UInt8] {
                    seeds.append(Array(start.prefix(position)) + [6 | to] + pdu + start.suffix(from: position) + again)
                    seeds.append(start + again.prefix(position) + [6 | to] + pdu + [15])
                }
            }
        }
        // Single steps instead of settling, each of them disturbed in each way.
        let steps = (0..<12).flatMap { $0 == 3 ? [5, 0, 0x80] : [0x80, 0] } as [UInt8]
        for position in 0..<steps.count {
            for kind in 7...11 as ClosedRange<UInt8> {
                let disturbed: [UInt8] = kind == 7 ? [kind | 0x80, 1, 1] : [kind | 0x80]
                seeds.append([4] + steps.prefix(position) + disturbed + steps.suffix(from: position))
            }
        }
        return seeds
    }
}
