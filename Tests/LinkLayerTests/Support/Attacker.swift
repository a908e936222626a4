import BluetoothTypes
import EventLoops

@testable import LinkLayer

/// A device that breaks the rules: it sends what a test provides where an honest one would send a PDU.
final class Attacker {
    let node: RadioNode
    let address = BluetoothAddress(0xBAD, kind: .publicDevice)
    /// The connection data that an honest central would send.
    var data: ConnectionData
    /// The payloads to send, one per connection event; empty ones follow.
    var payloads: [(content: UInt8, payload: [UInt8])] = []
    /// A false length for the header.
    var claimedLength: UInt8?
    /// Whether answers are acknowledged.
    var acknowledges = true
    /// The number of PDUs in one event.
    var repetitions = 1
    /// Valid PDUs that the victim sent.
    private(set) var answers: [(header: DataHeader, payload: PacketBuffer)] = []
    private(set) var requests = 0
    private(set) var advertisements = 0

    private enum Mode { case idle, scanning, connecting, connected }
    private let world: LinkLayerWorld
    private var mode = Mode.idle
    private var selection = ChannelSelection1(hop: 5)
    private var acknowledgement = Acknowledgement()
    private var anchor = Instant.zero
    private var sent = 0
    private var channel: UInt8 = 0
    /// The answer to an advertisement.
    private var answer: AdvertisingPDU?
    private var isOnce = true

    init(_ world: LinkLayerWorld) {
        self.world = world
        node = world.radio.add(at: Position(y: 1))
        data = ConnectionData()
        data.accessAddress = 0x5065_4BB1
        data.crcInit = 0x12_3456
        (data.windowSize, data.windowOffset, data.interval, data.timeout) = (1, 0, 24, 300)
        data.hop = 5
        node.onFrame = { [unowned self] in received($0) }
        node.onSent = { [unowned self] in hasSent() }
    }

    /// Answers each advertisement on channel 37 with CONNECT_IND, once or again and again.
    func connect(to victim: TestHost, once: Bool = true) {
        isOnce = once
        answer = .connect(.init(initiator: address, advertiser: victim.address, link: data, knowsAlgorithm2: false))
        scan()
    }

    /// Answers each advertisement with SCAN_REQ.
    func flood(_ victim: TestHost) {
        ask(victim.address, as: address)
    }

    /// Answers every advertisement, from any device, with the same SCAN_REQ.
    func ask(_ advertiser: BluetoothAddress, as scanner: BluetoothAddress) {
        isOnce = false
        answer = .scanRequest(.init(scanner: scanner, advertiser: advertiser))
        scan()
    }

    private func scan() {
        mode = .scanning
        node.listen(
            RadioTuning(
                channel: 37,
                accessAddress: AccessAddress.advertising,
                crcInit: AdvertisingPDU.crcInit,
                modulation: .le1M
            )
        )
    }

    private func received(_ frame: ReceivedFrame) {
        switch mode {
        case .scanning:
            advertisements += 1
            world.loop.schedule(after: .microseconds(150)) { [unowned self] in request() }
        case .connected:
            guard let header = try? DataHeader(reading: PacketBuffer(Array(frame.frame.pdu.prefix(2)))) else { return }
            answers.append((header, PacketBuffer(Array(frame.frame.pdu.dropFirst(2)))))
            // Continues regardless of the acknowledgement.
            _ = acknowledgement.receive(
                sequence: header.sequence,
                nextExpected: header.nextExpected,
                hasRoom: acknowledges
            )
        default:
            break
        }
    }

    private func request() {
        guard let answer else { return }
        requests += 1
        mode = .connecting
        node.send(
            RadioFrame(
                channel: 37,
                accessAddress: AccessAddress.advertising,
                crcInit: AdvertisingPDU.crcInit,
                phy: .le1M,
                pdu: answer.encoded()
            )
        )
    }

    private func hasSent() {
        switch mode {
        case .connecting where !isOnce:
            scan()
        case .connecting:
            mode = .connected
            anchor = world.loop.now + .microseconds(1_250)
            world.loop.schedule(at: anchor) { [unowned self] in event() }
        case .connected:
            node.listen(
                RadioTuning(
                    channel: channel,
                    accessAddress: data.accessAddress,
                    crcInit: data.crcInit,
                    modulation: .le1M
                )
            )
        default:
            break
        }
    }

    private func event() {
        channel = selection.next(map: data.channelMap)
        for index in 0..<repetitions {
            world.loop.schedule(after: .microseconds(index * 1_500)) { [unowned self] in send() }
        }
        anchor = anchor + .microseconds(Int64(data.interval) * 1_250)
        world.loop.schedule(at: anchor) { [unowned self] in event() }
    }

    private func send() {
        let next = sent < payloads.count ? payloads[sent] : (1, [])
        sent += 1
        var header = DataHeader(
            .init(rawValue: next.0) ?? .reserved,
            nextExpected: acknowledgement.nextExpected,
            sequence: acknowledgement.sequence,
            moreData: repetitions > 1,
            length: claimedLength ?? UInt8(truncatingIfNeeded: next.1.count)
        )
        if next.1.isEmpty { header.length = 0 }
        node.send(
            RadioFrame(
                channel: channel,
                accessAddress: data.accessAddress,
                crcInit: data.crcInit,
                phy: .le1M,
                pdu: header.encoded().map { $0 } + next.1
            )
        )
    }
}
