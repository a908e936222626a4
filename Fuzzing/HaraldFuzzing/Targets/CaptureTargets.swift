import BluetoothTypes
import CapturePlayback
import EventLoops
import HCI

extension FuzzTarget {
    /// Capture files of btsnoop, as an attacker may write them.
    static let snoop = FuzzTarget("btsnoop", maximumLength: 4_096, seeds: CaptureSeeds.btsnoop()) { input in
        let records = CaptureSeeds.readAll(input)
        for record in records { CaptureSeeds.check(record) }
        let packets = records.filter { $0.packet != nil && $0.omitted == 0 }
        let again = try? CaptureReader.records(of: CaptureSeeds.btsnoop(of: packets))
        hold(again?.map(\.content) == packets.map(\.content), "an encoded value decodes to something else")
        let times = again?.map(\.unixMicroseconds)
        hold(times == packets.map(\.unixMicroseconds), "an encoded time decodes to something else")
    }

    /// Capture files of pcapng.
    static let pcapng = FuzzTarget("pcapng", maximumLength: 4_096, seeds: CaptureSeeds.pcapng()) { input in
        for record in CaptureSeeds.readAll(input) { CaptureSeeds.check(record) }
    }

    /// Capture files of pcap.
    static let pcap = FuzzTarget("pcap", maximumLength: 4_096, seeds: CaptureSeeds.pcap()) { input in
        for record in CaptureSeeds.readAll(input) { CaptureSeeds.check(record) }
    }
}

extension FuzzTarget {
    /// Capture files of Apple's PacketLogger.
    static let packetLogger = FuzzTarget("pklg", maximumLength: 4_096, seeds: CaptureSeeds.packetLogger()) { input in
        for record in CaptureSeeds.readAll(input) { CaptureSeeds.check(record) }
    }
}

/// Capture files to start from, and what holds for all of them.
enum CaptureSeeds {
    static func btsnoop() -> [[UInt8]] { Recording.session.captures }

    /// The packets of the recorded session in pcap, in both orders of octets.
    static func pcap() -> [[UInt8]] {
        let head: [UInt8] = [0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 201, 0, 0, 0]
        return Recording.session.captures.map { file in
            var octets = head
            for case .hci(let packet, let direction) in contents(of: file).prefix(16) {
                let length = little(UInt32(packet.bytes.count + 5))
                octets += little(1) + little(2) + length + length
                octets += [0, 0, 0, direction == .controllerToHost ? 1 : 0, packet.kind.rawValue] + packet.bytes
            }
            return octets
        }
    }

    /// The same in the format of PacketLogger, in both orders of octets.
    static func packetLogger() -> [[UInt8]] {
        Recording.session.captures.flatMap { file in
            [false, true].map { isBig in
                func number(_ value: UInt32) -> [UInt8] { little(isBig ? value.byteSwapped : value) }
                var octets: [UInt8] = []
                for case .hci(let packet, let direction) in contents(of: file).prefix(16) {
                    let received: UInt8 = direction == .controllerToHost ? 1 : 0
                    let kind = packet.kind == .acl ? 2 + received : received
                    octets += number(UInt32(packet.bytes.count + 9)) + number(1) + number(2) + [kind] + packet.bytes
                }
                return octets + number(11) + number(1) + number(2) + [0xFC, 0x68, 0x69]
            }
        }
    }

    /// The same in pcapng.
    static func pcapng() -> [[UInt8]] {
        Recording.session.captures.map { file in
            var octets = block(0x0A0D_0D0A, little(0x1A2B_3C4D) + [1, 0, 0, 0] + [UInt8](repeating: 0xFF, count: 8))
            octets += block(1, [187, 0, 0, 0] + little(0) + [9, 0, 1, 0, 6, 0, 0, 0] + little(0))
            for case .hci(let packet, let direction) in contents(of: file).prefix(16) {
                let content = [packet.kind.rawValue] + packet.bytes
                let length = little(UInt32(content.count))
                let padding = [UInt8](repeating: 0, count: (4 - content.count % 4) % 4)
                let flags: [UInt8] = [2, 0, 4, 0, direction == .controllerToHost ? 1 : 2, 0, 0, 0] + little(0)
                octets += block(6, little(0) + little(1) + little(2) + length + length + content + padding + flags)
            }
            return octets
        }
    }

    private static func contents(of file: [UInt8]) -> [CaptureRecord.Content] {
        (try? CaptureReader.records(of: file))?.map(\.content) ?? []
    }

    private static func little(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static func block(_ type: UInt32, _ body: [UInt8]) -> [UInt8] {
        let length = little(UInt32(body.count + 12))
        return little(type) + length + body + length
    }

    /// Reads a file whole and in pieces, which must give the same records.
    static func readAll(_ input: FuzzInput) -> [CaptureRecord] {
        let whole = read(input.octets, inPiecesOf: max(input.octets.count, 1))
        for length in [1, 7, 64] {
            hold(read(input.octets, inPiecesOf: length) == whole, "the records depend on how the file arrives")
        }
        return whole
    }

    private static func read(_ octets: [UInt8], inPiecesOf length: Int) -> [CaptureRecord] {
        var (reader, records, rest) = (CaptureReader(), [CaptureRecord](), octets[...])
        while !rest.isEmpty {
            reader.receive(rest.prefix(length))
            rest = rest.dropFirst(length)
            do throws(CaptureReadingError) {
                while let record = try reader.next() { records.append(record) }
            } catch {
                hold(error.offset <= octets.count, "an error beyond the end of the file")
                return records
            }
            hold(reader.buffered < CaptureReader.maximumRecord + 1, "the reader keeps more than a record")
        }
        return records
    }

    static func check(_ record: CaptureRecord) {
        if case .hci(let packet, let direction) = record.content { _ = PacketPrinter.line(packet, direction) }
        hold(record.omitted >= 0, "a negative number of octets is missing")
    }

    static func btsnoop(of records: [CaptureRecord]) -> [UInt8] {
        var file = BTSnoopWriter(unixMicrosecondsAtZero: 0).header
        for record in records {
            guard case .hci(let packet, let direction) = record.content else { continue }
            let writer = BTSnoopWriter(unixMicrosecondsAtZero: record.unixMicroseconds)
            file += writer.record(packet, direction, at: .zero, drops: record.drops)
        }
        return file
    }
}

extension FuzzTarget {
    /// Captures that are played back to a host that sends what the captured one did, and then to a host that resets.
    static let playback = FuzzTarget("playback", maximumLength: 16_384, seeds: CaptureSeeds.btsnoop()) { input in
        guard let capture = try? CapturedController(octets: input.octets) else { return }
        let loop = VirtualEventLoop()
        let player = CapturePlayer(capture, loop: loop)
        let transport = player.open(place: "fuzzing")
        var received = 0
        transport.onReceive = { _ in received += 1 }
        let records = (try? CaptureReader.records(of: input.octets)) ?? []
        for case .hci(let packet, .hostToController) in records.map(\.content).prefix(200) {
            transport.send(packet)
            loop.run(for: .milliseconds(100))
        }
        for _ in 0..<3 { transport.send(HCIPacket(Reset())) }
        loop.run(for: .seconds(100))
        hold(player.departures.count <= 10_000, "more departures than the limit")
        hold(received <= 40 * (records.count + 203), "more packets than the capture explains")
    }
}
