import EventLoops
import Foundation
import HCI
import StandInKernel
import StandInUSB
import Synchronization
import TestBasics
import Testing

@testable import HCITransports

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

@Suite struct ControllerTransportTests {
    @Test(
        "an unreachable controller is reported, even if that is known at once",
        arguments: [
            "unix:/nowhere/at/all", "serial:/dev/nothing-at-all", "serial:/dev/null,115200,h5", "tcp:127.0.0.1:1",
        ]
    )
    func unreachableControllersAreReported(text: String) async throws {
        let (address, loop) = (try ControllerAddress(text), NIOEventLoop())
        let error: HCITransportError = await withCheckedContinuation { continuation in
            loop.submit {
                let transport = ControllerTransport(address, loop: loop)
                // The transport lives until it has reported its end.
                transport.onClose = { error in
                    withExtendedLifetime(transport) { continuation.resume(returning: error) }
                }
            }
        }
        guard case .unreachable(address: text, reason: _) = error else { return recordIssue("\(error)") }
    }

    @Test func aLineSaysThatItIsOpeningUntilItIsOpenOrClosed() async throws {
        let usb = StandInUSB([StandInUSB.controller()])
        let loop = NIOEventLoop()
        let (states, continuation) = AsyncStream<Bool>.makeStream()
        let line = loop.make {
            let adapters = KernelAdapters(calls: StandInKernel(openError: 97), sysfs: "/nowhere", proc: "/nowhere")
            let line = ControllerTransport(.usb(.first), loop: loop, finder: ControllerFinder(adapters, usb: usb))
            let shown = SnoopingTransport(line, end: .host, loop: loop) { _, _, _ in }
            continuation.yield(shown.isOpening)
            return shown
        }
        for await isOpening in states {
            #expect(isOpening)
            break
        }
        while usb.takeAsked().last != "claim 0" { await Task.yield() }
        while line.with({ $0.isOpening }) { await Task.yield() }
        line.with { $0.close() }
        #expect(!line.with { $0.isOpening })
    }

    // MARK: Device resets

    /// Returns the result of resetting the device behind a transport that failed to open or is still opening.
    private func reset(_ text: String, _ finder: ControllerFinder, waitsForEnd: Bool) async throws -> DeviceReset {
        let (address, loop) = (try ControllerAddress(text), NIOEventLoop())
        return await withCheckedContinuation { continuation in
            loop.submit {
                let transport = ControllerTransport(address, loop: loop, finder: finder)
                let reset = {
                    transport.resetDevice { result in
                        withExtendedLifetime(transport) { continuation.resume(returning: result) }
                    }
                }
                if waitsForEnd { transport.onClose = { _ in reset() } } else { reset() }
            }
        }
    }

    @Test(
        "the device behind a transport that never opened is reset: the one named by the address",
        arguments: [true, false]
    )
    func theDeviceOfALineThatNeverOpenedIsReset(waitsForEnd: Bool) async throws {
        let files = try TemporaryDirectory.kernelFiles()
        try files.addUSBAdapter("hci0", port: "1-2", product: "Dongle")
        for (name, number) in [("busnum", 1), ("devnum", 12)] {
            try files.write("\(number)\n", to: "devices/pci0000:00/0000:00:14.0/usb1/1-2/\(name)")
        }
        let kernel = StandInKernel([0: .init(bus: 1)])
        let usb = StandInUSB([StandInUSB.controller()])
        let adapters = KernelAdapters(calls: kernel, sysfs: files.path, proc: files.path)
        let finder = ControllerFinder(adapters, usb: usb)
        if waitsForEnd {
            kernel.state.withLock { $0.bindErrors = [EIO] }
            usb.state.withLock { $0.openErrors = [.busy] }
        }
        #expect(try await reset("hci0", finder, waitsForEnd: waitsForEnd) == .done)
        #expect(kernel.takeAsked().last == "reset /dev/bus/usb/001/012")
        #expect(try await reset("usb", finder, waitsForEnd: waitsForEnd) == .done)
        #expect(usb.takeAsked().filter { $0 == "reset" }.count == 1)
    }

    @Test func adaptersInUseAreNotReset() async throws {
        let kernel = StandInKernel([0: .init(bus: 1, isUp: true, isTaken: true)])
        let finder = ControllerFinder(KernelAdapters(calls: kernel, sysfs: "/nowhere", proc: "/nowhere"))
        guard case .failed(let reason) = try await reset("hci0", finder, waitsForEnd: true) else {
            return #expect(Bool(false))
        }
        #expect(reason.contains("another program has exclusive access to hci0"))
        #expect(kernel.takeAsked() == [])
        guard case .failed(let none) = try await reset("hci7", finder, waitsForEnd: true) else {
            return #expect(Bool(false))
        }
        #expect(none.contains("hci7"))
    }

    @Test("plain octet streams offer no device reset", arguments: ["tcp:127.0.0.1:1", "unix:/nowhere"])
    func noResetLeadsThroughOctets(text: String) async throws {
        #expect(try await reset(text, ControllerFinder(), waitsForEnd: true) == .impossible)
    }

    @Test("AB-H08: a controller is where its address says", arguments: ["tcp:127.0.0.1:1", "tcp:[::1]:1"])
    func aControllerIsWhereItsAddressSays(text: String) throws {
        let address = try ControllerAddress(text)
        let loop = NIOEventLoop()
        let transport = loop.make { ControllerTransport(address, loop: loop) }
        #expect(transport.with { $0.place } == text)
        transport.with { $0.close() }
    }

    /// A program that is killed before it has read everything resets its connections (RFC 9293 3.10.4).
    @Test func aResetConnectionIsClosedByThePeer() async throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        try #require(listen(listener, 1) == 0)
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutableBytes(of: &address) { octets in
            octets.withMemoryRebound(to: sockaddr.self) { getsockname(listener, $0.baseAddress, &length) }
        }
        let port = Int(UInt16(bigEndian: address.sin_port))
        let line = WatchedTransport(.tcp(host: "127.0.0.1", port: port), ControllerFinder())
        let accepted = accept(listener, nil, nil)
        var command = pollfd(fd: accepted, events: Int16(POLLIN), revents: 0)
        try #require(poll(&command, 1, -1) == 1)
        close(accepted)
        #expect(await line.next() == .closed(.closedByPeer))
    }
}
