import ATT
import BluetoothTypes
import EventLoops
import Foundation
import GATT
import HCI

/// Measures the performance that the project promises, and prints a row for each result; see `Benchmarks/run`.
@main
enum HaraldBenchmarks {
    /// The groups of measurements. Names on the command line select some of them.
    private static let groups: [(name: String, measure: @Sendable () throws -> Void)] = [
        ("codecs", codecs),
        ("cryptography", cryptography),
        ("host", oneHost),
        ("service", service),
        ("hosts", twoHosts),
        ("idle", idlePair),
        ("crowd", crowds),
        ("delegates", delegates),
        ("calls", calls),
        ("sockets", sockets),
        ("streams", streams),
        ("transports", transports),
        ("memory", memory),
        ("captures", captureStories),
        ("advice", advice),
        ("reports", reports),
        ("scale", scale),
    ]
    /// Groups that take minutes, and run only if named.
    private static let longGroups: [(name: String, measure: @Sendable () throws -> Void)] = [("day", day)]

    static func main() throws {
        let chosen = CommandLine.arguments.dropFirst().filter { $0 != Measurement.countOption }
        if chosen.first == SocketApp.argument { return SocketApp.run(Array(chosen.dropFirst())) }
        if chosen.first == SideBySide.argument { return SideBySide.run(Array(chosen.dropFirst())) }
        if chosen.first == FarEnd.argument { return FarEnd.run(Array(chosen.dropFirst())) }
        if !Measurement.isCounted { print("| what | result |\n| --- | ---: |") }
        for group in groups where chosen.isEmpty || chosen.contains(group.name) { try group.measure() }
        for group in longGroups where chosen.contains(group.name) { try group.measure() }
    }

    private static func oneHost() throws {
        try oneHostSends()
        try oneHostReceives()
        try oneHostAnswers()
    }

    private static func twoHosts() throws {
        try notifications()
        try reads()
    }

    private static func crowds() {
        // The instructions of a device do not depend on how many there are.
        let advertisers = Measurement.isCounted ? 100 : 1_000
        for (interval, isPrivate) in [(1_000, false), (100, false), (1_000, true), (100, true)] {
            crowd(advertisers: advertisers, interval: interval, duration: 60, isPrivate: isPrivate)
        }
    }

    /// Prints a row for a measurement of `count` equal pieces of work.
    static func row(_ what: String, _ count: Int, _ measurement: Measurement, _ format: (Int, Measurement) -> String) {
        guard Measurement.isCounted else { return row(what, format(count, measurement)) }
        print("\(measurement.allocations)\t\(count)\t\(what)")
    }

    static func row(_ what: String, _ result: String) {
        guard !Measurement.isCounted else { return }
        print("| \(what) | \(result) |")
        // Flushes output to a file too.
        fflush(nil)
    }

    static func perSecond(_ count: Int, _ measurement: Measurement) -> String {
        "\(Int(Double(count) / measurement.seconds)) /s"
    }

    static func nanoseconds(_ count: Int, _ measurement: Measurement) -> String {
        String(
            format: "%.0f ns, %.1f allocations",
            measurement.seconds * 1e9 / Double(count),
            allocations(count, measurement)
        )
    }

    static func both(_ count: Int, _ measurement: Measurement) -> String {
        perSecond(count, measurement) + ", " + String(format: "%.1f allocations", allocations(count, measurement))
    }

    private static func allocations(_ count: Int, _ measurement: Measurement) -> Double {
        Double(measurement.allocations) / Double(count)
    }

    // MARK: Single packets

    private static func codecs() throws {
        let count = Measurement.count(100_000)
        let value = Array(repeating: UInt8(0x55), count: 244)
        var checksum = 0
        let encode = Measurement {
            for _ in 0..<count {
                var packet = PacketBuffer(copying: value)
                packet.prepend(integer: UInt16(0x000E))
                packet.prepend(0x1B)
                packet.prepend(integer: UInt16(4))
                packet.prepend(integer: UInt16(247))
                let acl = ACLPacket(
                    handle: ConnectionHandle(rawValue: 0x40),
                    boundary: .startNonFlushable,
                    payload: packet
                )
                checksum &+= acl.encoded().count
            }
        }
        row("encode a 244-octet notification, value to HCI", count, encode, nanoseconds)
        let received = PacketBuffer([0x40, 0x20, 0xFB, 0x00, 0xF7, 0x00, 0x04, 0x00, 0x1B, 0x0E, 0x00] + value)
        let decode = try Measurement {
            for _ in 0..<count {
                let acl = try ACLPacket(reading: received)
                if case .handleValueNotification(let pdu) = try ATTPDU(reading: acl.payload.suffix(after: 4)) {
                    checksum &+= Int(pdu.handle)
                }
            }
        }
        row("decode a 244-octet notification, HCI to value", count, decode, nanoseconds)
        try advertisingReport(count: count, checksum: &checksum)
        precondition(checksum != 0)
    }

    private static func advertisingReport(count: Int, checksum: inout Int) throws {
        var report = AdvertisingReport()
        report.address = BluetoothAddress(0xC0FF_EE00_0001, kind: .randomDevice)
        report.data = PacketBuffer(Array(repeating: 1, count: 31))
        report.rssi = -60
        try reports("advertising report", LEAdvertisingReport(reports: [report]), count: count) {
            checksum &+= $0.reports.count
        }
        var extended = ExtendedAdvertisingReport()
        (extended.address, extended.data, extended.rssi) = (report.address, report.data, report.rssi)
        try reports("extended advertising report", LEExtendedAdvertisingReport(reports: [extended]), count: count) {
            checksum &+= $0.reports.count
        }
    }

    private static func reports<E: HCIEvent>(
        _ name: String,
        _ event: E,
        count: Int,
        _ take: (E) -> Void
    ) throws {
        var sum = 0
        let encode = Measurement {
            for _ in 0..<count { sum &+= HCIPacket(event).bytes.count }
        }
        row("encode an \(name) of 31 octets", count, encode, nanoseconds)
        let packet = HCIPacket(event)
        let decode = try Measurement {
            for _ in 0..<count {
                let read = try EventPacket(reading: packet.bytes)
                take(try E.reading(read.eventParameters))
            }
        }
        row("decode an \(name) of 31 octets", count, decode, nanoseconds)
        precondition(sum != 0)
    }

    // MARK: A host on a scripted controller

    /// From GATT down to HCI: values that a server notifies, until they are packets for the controller.
    private static func oneHostSends() throws {
        let one = try OneHost()
        let count = Measurement.count(100_000)
        let value = PacketBuffer(Array(repeating: 0x55, count: 244))
        let before = one.controller.sent
        let measurement = Measurement {
            var sent = 0
            while sent < count {
                while sent < count, one.server.update(PacketBuffer(copying: value), of: one.notified) { sent += 1 }
                one.loop.run(for: .zero)
            }
        }
        precondition(one.controller.sent - before == Measurement.repetitions * count, "every notification is sent")
        row("notifications of 244 octets sent by one host", count, measurement, both)
    }

    /// From HCI up to GATT: packets from a controller, until they are values.
    private static func oneHostReceives() throws {
        let one = try OneHost()
        let count = Measurement.count(100_000)
        let packet = ScriptedController.packet([0x1B, UInt8(one.notified), 0] + Array(repeating: 0x55, count: 244))
        var received = 0
        one.client.onValue = { _, _, _ in received += 1 }
        let measurement = Measurement {
            for _ in 0..<count { one.controller.onReceive?(packet) }
        }
        precondition(received == Measurement.repetitions * count, "every notification arrives")
        row("notifications of 244 octets received by one host", count, measurement, both)
    }

    /// Up and down: read requests, until their responses are packets for the controller. Two PDUs each.
    private static func oneHostAnswers() throws {
        let one = try OneHost()
        let count = Measurement.count(50_000)
        let packet = ScriptedController.packet([0x0A, UInt8(one.read), 0])
        let before = one.controller.sent
        let measurement = Measurement {
            for _ in 0..<count {
                one.controller.onReceive?(packet)
                one.loop.run(for: .zero)
            }
        }
        precondition(one.controller.sent - before == Measurement.repetitions * count, "every request is answered")
        row("ATT PDUs through one host: reads answered, two each", 2 * count, measurement, both)
    }

    // MARK: A system below the API

    /// From HCI up to the event for the app, whose delivery is queued on the loop.
    private static func service() {
        let pair = ServicePair()
        let count = Measurement.count(10_000)
        let before = pair.received
        let measurement = Measurement {
            for _ in 0..<count { pair.receive() }
        }
        pair.deliver()
        precondition(pair.received - before == Measurement.repetitions * count, "every notification arrives")
        row("one notification received below the API, HCI to event", count, measurement, nanoseconds)
    }

    // MARK: Two hosts without air

    private static func notifications() throws {
        let pair = try StackPair()
        let count = Measurement.count(100_000)
        let value = PacketBuffer(Array(repeating: 0x55, count: 244))
        var received = 0
        pair.client.onValue = { _, _, _ in received += 1 }
        let measurement = Measurement {
            var sent = 0
            while sent < count {
                while sent < count, pair.server.update(PacketBuffer(copying: value), of: pair.notified) { sent += 1 }
                pair.loop.run(for: .zero)
            }
            pair.loop.run(for: .zero)
        }
        precondition(received == Measurement.repetitions * count, "every notification arrives")
        row("notifications of 244 octets through two hosts", count, measurement, perSecond)
    }

    private static func reads() throws {
        let pair = try StackPair()
        let count = Measurement.count(20_000)
        var done = 0
        let measurement = Measurement {
            for _ in 0..<count {
                pair.client.read(pair.read) { if case .success = $0 { done += 1 } }
                pair.loop.run(for: .zero)
            }
        }
        precondition(done == Measurement.repetitions * count, "every read is answered")
        row("ATT reads through two hosts, one after the other", count, measurement, perSecond)
    }

    // MARK: Two devices with air

    private static func idlePair() {
        let duration = Measurement.count(100)
        let pair = IdlePair()
        let measurement = Measurement(repetitions: 3) { pair.run(seconds: duration) }
        row("simulated time of two idle connected devices at 30 ms", duration, measurement) {
            String(format: "%.0f s/s", Double($0) / $1.seconds)
        }
    }

    /// The first repetition includes the start-up; the best is printed.
    private static func crowd(advertisers: Int, interval: Int, duration: Int, isPrivate: Bool) {
        let crowd = Crowd(advertisers: advertisers, interval: interval, isPrivate: isPrivate)
        let seconds = Measurement.count(duration)
        var reports = 0
        let measurement = Measurement(repetitions: 3) { reports = crowd.run(seconds: seconds) }
        let which = "\(advertisers) \(isPrivate ? "private " : "")advertisers at \(interval) ms and one scanner"
        row("\(duration) simulated seconds of \(which)", seconds, measurement) {
            String(format: "%.2f s, %d reports /s", $1.seconds, reports / $0)
        }
    }
}
