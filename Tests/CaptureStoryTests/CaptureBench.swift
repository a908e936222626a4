import BluetoothTypes

@testable import CaptureStory
@testable import HCI

/// A capture that is written packet by packet, and the story of it.
struct CaptureBench {
    static let peer = BluetoothAddress(0xC0FF_EE00_0001, kind: .randomDevice)
    static let handle = ConnectionHandle(rawValue: 0x40)
    /// One day in 2000, in microseconds since 1970.
    static let start: Int64 = 946_684_800_000_000

    private(set) var records: [CaptureRecord] = []
    private var time: Int64

    /// - Parameter start: The time before the first packet, in microseconds since 1970.
    init(start: Int64 = Self.start) { time = start }

    mutating func wait(_ microseconds: Int64) { time += microseconds }

    mutating func add(_ packet: HCIPacket, _ direction: HCIDirection, after microseconds: Int64 = 1_000) {
        time += microseconds
        let offset = UInt64(records.count)
        records.append(CaptureRecord(offset: offset, unixMicroseconds: time, content: .hci(packet, direction)))
    }

    mutating func event(_ event: some HCIEvent, after microseconds: Int64 = 1_000) {
        add(HCIPacket(event), .controllerToHost, after: microseconds)
    }

    mutating func command(_ command: some HCICommand, after microseconds: Int64 = 1_000) {
        add(HCIPacket(command), .hostToController, after: microseconds)
    }

    /// Adds an L2CAP PDU in fragments.
    mutating func pdu(
        _ channel: UInt16,
        _ payload: [UInt8],
        isSent: Bool,
        fragment: Int = 251,
        after microseconds: Int64 = 1_000
    ) {
        let octets =
            [UInt8(payload.count & 0xFF), UInt8(payload.count >> 8), UInt8(channel & 0xFF), UInt8(channel >> 8)]
            + payload
        for start in stride(from: 0, to: octets.count, by: fragment) {
            let part = octets[start..<min(start + fragment, octets.count)]
            let first = isSent ? ACLPacket.Boundary.startNonFlushable : .start
            let packet = ACLPacket(
                handle: Self.handle,
                boundary: start == 0 ? first : .continuation,
                payload: PacketBuffer(Array(part))
            )
            add(
                HCIPacket(packet),
                isSent ? .hostToController : .controllerToHost,
                after: start == 0 ? microseconds : 10
            )
        }
    }

    mutating func request(_ payload: [UInt8], _ response: [UInt8], latency: Int64 = 30_000) {
        pdu(4, payload, isSent: true)
        pdu(4, response, isSent: false, after: latency)
    }

    /// Adds a connection as the central.
    mutating func connect(_ peer: BluetoothAddress = Self.peer, interval: UInt16 = 24) {
        event(
            LEConnectionComplete {
                $0.handle = Self.handle
                $0.role = .central
                $0.peerAddress = peer
                $0.interval = interval
                $0.latency = 0
                $0.supervisionTimeout = 72
                $0.centralClockAccuracy = .ppm500
            }
        )
    }

    mutating func advertise(_ address: BluetoothAddress, name: String) {
        let data = AdvertisingData([.localName(.init(name))]).encoded
        let report: [UInt8] =
            [0x3E, UInt8(12 + data.count), 0x02, 1, 0, address.kind.rawValue] + address.littleEndianBytes
        add(HCIPacket(.event, PacketBuffer(report + [UInt8(data.count)] + data + [0xC4])), .controllerToHost)
    }

    mutating func disconnect(_ reason: HCIStatus = .remoteUserTerminated) {
        event(DisconnectionComplete(handle: Self.handle, reason: reason))
    }

    /// The entries of the whole capture, and the story at its end.
    func told() -> (entries: [StoryEntry], story: CaptureStory) {
        var story = CaptureStory()
        var entries = records.flatMap { story.receive($0) }
        entries += story.finish()
        return (entries, story)
    }

    /// The lines of the entries.
    var lines: [String] { told().entries.map(\.line) }
}
