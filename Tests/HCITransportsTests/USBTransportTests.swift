import BluetoothTypes
import EventLoops
import Foundation
import HCI
import StandInKernel
import StandInUSB
import Synchronization
import TestBasics
import Testing

@testable import HCITransports

@Suite struct USBTransportTests {
    /// A transport to a controller, and the stand-in at its other end.
    private final class Line: Sendable {
        private let watched: WatchedTransport
        let usb: StandInUSB
        let kernel: StandInKernel
        let connection: StandInConnection

        init(
            isSerialized: Bool = false,
            kernel: StandInKernel = StandInKernel(openError: 97),
            files: TemporaryDirectory? = nil
        )
            async throws
        {
            let usb = StandInUSB([StandInUSB.controller(isSerialized: isSerialized)])
            (self.usb, self.kernel) = (usb, kernel)
            let path = files?.path ?? "/nowhere"
            let adapters = KernelAdapters(calls: kernel, sysfs: path, proc: path)
            watched = WatchedTransport(.usb(.first), ControllerFinder(adapters, usb: usb))
            while usb.state.withLock({ $0.connections.first?.written.isEmpty ?? true }) { await Task.yield() }
            connection = try #require(usb.state.withLock { $0.connections.first })
        }

        var transport: LoopBound<ControllerTransport> { watched.transport }

        func next() async -> WatchedTransport.Event? { await watched.next() }

        func send(_ packet: HCIPacket) { watched.send(packet) }

        func resetDevice() async -> DeviceReset? { await watched.resetDevice() }

        /// Waits until the device has been released.
        func end() async { while !connection.isClosed { await Task.yield() } }

        var violations: [String] { usb.state.withLock { $0.violations } }
    }

    private static let resetDone: [UInt8] = [0x0E, 4, 1, 3, 0x0C, 0]
    private static let inOrder = ["cancel", "release 0", "attach 0", "close"]

    private static func data(_ count: Int) -> HCIPacket {
        HCIPacket(
            .acl,
            PacketBuffer([0x40, 0, UInt8(count & 0xFF), UInt8(count >> 8)] + [UInt8](repeating: 7, count: count))
        )
    }

    @Test func packetsGoBothWaysWithThreeReadsUnderWay() async throws {
        let line = try await Line()
        #expect(line.transport.with { $0.place } == "usb:1-2")
        #expect(line.connection.written.first?.content == .write([0x20, 0, 0, 0, 0, 0, 3, 0, 3, 0x0C, 0]))
        line.connection.complete(0, .written(3))
        for part in [Self.resetDone.prefix(2), Self.resetDone.dropFirst(2)] {
            line.connection.complete(0x81, .read(Array(part)))
        }
        #expect(await line.next() == .received(HCIPacket(.event, PacketBuffer(Self.resetDone))))
        let octets = Self.data(200).bytes.bytes
        for start in stride(from: 0, to: octets.count, by: 64) {
            while !line.connection.complete(0x82, .read(Array(octets[start..<min(start + 64, octets.count)]))) {
                await Task.yield()
            }
        }
        #expect(await line.next() == .received(Self.data(200)))
        while line.connection.underWay(0x82) < 3 { await Task.yield() }
        #expect(line.connection.most(0x81) == 3)
        #expect(line.connection.most(0x82) == 3)
    }

    @Test(
        "an empty packet terminates data whose last packet is full, and no others",
        arguments: [59, 60, 61, 124]
    )
    func anEmptyPacketMarksTheEnd(count: Int) async throws {
        let line = try await Line()
        line.send(Self.data(count))
        let written = try #require(line.connection.written.last)
        #expect(written.content == .write(Self.data(count).bytes.bytes))
        #expect(written.marksEnd == ((count + 4) % 64 == 0))
        #expect(written.timeout == USBLink.writeTimeout)
    }

    @Test("closing is orderly: transfers return, the driver gets its interface back, and then the device is closed")
    func theEndIsInOrder() async throws {
        let line = try await Line()
        _ = line.usb.takeAsked()
        line.transport.with { $0.close() }
        await line.end()
        #expect(line.usb.takeAsked() == Self.inOrder)
        #expect(line.violations.isEmpty)
        #expect(line.usb.state.withLock { $0.driven } == [0])
        line.send(HCIPacket(Reset()))
        #expect(line.connection.written.count == 1)
    }

    @Test("unplugging a controller closes the transport, whatever is in flight", arguments: 0..<6)
    func unpluggingEndsTheLine(instant: Int) async throws {
        let line = try await Line()
        if instant > 0 { line.connection.complete(0, .written(3)) }
        if instant > 1 { line.connection.complete(0x81, .read(Array(Self.resetDone.prefix(3)))) }
        if instant > 2 {
            line.connection.complete(0x81, .read(Array(Self.resetDone.dropFirst(3))))
            // A read that is submitted after the unplugging fails, and ends the line before what is still due.
            #expect(await line.next() == .received(HCIPacket(.event, PacketBuffer(Self.resetDone))))
        }
        if instant > 3 { line.send(Self.data(100)) }
        if instant > 4 { line.connection.complete(0x82, .read([0x40, 0, 9])) }
        line.connection.unplug()
        #expect(await line.next() == .closed(.closedByPeer))
        await line.end()
        #expect(line.violations.isEmpty)
    }

    @Test func anEndpointThatHasStalledGoesOn() async throws {
        let line = try await Line()
        for _ in 1...3 { line.connection.complete(0x81, .stalled) }
        while !line.connection.complete(0x81, .read(Self.resetDone)) { await Task.yield() }
        #expect(await line.next() == .received(HCIPacket(.event, PacketBuffer(Self.resetDone))))
        #expect(line.usb.takeAsked().contains("clear 129"))
    }

    @Test("Core 6.2 Vol 4 Part B: Bulk Serialization Mode is selected where it is offered, and left at the end")
    func bulkSerializationModeIsChosen() async throws {
        let line = try await Line(isSerialized: true)
        #expect(line.connection.written.first?.content == .write([1, 3, 0x0C, 0]))
        #expect(line.connection.underWay(0x81) == 0)
        line.connection.complete(0x82, .read([4] + Self.resetDone))
        #expect(await line.next() == .received(HCIPacket(.event, PacketBuffer(Self.resetDone))))
        _ = line.usb.takeAsked()
        line.transport.with { $0.close() }
        await line.end()
        #expect(line.usb.takeAsked() == ["cancel", "select 0 of 0", "release 0", "attach 0", "close"])
    }

    @Test("closing the transport during the delivery of a packet stops all further deliveries")
    func closingStopsDeliveries() async throws {
        let line = try await Line()
        let count = Counter()
        line.transport.with { transport in
            transport.onReceive = { [weak transport] _ in
                count.value += 1
                transport?.close()
            }
            transport.onClose = { _ in count.value += 100 }
        }
        line.connection.complete(0x81, .read(Self.resetDone + Self.resetDone))
        await line.end()
        #expect(line.transport.with { _ in count.value } == 1)
    }

    // Safe: touched on the loop alone.
    private final class Counter: @unchecked Sendable { var value = 0 }

    @Test func aControllerThatCannotBeHadIsTold() async throws {
        let loop = NIOEventLoop()
        let error: HCITransportError = await withCheckedContinuation { continuation in
            loop.submitAndWait {
                let finder = ControllerFinder(usb: StandInUSB())
                let line = ControllerTransport(.usb(.number(2)), loop: loop, finder: finder)
                line.onClose = { error in withExtendedLifetime(line) { continuation.resume(returning: error) } }
            }
        }
        guard case .unreachable(address: "usb:2", reason: let reason) = error else { return recordIssue("\(error)") }
        #expect(reason.contains("lsusb"))
    }

    // MARK: Resets

    @Test(
        "a device is reset once all transfers have returned, and before the kernel's driver is bound",
        arguments: [false, true]
    )
    func aDeviceIsResetBeforeItGoesBack(isSerialized: Bool) async throws {
        let line = try await Line(isSerialized: isSerialized)
        _ = line.usb.takeAsked()
        #expect(await line.resetDevice() == .done)
        let setting = isSerialized ? ["select 0 of 0"] : []
        #expect(line.usb.takeAsked() == ["cancel"] + setting + ["release 0", "reset", "attach 0", "close"])
        #expect(line.violations.isEmpty)
        #expect(line.usb.state.withLock { $0.driven } == [0])
    }

    @Test func resetResultsAreReported() async throws {
        // A device that re-enumerates as another device has been reset.
        for (error, isDone) in [(USBCallError.notFound, true), (.noDevice, false), (USBCallError(-1), false)] {
            let line = try await Line()
            line.usb.state.withLock { $0.resetErrors = [error] }
            let result = await line.resetDevice()
            #expect((result == .done) == isDone)
            if case .failed(let reason)? = result { #expect(reason.contains(error.words) && reason.contains("plug")) }
            #expect(line.usb.takeAsked().suffix(3) == ["reset", "attach 0", "close"])
        }
    }

    @Test("a device whose transport has failed is opened again for its reset, and released afterwards")
    func aDeviceIsResetThoughItsLineHasFailed() async throws {
        let line = try await Line()
        for _ in 0...USBMachine.maximumFailures {
            while !line.connection.complete(0x81, .failed(-1)) { await Task.yield() }
        }
        guard case .closed(.failed) = await line.next() else { return #expect(Bool(false)) }
        await line.end()
        _ = line.usb.takeAsked()
        #expect(await line.resetDevice() == .done)
        #expect(
            line.usb.takeAsked() == ["open 1-2", "detach 0", "claim 0", "release 0", "reset", "attach 0", "close"]
        )
        #expect(line.violations.isEmpty)
        #expect(line.usb.state.withLock { $0.driven } == [0])
    }

    @Test("a device that another program has opened in the meantime is not reset")
    func aDeviceOfSomebodyElseIsNotReset() async throws {
        let files = try TemporaryDirectory.kernelFiles()
        try files.addUSBAdapter("hci0", port: "1-2", product: "Dongle")
        let line = try await Line(kernel: StandInKernel([0: .init(bus: 1)]), files: files)
        line.transport.with { $0.close() }
        await line.end()
        line.kernel.state.withLock { $0.adapters[0] = .init(bus: 1, isUp: true, isTaken: true) }
        _ = line.usb.takeAsked()
        guard case .failed(let reason)? = await line.resetDevice() else { return #expect(Bool(false)) }
        #expect(reason.contains("another program has exclusive access to hci0"))
        #expect(line.usb.takeAsked() == [])
        // Over USB, the kernel reports it.
        line.kernel.state.withLock { $0.adapters = [:] }
        line.usb.state.withLock { ($0.driven, $0.claimErrors) = ([], [.busy]) }
        guard case .failed(let busy)? = await line.resetDevice() else { return #expect(Bool(false)) }
        #expect(busy.contains("another program uses usb:1-2"))
        #expect(line.usb.takeAsked() == ["open 1-2", "claim 0", "close"])
    }
}
