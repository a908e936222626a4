import BluetoothTypes
import EventLoops
import HCI
import Testing

@testable import CapturePlayback

/// Captures whose host starts and stops scanning, advertising and connecting, played to hosts that do so otherwise.
///
/// Each packet of the capture's controller is played, or a departure counts it.
@Suite struct ActivityTests {
    /// An activity of a host, with what a controller sends meanwhile.
    enum Activity: CaseIterable {
        case scan, extendedScan, advertise, extendedAdvertise, connect, extendedConnect

        var start: HCIPacket {
            switch self {
            case .scan: HCIPacket(LESetScanEnable(isEnabled: true, filterDuplicates: .disabled))
            case .extendedScan:
                HCIPacket(
                    LESetExtendedScanEnable(isEnabled: true, filterDuplicates: .disabled, duration: 0, period: 0)
                )
            case .advertise: HCIPacket(LESetAdvertisingEnable(isEnabled: true))
            case .extendedAdvertise: HCIPacket(.command, [0x39, 0x20, 6, 1, 1, 0, 0, 0, 0])
            case .connect: HCIPacket(LECreateConnection())
            case .extendedConnect: HCIPacket(LEExtendedCreateConnection())
            }
        }

        var stop: HCIPacket {
            switch self {
            case .scan: HCIPacket(LESetScanEnable(isEnabled: false, filterDuplicates: .disabled))
            case .extendedScan:
                HCIPacket(
                    LESetExtendedScanEnable(isEnabled: false, filterDuplicates: .disabled, duration: 0, period: 0)
                )
            case .advertise: HCIPacket(LESetAdvertisingEnable(isEnabled: false))
            case .extendedAdvertise: HCIPacket(.command, [0x39, 0x20, 2, 0, 0])
            case .connect, .extendedConnect: HCIPacket(LECreateConnectionCancel())
            }
        }

        /// A packet of the controller, by a number that tells it apart.
        func event(_ number: UInt8) -> HCIPacket {
            switch self {
            case .scan, .extendedScan: HCIPacket(.event, [0x3E, 12, 2, 1, 0, 0, number, 2, 3, 4, 5, 0xC0, 0, 0xC8])
            case .advertise, .extendedAdvertise, .connect, .extendedConnect: connection(number)
            }
        }

        private func connection(_ number: UInt8) -> HCIPacket {
            var event = LEConnectionComplete()
            event.handle = ConnectionHandle(rawValue: 0x40 + UInt16(number))
            event.role = self == .connect || self == .extendedConnect ? .central : .peripheral
            return HCIPacket(event)
        }

        /// Whether the activity ends with what the controller sends.
        var endsWithEvent: Bool { self != .scan && self != .extendedScan }

        /// Whether a packet is one of the capture, rather than the end of a connection attempt that was cancelled.
        func isEvent(_ packet: HCIPacket) -> Bool { (1..<9).contains { event($0) == packet } }
    }

    /// A step of a capture: the host starts or stops, or a packet arrives.
    enum Step: Character {
        case start = "+"
        case stop = "-"
        case arrival = "e"
    }

    /// The sequences of starts and stops, with arrivals at every position at which a controller may send them.
    private static let captures = [
        "+e", "+-+e", "+-+-+e", "++e", "+e-+e", "+e-+-+e", "+e+e", "+e-e", "e+e", "+-e", "+e-+ee",
    ]
    /// The steps of the playback's host, one a second.
    private static let hosts = ["+", "+.-+", "+-+", ".+", "++", "+-", "", "+-+-+"]

    private static func records(_ activity: Activity, _ capture: String) -> [(Int64, HCIDirection, HCIPacket)] {
        var records: [(Int64, HCIDirection, HCIPacket)] = []
        var (time, number) = (Int64(0), UInt8(0))
        for step in capture.compactMap(Step.init) {
            time += 100_000
            switch step {
            case .arrival:
                number += 1
                records.append((time, .controllerToHost, activity.event(number)))
            case .start, .stop:
                let command = step == .start ? activity.start : activity.stop
                let opcode = Opcode(rawValue: UInt16(command.bytes[0]) | UInt16(command.bytes[1]) << 8)
                records.append((time, .hostToController, command))
                let answer =
                    HCICommandRegistry.type(for: opcode)?.isAnsweredByStatus == true
                    ? HCIPacket(CommandStatus(credits: 1, opcode: opcode))
                    : HCIPacket(CommandComplete(credits: 1, opcode: opcode, parameters: [0]))
                records.append((time + 1_000, .controllerToHost, answer))
            }
        }
        return records
    }

    @Test("each arrival of a capture is played while its activity runs, or counted as left out", arguments: captures)
    func everyArrival(capture: String) throws {
        for activity in Activity.allCases {
            for host in Self.hosts {
                let (received, departures) = try Self.play(activity, capture, host)
                let arrivals = capture.filter { $0 == "e" }.count
                let played = received.filter(activity.isEvent)
                let leftOut = departures.filter { $0.kind == .leftOut }.reduce(0) { sum, departure in
                    sum + (departure.explanation.split(separator: " ").first.flatMap { Int($0) } ?? 0)
                }
                let comment = Comment(rawValue: "\(activity), capture \(capture), host \(host): \(departures)")
                #expect(played.count + leftOut == arrivals, comment)
                // Each of them once, and reports in the order of the capture.
                let expected = (0..<arrivals).map { activity.event(UInt8($0 + 1)) }
                let sorted = expected.filter(played.contains)
                #expect(sorted.count == played.count, comment)
                if !activity.endsWithEvent { #expect(sorted == played, comment) }
                // A host that scans all the time gets everything.
                if host == "+", !activity.endsWithEvent { #expect(played.count == arrivals, comment) }
                if host.isEmpty { #expect(played.isEmpty, comment) }
            }
        }
    }

    private static func play(
        _ activity: Activity,
        _ capture: String,
        _ host: String
    ) throws -> (received: [HCIPacket], departures: [CaptureDeparture]) {
        let loop = VirtualEventLoop()
        let writer = BTSnoopWriter(unixMicrosecondsAtZero: 1_000_000)
        let octets = records(activity, capture).reduce(into: writer.header) { file, packet in
            file += writer.record(packet.2, packet.1, at: Instant(microseconds: packet.0))
        }
        let player = CapturePlayer(try CapturedController(octets: octets), loop: loop)
        let line = player.open(place: "capture")
        var received: [HCIPacket] = []
        line.onReceive = { received.append($0) }
        for step in host {
            if let step = Step(rawValue: step) { line.send(step == .start ? activity.start : activity.stop) }
            loop.run(for: .seconds(1))
        }
        loop.run(for: .seconds(60))
        return (received, player.departures)
    }

    @Test("a host that does what the capture's did gets the packets at the times of the capture, without departures")
    func theSameHost() throws {
        let records = Self.records(.scan, "+-+eee-")
        let loop = VirtualEventLoop()
        let writer = BTSnoopWriter(unixMicrosecondsAtZero: 1_000_000)
        let octets = records.reduce(into: writer.header) { file, packet in
            file += writer.record(packet.2, packet.1, at: Instant(microseconds: packet.0))
        }
        let player = CapturePlayer(try CapturedController(octets: octets), loop: loop)
        let line = player.open(place: "capture")
        var times: [Int64] = []
        line.onReceive = { if Activity.scan.isEvent($0) { times.append(loop.now.microseconds) } }
        for (time, direction, packet) in records where direction == .hostToController {
            loop.run(until: Instant(microseconds: time))
            line.send(packet)
        }
        loop.run(for: .seconds(60))
        #expect(times == [400_000, 500_000, 600_000])
        #expect(player.departures == [])
    }

    @Test("data of a connection whose beginning the capture lacks are counted as left out")
    func noBeginning() throws {
        var records = Self.records(.connect, "+e")
        let payload = PacketBuffer([3, 0, 4, 0, 0x1B, 3, 0])
        let data = ACLPacket(handle: ConnectionHandle(rawValue: 0x77), boundary: .start, payload: payload)
        records.append((900_000, .controllerToHost, HCIPacket(data)))
        let writer = BTSnoopWriter(unixMicrosecondsAtZero: 1_000_000)
        let octets = records.reduce(into: writer.header) { file, packet in
            file += writer.record(packet.2, packet.1, at: Instant(microseconds: packet.0))
        }
        let player = CapturePlayer(try CapturedController(octets: octets), loop: VirtualEventLoop())
        let text = "1 packet of the controller left out: the capture begins in the middle of connection 0x77"
        #expect(player.departures.map(\.explanation) == [text])
    }
}
