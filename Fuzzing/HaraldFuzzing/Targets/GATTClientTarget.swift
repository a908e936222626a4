import ATT
import BluetoothTypes
import EventLoops
import GATT
import L2CAP
import LoopbackLinks

extension FuzzTarget {
    /// A client in the middle of every procedure, and a server with arbitrary responses.
    static let gattClient = FuzzTarget(
        "gatt-client",
        maximumLength: 2_048,
        seeds: GATTClientScene.seeds
    ) { input in
        GATTClientScene(input).play()
    }
}

private final class GATTClientScene {
    /// The limit of requests for one input. Each one consumes at least two octets, or ends its procedure.
    static let maximumRequests = 4_096

    private let loop = VirtualEventLoop()
    private let link: LoopbackLink
    private let peer: LoopbackLink
    private let connection: L2CAPConnection
    private let client: GATTClient
    private var input: FuzzInput
    private var started = 0
    private var ended = 0
    private var requests = 0

    init(_ input: FuzzInput) {
        self.input = input
        (link, peer) = LoopbackLink.pair(loop: loop)
        connection = L2CAPConnection(link: link, role: .central, loop: loop)
        let channel = connection.register(.attribute, maximumPayload: 517)
        client = GATTClient(bearer: ATTBearer(channel: channel, loop: loop, preferredMTU: 517))
        peer.onReceive = { [unowned self] fragment, isStart in
            if isStart, fragment.count > 4 { answer(fragment[4]) }
        }
        client.onInsufficientSecurity = { [unowned self] _, retry in secure(retry) }
        client.onValue = { _, value, _ in hold(value.count <= 517, "a value longer than a PDU") }
    }

    /// Sends the next response of the input: any PDU, or one with the right opcode. Past the end of the input, no more
    /// attributes are found.
    private func answer(_ opcode: UInt8) {
        requests += 1
        hold(requests <= Self.maximumRequests, "the client does not terminate")
        guard ATTOpcode(rawValue: opcode).kind == .request else { return }
        guard !input.isAtEnd else { return peer.inject([0x01, opcode, 1, 0, 0x0A], on: 4) }
        let kind = input.octet()
        let octets = input.counted()
        switch kind & 0b111 {
        case 0...4: peer.inject([opcode &+ 1] + octets, on: 4)
        case 5: peer.inject([0x01, opcode] + octets, on: 4)
        case 6:
            peer.inject(octets, on: 4)
            // Whatever that was, a proper response follows.
            peer.inject([0x01, opcode, 1, 0, 0x0A], on: 4)
        default: if kind & 0x80 == 0 { peer.inject([0x01, opcode, 1, 0, kind], on: 4) }
        }
    }

    /// Half of the attempts to secure the link succeed, some time later.
    private func secure(_ retry: @escaping (SecuringOutcome) -> Void) {
        let isSecured = input.octet() & 1 == 0
        _ = loop.schedule(after: .seconds(1)) { [unowned self] in
            if isSecured {
                connection.linkSecurity = LinkSecurity(isEncrypted: true)
                client.linkSecurityChanged()
            }
            retry(isSecured ? .secured : .untried)
        }
    }

    func play() {
        loop.run(for: .zero)
        let order = input.octet()
        connection.linkSecurity.hasKey = order & 0x80 != 0
        for index in 0..<12 { start((index + Int(order)) % 12) }
        loop.run(for: .seconds(1_800))
        hold(ended == started, "\(started) procedures, \(ended) ends")
        connection.close()
        loop.run(for: .seconds(1))
    }

    private func start(_ number: Int) {
        started += 1
        let service = DiscoveredService(handles: 1...40, uuid: 0x180D)
        let characteristic = DiscoveredCharacteristic(
            declaration: 1,
            value: 2,
            end: 30,
            properties: number & 1 == 0 ? .notify : .indicate,
            uuid: 0x2A37
        )
        switch number {
        case 0: client.exchangeMTU { self.end($0) }
        case 1: client.discoverServices { self.end($0) }
        case 2: client.discoverServices(0x180D) { self.end($0) }
        case 3: client.discoverIncludedServices(of: service) { self.end($0) }
        case 4: client.discoverCharacteristics(of: service) { self.end($0) }
        case 5: client.discoverDescriptors(of: characteristic) { self.end($0) }
        case 6: client.read(3) { self.end($0) }
        case 7: client.readValues(of: 0x2A00) { self.end($0) }
        case 8: client.setNotifying(true, characteristic) { self.end($0) }
        case 9: client.writeReliably([(3, PacketBuffer([UInt8](repeating: 7, count: 60)))]) { self.end($0) }
        case 10: client.readMultipleVariable([3, 4, 5]) { self.end($0) }
        default: client.watchServices { self.end($0) }
        }
    }

    private func end<Value>(_: Result<Value, GATTError>) {
        ended += 1
        hold(ended <= started, "a procedure has ended twice")
    }

    static var seeds: [[UInt8]] {
        let answers: [[UInt8]] = [
            [0xF7, 0], [6, 1, 0, 5, 0, 0, 0x18, 6, 0, 9, 0, 1, 0x18], [1, 0, 40, 0], [8, 2, 0, 3, 0, 9, 0, 0x0A, 0x18],
            [7, 2, 0, 0x12, 3, 0, 0x37, 0x2A], [1, 3, 0, 2, 0x29, 4, 0, 1, 0x29], [1, 2, 3], [4, 3, 0, 0x41, 0x42],
            [3, 0, 0, 0] + [UInt8](repeating: 7, count: 18), [], [2, 0, 0x41, 0x42, 1, 0, 0x43],
        ]
        let one = answers.map { step(0, $0) }
        let values: [[UInt8]] = [
            [0x1B, 2, 0, 1, 2], [0x1D, 2, 0, 1, 2], [0x23, 2, 0, 1, 0, 5, 3, 0, 1, 0, 6], [0x1D, 2, 0, 1, 0, 9, 0],
        ]
        let pushed = values.map { step(6, $0) }
        let session = Recording.session.serverPDUs.flatMap { step(0, $0.dropFirst()) }
        var seeds: [[UInt8]] = [[0] + session, [1] + session]
        for start in 0..<12 as Range<UInt8> {
            for answer in one + pushed + [one.flatMap(\.self)] { seeds.append([start] + answer) }
        }
        return seeds
    }
}
