import BluetoothTypes
import EventLoops
import Foundation
import HCI
import StandInKernel
import Synchronization
import TestBasics
import Testing

@testable import HCITransports

@Suite struct UserChannelTransportTests {
    /// A transport to an adapter, and the controller at its other end.
    private final class Line: Sendable {
        private let watched: WatchedTransport
        let kernel = StandInKernel([0: .init()])
        let controller: Int32
        let files: TemporaryDirectory

        init() async throws {
            let files = try TemporaryDirectory.kernelFiles()
            self.files = files
            let adapters = KernelAdapters(calls: kernel, sysfs: files.path, proc: files.path)
            watched = WatchedTransport(.adapter(.number(0)), ControllerFinder(adapters))
            while kernel.state.withLock({ $0.written.isEmpty }) { await Task.yield() }
            controller = try #require(kernel.controller(of: 0))
        }

        var transport: LoopBound<ControllerTransport> { watched.transport }
        var loop: NIOEventLoop { watched.loop }

        func next() async -> WatchedTransport.Event? { await watched.next() }

        func say(_ octets: [UInt8]) { Foundation.send(controller, octets, octets.count, 0) }

        func send(_ packet: HCIPacket) { watched.send(packet) }

        func resetDevice() async -> DeviceReset? { await watched.resetDevice() }

        var written: [[UInt8]] { kernel.state.withLock { $0.written } }
    }

    private static let reset: [UInt8] = [1, 3, 0x0C, 0]
    private static func data(_ count: Int) -> HCIPacket {
        HCIPacket(
            .acl,
            PacketBuffer([0x40, 0, UInt8(count & 0xFF), UInt8(count >> 8)] + [UInt8](repeating: 7, count: count))
        )
    }

    @Test func aPacketIsOneWriteAndOneRead() async throws {
        let line = try await Line()
        #expect(line.transport.with { $0.place } == "hci0")
        for count in [0, 27, 1_023] { line.send(Self.data(count)) }
        #expect(line.written.map(\.count) == [4, 5, 32, 1_028])
        #expect(line.written.first == Self.reset)
        var octets = [UInt8](repeating: 0, count: 2_000)
        // As many reads as there were writes: none was merged with another.
        #expect((0..<4).map { _ in read(line.controller, &octets, octets.count) } == [4, 5, 32, 1_028])
        line.say([4, 0x0E, 1, 9])
        line.say([4, 0x0F, 0])
        #expect(await line.next() == .received(HCIPacket(.event, [0x0E, 1, 9])))
        #expect(await line.next() == .received(HCIPacket(.event, [0x0F, 0])))
    }

    @Test func closingGivesTheAdapterBackAtOnce() async throws {
        let line = try await Line()
        line.transport.with { $0.close() }
        #expect(line.kernel.takeAsked().last == "close hci0")
        // The other end is closed for both writing and reading.
        var octets = [UInt8](repeating: 0, count: 16)
        #expect(read(line.controller, &octets, octets.count) == 4)
        #expect(read(line.controller, &octets, octets.count) == 0)
        line.send(HCIPacket(Reset()))
        #expect(line.written.count == 1)
    }

    @Test(
        "AB-H02: a read that is not a packet closes the transport",
        arguments: [
            [4, 0x0E], [4, 0x0E, 2, 1], [4, 0x0E, 0, 4, 0x0E, 0], [4, 0x0E, 0, 4], [4], [9, 1, 2],
            [UInt8](repeating: 4, count: 4_097),
        ] as [[UInt8]]
    )
    func aReadThatIsNoPacketEndsTheLine(octets: [UInt8]) async throws {
        let line = try await Line()
        line.say(octets)
        guard case .closed(.malformed) = await line.next() else {
            return recordIssue("\(octets.count) octets were taken for a packet")
        }
        #expect(line.kernel.takeAsked().last == "close hci0")
    }

    @Test func theLongestPacketOfTheKernelIsRead() async throws {
        let line = try await Line()
        line.say([2] + Self.data(4_091).bytes.bytes)
        #expect(await line.next() == .received(Self.data(4_091)))
    }

    @Test func anAdapterThatIsUnpluggedEndsTheLine() async throws {
        let line = try await Line()
        shutdown(line.controller, Int32(SHUT_RDWR))
        #expect(await line.next() == .closed(.closedByPeer))
        #expect(line.kernel.takeAsked().last == "close hci0")
    }

    @Test func anEmptyReadEndsTheLine() async throws {
        let line = try await Line()
        line.say([])
        #expect(await line.next() == .closed(.closedByPeer))
    }

    @Test("a failed write closes the transport", arguments: [ENETDOWN, ENODEV, EPIPE, EIO])
    func aWriteThatFailsEndsTheLine(code: Int32) async throws {
        let line = try await Line()
        line.kernel.state.withLock { $0.writeErrors = [code] }
        line.send(HCIPacket(Reset()))
        let isPlug = code != EIO
        #expect(await line.next() == .closed(isPlug ? .closedByPeer : .failed(reason: String(cString: strerror(code)))))
    }

    @Test(
        "packets from a controller whose adapter is not open are lost, and the transport stays open",
        arguments: [true, false]
    )
    func aControllerWithoutAHost(isController: Bool) async throws {
        let kernel = StandInKernel([0: .init()])
        let loop = NIOEventLoop()
        let socket = try kernel.openSocket()
        try kernel.bind(socket, to: 0, channel: .user)
        let (errors, continuation) = AsyncStream<HCITransportError?>.makeStream()
        loop.submitAndWait {
            UserChannelTransport.attach(
                socket,
                place: "hci0",
                as: isController ? .controller : .host,
                calls: kernel,
                loop: loop
            ) { result in
                guard case .success(let line) = result else { return }
                line.onClose = { continuation.yield($0) }
                kernel.state.withLock { $0.writeErrors = [ENXIO] }
                line.send(HCIPacket(.event, [0x05, 4, 0, 0x40, 0, 0x13]))
                line.send(HCIPacket(.event, [0x0E, 1, 9]))
                // After the effects of the first one.
                loop.schedule(after: .milliseconds(1)) {
                    withExtendedLifetime(line) {}
                    continuation.yield(nil)
                }
            }
        }
        let reason = String(cString: strerror(ENXIO))
        for await error in errors {
            #expect(error == (isController ? nil : .failed(reason: reason)))
            break
        }
        #expect(kernel.state.withLock { $0.written.last } == [4, 0x0E, 1, 9])
    }

    @Test func blockedPacketsAreSentLaterInOrder() async throws {
        let line = try await Line()
        line.kernel.state.withLock { $0.writeErrors = [EAGAIN] }
        // There is space again for the second packet, but it waits nevertheless.
        line.transport.with { transport in
            for count in 1...3 { transport.send(Self.data(count)) }
        }
        while line.written.count < 4 { await Task.yield() }
        #expect(line.written.map(\.count) == [4, 6, 7, 8])
    }

    @Test func aKernelThatTakesNothingMoreEndsTheLine() async throws {
        let line = try await Line()
        line.kernel.state.withLock { $0.writeErrors = [Int32](repeating: EAGAIN, count: 1_000_000) }
        for _ in 0...UserChannelTransport.maximumUnsent { line.send(HCIPacket(Reset())) }
        #expect(await line.next() == .closed(.failed(reason: "the kernel does not accept any more packets")))
    }

    @Test("a packet that the kernel would reject is not written", arguments: [1_024, 4_000])
    func aPacketThatIsTooLongEndsTheLine(count: Int) async throws {
        let line = try await Line()
        line.send(Self.data(count))
        guard case .closed(.failed) = await line.next() else {
            return recordIssue("a packet with \(count) octets went through")
        }
        #expect(line.written.count == 1)
    }

    @Test func theLineSaysWhatGoesThroughIt() async throws {
        let line = try await Line()
        #expect(line.transport.with { $0.maximumACLPayload } == 1_023)
        let loop = line.loop
        let snooped = line.transport.with { line in
            SnoopingTransport(line, end: .host, loop: loop) { _, _, _ in }.maximumACLPayload
        }
        #expect(snooped == 1_023)
    }

    @Test func anAdapterThatCannotBeHadIsTold() async throws {
        let files = try TemporaryDirectory.kernelFiles()
        let kernel = StandInKernel(openError: EAFNOSUPPORT)
        let loop = NIOEventLoop()
        let error = await withCheckedContinuation { continuation in
            loop.submitAndWait {
                let adapters = KernelAdapters(calls: kernel, sysfs: files.path, proc: files.path)
                let line = ControllerTransport(.adapter(.first), loop: loop, finder: ControllerFinder(adapters))
                line.onClose = { continuation.resume(returning: $0) }
            }
        }
        #expect(error == .unreachable(address: "hci", reason: UserChannelError.noBluetooth.description))
    }

    @Test func aDeviceIsResetOnceTheAdapterIsTheKernels() async throws {
        let line = try await Line()
        _ = line.kernel.takeAsked()
        #expect(await line.resetDevice() == .done)
        #expect(line.kernel.takeAsked() == ["close hci0", "up hci0", "down hci0"])
    }
}
