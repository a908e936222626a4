import BluetoothTypes
import EventLoops
import HCI
import Synchronization
import Testing

@testable import CapturePlayback

/// The playback of captures that are written packet by packet.
@Suite struct MachineTests {
    private final class Ends: Sendable {
        let all = Mutex<[Int64]>([])
    }

    /// A capture, and what a host receives from its playback.
    private final class Bench {
        let loop = VirtualEventLoop()
        let player: CapturePlayer
        private let line: any HCITransport
        private(set) var received: [HCIPacket] = []
        private(set) var times: [Int64] = []
        /// When the capture was over, in microseconds.
        var ends: [Int64] { ended.all.withLock { $0 } }
        private let ended = Ends()

        init(_ packets: [(Int64, HCIDirection, HCIPacket)]) throws {
            let writer = BTSnoopWriter(unixMicrosecondsAtZero: 1_000_000)
            let octets = packets.reduce(into: writer.header) { file, packet in
                file += writer.record(packet.2, packet.1, at: Instant(microseconds: packet.0))
            }
            player = CapturePlayer(
                try CapturedController(octets: octets),
                loop: loop,
                onEnd: { [loop, ended] in ended.all.withLock { $0.append(loop.now.microseconds) } }
            )
            line = player.open(place: "capture")
            line.onReceive = { [weak self] packet in
                guard let self else { return }
                received.append(packet)
                times.append(loop.now.microseconds)
            }
        }

        func send(_ packets: HCIPacket..., then microseconds: Int64 = 1_000_000) {
            for packet in packets { line.send(packet) }
            loop.run(for: .microseconds(microseconds))
        }

        func close() { line.close() }

        /// The number of packets since the last call.
        func take() -> [HCIPacket] {
            defer { received = [] }
            return received
        }
    }

    private static let reset = HCIPacket(Reset())
    private static let resetDone = HCIPacket(CommandComplete(Reset.self, StatusOnly()))

    private static func done(_ opcode: Opcode, _ parameters: PacketBuffer = [0]) -> HCIPacket {
        HCIPacket(CommandComplete(credits: 1, opcode: opcode, parameters: parameters))
    }

    private static func data(_ handle: UInt16, _ channel: UInt16, _ payload: [UInt8], isSent: Bool) -> HCIPacket {
        let header = [UInt8(payload.count), 0, UInt8(channel), 0]
        let boundary = isSent ? ACLPacket.Boundary.startNonFlushable : .start
        let number = ConnectionHandle(rawValue: handle)
        return HCIPacket(
            ACLPacket(handle: number, boundary: boundary, payload: PacketBuffer(copying: header + payload))
        )
    }

    private static func connected(_ handle: UInt16) -> HCIPacket {
        var event = LEConnectionComplete()
        event.handle = ConnectionHandle(rawValue: handle)
        return HCIPacket(event)
    }

    private static let create = HCIPacket(LECreateConnection())
    private static let created = HCIPacket(CommandStatus(credits: 1, opcode: LECreateConnection.opcode))
    private static let read: [UInt8] = [0x0A, 3, 0]
    private static let value: [UInt8] = [0x0B, 7]

    /// A capture in which a host connects, and reads attribute 3.
    private static let reading: [(Int64, HCIDirection, HCIPacket)] = [
        (0, .hostToController, reset), (10, .controllerToHost, resetDone),
        (1_000, .hostToController, create), (1_100, .controllerToHost, created),
        (5_000, .controllerToHost, connected(0x40)),
        (6_000, .hostToController, data(0x40, 4, read, isSent: true)),
        (9_000, .controllerToHost, data(0x40, 4, value, isSent: false)),
        (20_000, .controllerToHost, data(0x40, 4, [0x1B, 3, 0, 8], isSent: false)),
    ]

    @Test("answers and events follow their causes after the delays of the capture, whenever the causes come")
    func delays() throws {
        let bench = try Bench(Self.reading)
        bench.send(Self.reset)
        #expect(bench.times == [10])
        bench.send(Self.create)
        #expect(bench.received.suffix(2) == [Self.created, Self.connected(0x40)])
        #expect(bench.times.suffix(2) == [1_000_100, 1_004_000])
        bench.send(Self.data(0x40, 4, Self.read, isSent: true))
        let answers = bench.received.filter { $0.kind == .acl }
        #expect(
            answers == [
                Self.data(0x40, 4, Self.value, isSent: false), Self.data(0x40, 4, [0x1B, 3, 0, 8], isSent: false),
            ]
        )
        #expect(bench.times.max() == 2_014_000)
        #expect(bench.player.departures == [])
    }

    @Test("a capture is over 5 s after its last packet would have come, or after the host's last packet")
    func end() throws {
        let bench = try Bench(Self.reading)
        bench.send(Self.reset, then: 0)
        // The capture would be over at 5.02 s, but its host connects late.
        bench.loop.run(for: .seconds(3))
        bench.send(Self.create, then: 0)
        bench.loop.run(for: .milliseconds(4_990))
        #expect(bench.ends == [])
        bench.send(Self.data(0x40, 4, Self.read, isSent: true), then: 0)
        bench.loop.run(for: .seconds(60))
        // The last packet comes 14 ms after the request.
        #expect(bench.ends == [3_000_000 + 4_990_000 + 14_000 + 5_000_000])
        #expect(bench.take().contains(Self.data(0x40, 4, [0x1B, 3, 0, 8], isSent: false)))
        // The controller still answers.
        bench.send(Self.data(0x40, 4, [0x0A, 9, 0], isSent: true))
        #expect(bench.take().contains(Self.data(0x40, 4, [0x01, 0x0A, 9, 0, 0x0E], isSent: false)))
    }

    @Test("a peer waits 5 s for a host that does not go on, once, and then goes on as fast as in the capture")
    func timeout() throws {
        var packets = Array(Self.reading.prefix(5))
        let values: [UInt8] = [1, 2, 3]
        for (place, value) in values.enumerated() {
            let time = 10_000 * Int64(place + 1)
            packets.append((time, .hostToController, Self.data(0x40, 4, [0x0A, value, 0], isSent: true)))
            packets.append((time + 1_000, .controllerToHost, Self.data(0x40, 4, [0x1B, 3, 0, value], isSent: false)))
        }
        let bench = try Bench(packets)
        bench.send(Self.reset, Self.create, then: 0)
        bench.loop.run(for: .seconds(20))
        let notified = zip(bench.received, bench.times).filter { $0.0.kind == .acl }
        #expect(notified.map(\.0) == values.map { Self.data(0x40, 4, [0x1B, 3, 0, $0], isSent: false) })
        // The connection comes 4 ms after the request for it.
        #expect(notified.map(\.1) == [5_010_000, 5_020_000, 5_030_000])
    }

    @Test("a capture is not over while its host would still send something, nor after the transport has closed")
    func noEnd() throws {
        var packets = Self.reading
        packets.append((60_000_000, .hostToController, Self.data(0x40, 4, [0x0A, 4, 0], isSent: true)))
        let bench = try Bench(packets)
        bench.send(Self.reset, Self.create, Self.data(0x40, 4, Self.read, isSent: true), then: 0)
        bench.loop.run(for: .seconds(64))
        #expect(bench.ends == [])
        bench.close()
        bench.loop.run(for: .seconds(60))
        #expect(bench.ends == [])
    }

    @Test("what the host sends and the capture does not have is answered, and departs with both packets")
    func additional() throws {
        let bench = try Bench(Self.reading)
        bench.send(Self.reset, Self.create)
        _ = bench.take()
        bench.send(Self.data(0x40, 4, [0x0A, 9, 0], isSent: true))
        // Unlikely Error: the capture does not tell the value.
        #expect(bench.take().contains(Self.data(0x40, 4, [0x01, 0x0A, 9, 0, 0x0E], isSent: false)))
        let departure = try #require(bench.player.departures.first)
        #expect(departure.kind == .additional)
        #expect(departure.sent == "ATT Read Request: 0900")
        #expect(departure.captured == "ATT Read Request: 0300")
        #expect(departure.capturedTime == 0.006)
    }

    @Test("a capture that begins after the initialization tells what the controller can do")
    func initialization() throws {
        var scan = LESetExtendedScanEnable()
        scan.isEnabled = true
        let bench = try Bench([
            (0, .hostToController, HCIPacket(scan)),
            (10, .controllerToHost, Self.done(LESetExtendedScanEnable.opcode)),
            (20, .controllerToHost, HCIPacket(LEExtendedAdvertisingReport())),
            (30, .hostToController, HCIPacket(LESetPHY())),
        ])
        func answer<Command: HCICommand>(_ command: Command) throws -> Command.Response {
            bench.send(HCIPacket(command))
            let packet = try #require(bench.take().first)
            let complete = try CommandComplete.reading(EventPacket(reading: packet.bytes).parameters)
            #expect(complete.opcode == Command.opcode)
            return try Command.Response.reading(complete.parameters)
        }
        #expect(try answer(Reset()).status == .success)
        let commands = try answer(ReadLocalSupportedCommands()).commands
        #expect(commands.contains(LESetExtendedScanParameters.self))
        #expect(commands.contains(LEReadBufferSize.self))
        #expect(!commands.contains(LESetScanEnable.self))
        #expect(!commands.contains(LESetDataLength.self))
        let features = try answer(LEReadLocalSupportedFeatures()).features
        #expect(features == [.extendedAdvertising, .phy2M])
        #expect(try answer(LEReadBufferSize()).totalACLDataPackets > 0)
        #expect(bench.player.departures.count == 1)
        bench.send(HCIPacket(scan))
        #expect(bench.take().count == 2)
        #expect(bench.player.departures.filter { $0.kind == .additional }.count == 1)
    }

    @Test(
        "a descriptor that a host need not ask for is in the table",
        arguments: [(0x10, 4, true), (0x02, 4, false), (0x10, 5, false)]
    )
    func configuration(_ properties: UInt8, _ end: UInt8, _ isThere: Bool) throws {
        let bench = try Bench(
            Self.reading + [
                (30_000, .hostToController, Self.data(0x40, 4, [0x10, 1, 0, 0xFF, 0xFF, 0x00, 0x28], isSent: true)),
                (31_000, .controllerToHost, Self.data(0x40, 4, [0x11, 6, 1, 0, end, 0, 0x0D, 0x18], isSent: false)),
                (32_000, .hostToController, Self.data(0x40, 4, [0x08, 1, 0, 0xFF, 0xFF, 0x03, 0x28], isSent: true)),
                (
                    33_000, .controllerToHost,
                    Self.data(0x40, 4, [0x09, 7, 2, 0, properties, 3, 0, 0x37, 0x2A], isSent: false)
                ),
            ]
        )
        bench.send(Self.reset, Self.create)
        _ = bench.take()
        bench.send(Self.data(0x40, 4, [0x04, 4, 0, end, 0], isSent: true))
        let answer = [0x05, 1, 4, 0, 0x02, 0x29] as [UInt8]
        #expect(bench.take().contains(Self.data(0x40, 4, answer, isSent: false)) == isThere)
    }

    @Test("of a capture with an initialization, nothing is assumed")
    func initializationOfTheCapture() throws {
        let bench = try Bench(Self.reading)
        bench.send(Self.reset, HCIPacket(LEReadLocalSupportedFeatures()))
        #expect(bench.take().contains(Self.done(LEReadLocalSupportedFeatures.opcode, [0x01])))
    }

    @Test("a request that the host repeats has the same answer again")
    func repeated() throws {
        let bench = try Bench(Self.reading)
        bench.send(Self.reset, Self.create)
        for _ in 0..<3 {
            _ = bench.take()
            bench.send(Self.data(0x40, 4, Self.read, isSent: true))
            #expect(bench.take().contains(Self.data(0x40, 4, Self.value, isSent: false)))
        }
        #expect(bench.player.departures.map(\.kind) == [.repeated, .repeated])
    }

    @Test("a packet that the host does not send is missing five seconds after it was due, and not before")
    func missing() throws {
        let bench = try Bench(Self.reading)
        bench.send(Self.reset, Self.create)
        bench.loop.run(for: .seconds(3))
        #expect(bench.player.departures == [])
        bench.loop.run(for: .seconds(5))
        // Without the request, its response does not come either.
        #expect(bench.player.departures.map(\.kind) == [.missing, .leftOut])
        #expect(bench.player.departures.first?.captured == "ATT Read Request: 0300")
    }

    @Test("commands that the capture does not have are answered: with success if that says all, else as unknown")
    func otherCommands() throws {
        let bench = try Bench(Self.reading)
        bench.send(HCIPacket(LESetDefaultPHY()), HCIPacket(ReadBDADDR()))
        #expect(bench.take() == [Self.done(LESetDefaultPHY.opcode), Self.done(ReadBDADDR.opcode, [1])])
        #expect(bench.player.departures.prefix(2).map(\.kind) == [.additional, .additional])
    }

    @Test(
        "a command with other parameters has the answer of its counterpart, and departs unless the parameters are random"
    )
    func differentParameters() throws {
        var command = LESetRandomAddress()
        command.address = BluetoothAddress(0xC000_0000_0001, kind: .randomDevice)
        let answer = Self.done(LESetRandomAddress.opcode)
        let bench = try Bench([(0, .hostToController, HCIPacket(command)), (5, .controllerToHost, answer)])
        command.address = BluetoothAddress(0xC000_0000_0002, kind: .randomDevice)
        bench.send(HCIPacket(command))
        #expect(bench.take() == [answer])
        #expect(bench.player.departures.map(\.kind) == [.different])
        #expect(bench.player.departures.map(\.isRandom) == [true])
    }

    @Test(
        "a connection that the capture ended by then has another handle, and its data is that of the right connection"
    )
    func handles() throws {
        let ended = HCIPacket(.event, [0x05, 4, 0, 0x40, 0, 0x13])
        let capture =
            Self.reading + [
                (30_000, .hostToController, HCIPacket(.command, [0x06, 0x04, 3, 0x40, 0, 0x13])),
                (31_000, .controllerToHost, ended),
                (40_000, .hostToController, Self.create), (41_000, .controllerToHost, Self.created),
                (42_000, .controllerToHost, Self.connected(0x40)),
                (43_000, .hostToController, Self.data(0x40, 4, Self.read, isSent: true)),
                (44_000, .controllerToHost, Self.data(0x40, 4, [0x0B, 9], isSent: false)),
            ]
        let bench = try Bench(capture)
        bench.send(Self.reset, Self.create)
        // The host does not disconnect.
        bench.send(Self.create)
        #expect(bench.take().contains(Self.connected(0x41)))
        bench.send(Self.data(0x41, 4, Self.read, isSent: true))
        #expect(bench.take().contains(Self.data(0x41, 4, [0x0B, 9], isSent: false)))
        bench.send(Self.data(0x40, 4, Self.read, isSent: true))
        #expect(bench.take().contains(Self.data(0x40, 4, Self.value, isSent: false)))
    }

    /// A capture in which a host opens a credit-based channel, whose peer echoes, and reads attribute 3 meanwhile.
    private static let echoing: [(Int64, HCIDirection, HCIPacket)] =
        Array(reading.prefix(5)) + [
            (6_000, .hostToController, data(0x40, 5, opening, isSent: true)),
            (7_000, .controllerToHost, data(0x40, 5, opened, isSent: false)),
            (8_000, .hostToController, data(0x40, 0x51, [2, 0, 7, 7], isSent: true)),
            (8_100, .hostToController, data(0x40, 4, read, isSent: true)),
            (9_000, .controllerToHost, data(0x40, 4, value, isSent: false)),
            (9_100, .controllerToHost, data(0x40, 0x41, [2, 0, 7, 7], isSent: false)),
            (9_200, .controllerToHost, data(0x40, 5, [0x16, 9, 4, 0, 0x51, 0, 1, 0], isSent: false)),
        ]
    private static let opening: [UInt8] = [0x14, 1, 10, 0, 0x90, 0, 0x41, 0, 64, 0, 64, 0, 9, 0]
    private static let opened: [UInt8] = [0x15, 1, 10, 0, 0x51, 0, 64, 0, 64, 0, 9, 0, 0, 0]

    @Test("data on a channel waits for what the host sent there before, also if the host does other things first")
    func channels() throws {
        let bench = try Bench(Self.echoing)
        bench.send(Self.reset, Self.create)
        bench.send(Self.data(0x40, 5, Self.opening, isSent: true), Self.data(0x40, 4, Self.read, isSent: true))
        let echo = Self.data(0x40, 0x41, [2, 0, 7, 7], isSent: false)
        let answers = bench.take()
        #expect(answers.contains(Self.data(0x40, 4, Self.value, isSent: false)))
        #expect(!answers.contains(echo))
        bench.send(Self.data(0x40, 0x51, [2, 0, 7, 7], isSent: true))
        #expect(bench.take().filter { $0.kind == .acl }.first == echo)
        #expect(bench.player.departures == [])
    }

    @Test("a capture of nothing but a connection that was there before is refused in words")
    func withoutBeginning() throws {
        let data = Self.reading.filter { $0.2.kind == .acl }
        let error = try #require(throws: CapturedControllerError.self) { try Bench(data) }
        #expect(error.reason.contains("in the middle of the connection 0x40"))
        // The connection that begins in the capture is played, and the data before it is not.
        let bench = try Bench(data + Self.reading.map { ($0.0 + 100_000, $0.1, $0.2) })
        bench.send(Self.reset, Self.create)
        bench.send(Self.data(0x40, 4, Self.read, isSent: true))
        #expect(bench.received.filter { $0.kind == .acl }.count == 2)
        #expect(bench.player.departures.map(\.kind) == [.leftOut])
    }

    @Test("reports come while the host scans, and go on when it scans again")
    func scanning() throws {
        var enable = LESetScanEnable()
        enable.isEnabled = true
        let start = HCIPacket(enable)
        enable.isEnabled = false
        let stop = HCIPacket(enable)
        func report(_ number: UInt8) -> HCIPacket {
            HCIPacket(.event, [0x3E, 12, 2, 1, 0, 0, number, 2, 3, 4, 5, 6, 0, 0xC0])
        }
        let answer = Self.done(LESetScanEnable.opcode)
        let bench = try Bench([
            (0, .hostToController, start), (1, .controllerToHost, answer), (1_000_000, .controllerToHost, report(1)),
            (3_000_000, .controllerToHost, report(2)), (5_000_000, .hostToController, stop),
            (5_000_001, .controllerToHost, answer),
        ])
        bench.send(start, then: 2_000_000)
        bench.send(stop, then: 10_000_000)
        #expect(bench.take() == [answer, report(1), answer])
        bench.send(start)
        #expect(bench.take() == [answer, report(2)])
        #expect(bench.player.departures.map(\.kind) == [.repeated])
    }

    @Test("a host that used no extended advertising has a controller without it")
    func legacyHosts() throws {
        let features = LEReadLocalSupportedFeatures.Response(features: [.encryption, .extendedAdvertising])
        let bits = ReadLocalSupportedCommands.Response(commands: SupportedCommands(HCICommandRegistry.all))
        let bench = try Bench([
            (0, .hostToController, HCIPacket(LEReadLocalSupportedFeatures())),
            (1, .controllerToHost, HCIPacket(CommandComplete(LEReadLocalSupportedFeatures.self, features))),
            (2, .hostToController, HCIPacket(ReadLocalSupportedCommands())),
            (3, .controllerToHost, HCIPacket(CommandComplete(ReadLocalSupportedCommands.self, bits))),
            (4, .hostToController, Self.create), (5, .controllerToHost, Self.created),
        ])
        bench.send(HCIPacket(LEReadLocalSupportedFeatures()), HCIPacket(ReadLocalSupportedCommands()))
        let answers = try bench.take().map { try CommandComplete.reading(EventPacket(reading: $0.bytes).parameters) }
        let read = try LEReadLocalSupportedFeatures.Response.reading(answers[0].parameters)
        #expect(read.features == [.encryption])
        let commands = try ReadLocalSupportedCommands.Response.reading(answers[1].parameters).commands
        #expect(!commands.contains(LESetExtendedScanEnable.self))
        #expect(commands.contains(LESetScanEnable.self))
    }

    @Test("captures with random changes are played back within bounds, to a host that sends what the captured one did")
    func hostileCaptures() throws {
        let writer = BTSnoopWriter(unixMicrosecondsAtZero: 1_000_000)
        let octets = Self.reading.reduce(into: writer.header) { file, packet in
            file += writer.record(packet.2, packet.1, at: Instant(microseconds: packet.0))
        }
        let random = RandomSource(seed: 1)
        var played = 0
        for _ in 0..<2_000 {
            var changed = octets
            for _ in 0..<(1 + random.below(6)) {
                changed[16 + Int(random.below(UInt64(octets.count - 16)))] = UInt8(truncatingIfNeeded: random.next())
            }
            guard let capture = try? CapturedController(octets: changed) else { continue }
            played += 1
            let loop = VirtualEventLoop()
            let player = CapturePlayer(capture, loop: loop)
            let line = player.open(place: "hostile")
            var received = 0
            line.onReceive = { _ in received += 1 }
            let records = (try? CaptureReader.records(of: changed)) ?? []
            for case .hci(let packet, .hostToController) in records.map(\.content) {
                line.send(packet)
                loop.run(for: .milliseconds(100))
            }
            loop.run(for: .seconds(100))
            #expect(received <= 40)
            #expect(player.departures.count <= 40)
        }
        #expect(played > 200)
    }
}
