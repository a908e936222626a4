import Administration
import BluetoothTypes
import CaptureStory
import DequeModule
import EventLoops
import Foundation
import HCI
import ServiceEvents

/// The last packets of the controller, and in a world of the radio: in words for the pages, and in octets for one that
/// is looked at or saved.
struct PagePackets {
    /// A format of saved packets, which is also the extension of the file's name.
    enum Format: String, Codable, Sendable {
        /// The packets of the controller.
        case btsnoop
        /// The packets of the controller on the first interface, and those on the air on the second.
        case pcapng
    }

    /// The maximum number of packets that are kept, and of their octets.
    static let maximumPackets = 20_000
    static let maximumOctets = 8 << 20
    /// The maximum number of rows in a text for a page, and of the octets of their words.
    private static let rowsAtOnce = 1_000
    private static let octetsAtOnce = 128 << 10
    /// The maximum number of events whose apps are known.
    private static let maximumEvents = 20_000

    /// Packets by their numbers, as a page names them in some messages.
    struct Selection: Hashable, Sendable {
        /// The maximum number of packets, which is more than a page has.
        private static let maximum = 25_000

        private var numbers: Set<UInt64> = []
        private var next: UInt64 = 0

        /// Adds packets in the order of their numbers: by turns, how many are left out and how many follow. The first
        /// message counts from 0 on, and each later one from the end of the last.
        ///
        /// - Returns: False if there are too many.
        mutating func add(_ runs: [UInt64]) -> Bool {
            for (index, count) in runs.enumerated() {
                let (end, isTooLarge) = next.addingReportingOverflow(count)
                guard !isTooLarge else { return false }
                if !index.isMultiple(of: 2) {
                    guard count <= UInt64(Self.maximum - numbers.count) else { return false }
                    numbers.formUnion(next..<end)
                }
                next = end
            }
            return true
        }

        fileprivate func contains(_ entry: Entry) -> Bool { numbers.contains(entry.packet.number) }
    }

    fileprivate struct Entry {
        let packet: MonitoredPacket
        let dissected: DissectedPacket
        let app: String?
        /// The number of the packet that this one answers; 0 if there is none.
        var request: UInt64 = 0
        var isAir: Bool { packet.kind == MonitoredPacket.air }
    }

    private let limits: (packets: Int, octets: Int)
    private var dissector = PacketDissector()
    private var airDissector = AirDissector()
    private var causes = PacketCauses()
    private let words = PacketWords()
    /// The packets of the controller, and those on the air, each in the order of their numbers.
    private var (packets, frames): (Deque<Entry>, Deque<Entry>) = ([], [])
    private var octets = 0
    private var drops: UInt32 = 0
    private var apps: [UInt64: String] = [:]
    private var oldestEvent: UInt64 = 0

    init(maximumPackets: Int = Self.maximumPackets, maximumOctets: Int = Self.maximumOctets) {
        limits = (maximumPackets, maximumOctets)
    }

    var count: Int { packets.count + frames.count }

    /// Notes the app of an event, so that packets can be told by it.
    mutating func note(_ event: MonitoredEvent) {
        guard let app = event.app else { return }
        if apps.isEmpty { oldestEvent = event.number }
        apps[event.number] = app
        while apps.count > Self.maximumEvents, oldestEvent < event.number {
            apps[oldestEvent] = nil
            oldestEvent += 1
        }
    }

    /// Rows for pages. Most packets of a world on its way to another instant are forgotten before anybody reads them,
    /// so their words are made here, and not when they arrive.
    struct Rows {
        fileprivate let lost: Int
        fileprivate let rows: [PacketRow]

        var count: Int { rows.count }
        var json: String { JSON.of(PacketRows(lost: lost, rows: rows)) }
    }

    /// Takes in a line of the service's stream. Returns rows for the pages; nil if the line is malformed.
    mutating func receive(_ line: String) -> Rows? {
        guard let batch = try? JSONDecoder().decode(PacketBatch.self, from: Data(line.utf8)),
            let packets = try? batch.packets()
        else { return nil }
        drops = drops &+ UInt32(clamping: batch.lost)
        let added = packets.compactMap { entry($0) }
        for entry in added {
            if entry.isAir { frames.append(entry) } else { self.packets.append(entry) }
            octets += entry.packet.octets.count
        }
        forget()
        return Rows(lost: batch.lost, rows: added.map { PacketRow(entry: $0, words: words) })
    }

    /// The last rows in order, for a page that begins to follow. It asks for older ones (``rows(before:)``).
    var recent: Rows { rows(before: .max) }

    /// Returns the last rows before a packet, in order; none if no older packet is kept.
    ///
    /// A page asks again with the first of them, so that what waits for it stays small however many packets there are.
    func rows(before number: UInt64) -> Rows {
        var (rows, octets): ([PacketRow], Int) = ([], 0)
        var (packet, frame) = (Self.place(of: number, in: packets), Self.place(of: number, in: frames))
        while rows.count < Self.rowsAtOnce, octets < Self.octetsAtOnce, packet + frame > 0 {
            let isFrame =
                packet == 0 || (frame > 0 && packets[packet - 1].packet.number < frames[frame - 1].packet.number)
            if isFrame { frame -= 1 } else { packet -= 1 }
            let entry = isFrame ? frames[frame] : packets[packet]
            let line = words.line(of: entry.packet, entry.dissected)
            rows.append(PacketRow(entry: entry, words: words, line: line))
            octets += line.summary.text.utf8.count
        }
        return Rows(lost: 0, rows: rows.reversed())
    }

    private mutating func entry(_ packet: MonitoredPacket) -> Entry? {
        guard packet.kind != MonitoredPacket.air else {
            return Entry(packet: packet, dissected: airDissector.receive(packet.octets), app: nil)
        }
        guard let content = packet.packet else { return nil }
        let dissected = dissector.receive(content, packet.direction)
        let cause = causes.receive(content, packet.direction, number: packet.number, at: packet.time)
        return Entry(packet: packet, dissected: dissected, app: app(of: packet), request: cause.request ?? 0)
    }

    private func app(of packet: MonitoredPacket) -> String? {
        if packet.cause > 0, let app = apps[packet.cause] { return app }
        guard packet.firstEvent > 0 else { return nil }
        return (0..<UInt64(packet.events)).lazy.compactMap { apps[packet.firstEvent &+ $0] }.first
    }

    /// All entries in the order of their numbers.
    private var ordered: [Entry] {
        var (all, rest): ([Entry], Deque<Entry>.SubSequence) = ([], frames[...])
        all.reserveCapacity(count)
        for entry in packets {
            while let frame = rest.first, frame.packet.number < entry.packet.number { all.append(rest.removeFirst()) }
            all.append(entry)
        }
        return all + rest
    }

    /// Forgets the oldest packets while there are too many.
    ///
    /// A radio has many more packets than a controller. So those on the air make way first, down to the half.
    private mutating func forget() {
        while count > limits.packets || octets > limits.octets {
            guard let frame = frames.first else {
                octets -= packets.removeFirst().packet.octets.count
                continue
            }
            let isOlder = packets.first.map { frame.packet.number < $0.packet.number } ?? true
            let isFrame = isOlder || frames.count > limits.packets / 2
            octets -= (isFrame ? frames.removeFirst() : packets.removeFirst()).packet.octets.count
        }
    }

    // MARK: One packet

    /// Returns a packet layer by layer, as JSON; nil if it is not kept any more.
    func details(of number: UInt64) -> String? {
        if let index = Self.index(of: number, in: frames) {
            let noted = frames[index].packet
            let summary = words.line(of: noted, frames[index].dissected).summary
            return JSON.of(PacketDetails(noted, AirDissector.parts(of: noted.octets, summary)))
        }
        guard let index = Self.index(of: number, in: packets), let packet = packets[index].packet.packet else {
            return nil
        }
        let noted = packets[index].packet
        let parts = dissector.parts(of: packet, noted.direction, after: fragments(before: index))
        return JSON.of(PacketDetails(noted, parts))
    }

    private static func index(of number: UInt64, in entries: Deque<Entry>) -> Int? {
        let place = place(of: number, in: entries)
        return place < entries.count && entries[place].packet.number == number ? place : nil
    }

    /// The number of entries before a packet.
    private static func place(of number: UInt64, in entries: Deque<Entry>) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].packet.number < number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The packets with the earlier parts of the PDU that a packet continues, in their order.
    private func fragments(before index: Int) -> [HCIPacket] {
        func data(_ entry: Entry) -> ACLPacket? {
            guard entry.packet.kind == HCIPacket.Kind.acl.rawValue else { return nil }
            return try? ACLPacket(reading: entry.packet.octets)
        }
        guard let last = data(packets[index]), !last.boundary.isStart else { return [] }
        var found: [HCIPacket] = []
        for entry in packets[..<index].reversed() where entry.packet.isReceived == packets[index].packet.isReceived {
            guard let part = data(entry), part.handle == last.handle, let packet = entry.packet.packet else { continue }
            found.append(packet)
            if part.boundary.isStart { break }
        }
        return found.reversed()
    }

    // MARK: A file

    /// Returns the packets of a selection that are kept, as a file.
    func capture(_ format: Format, _ selection: Selection) -> [UInt8] {
        switch format {
        case .btsnoop: btsnoop(selection)
        case .pcapng: pcapng(selection)
        }
    }

    private func pcapng(_ selection: Selection) -> [UInt8] {
        // A frame is known at its end, and has the time of its beginning.
        let selected = ordered.filter(selection.contains).map(\.packet)
            .sorted { ($0.time, $0.number) < ($1.time, $1.number) }
        return selected.reduce(into: PcapngWriter.header([.hci, .air])) { file, noted in
            if let packet = noted.packet {
                file += PcapngWriter.record(PcapngWriter.content(of: packet, noted.direction), on: 0, at: noted.time)
            } else {
                let sender = noted.sender.isEmpty ? nil : noted.sender
                file += PcapngWriter.record(noted.octets, on: 1, at: noted.time, comment: sender)
            }
        }
    }

    private func btsnoop(_ selection: Selection) -> [UInt8] {
        let writer = BTSnoopWriter(unixMicrosecondsAtZero: 0)
        var file = writer.header
        for entry in packets where selection.contains(entry) {
            guard let packet = entry.packet.packet else { continue }
            let time = Instant(microseconds: entry.packet.time)
            file += writer.record(packet, entry.packet.direction, at: time, drops: drops)
        }
        return file
    }
}

/// Rows of packets for a page.
private struct PacketRows: Encodable {
    let lost: Int
    let rows: [PacketRow]
}

/// A packet in a list, which is short, because there are many.
private struct PacketRow: Encodable {
    let entry: PagePackets.Entry
    let words: PacketWords
    /// The packet in words, if they are made already.
    var line: PacketLine?

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.unkeyedContainer()
        let packet = entry.packet
        let line = line ?? words.line(of: packet, entry.dissected)
        try fields.encode(packet.number)
        try fields.encode(packet.time)
        try fields.encode(packet.isReceived)
        try fields.encode(line.summary.layer.rawValue)
        try fields.encode(line.summary.text)
        try fields.encode(packet.peer)
        try fields.encode(entry.app)
        try fields.encode(packet.cause)
        try fields.encode(packet.firstEvent)
        try fields.encode(packet.events)
        try fields.encode(entry.request)
        try fields.encode(line.rssi)
    }
}
