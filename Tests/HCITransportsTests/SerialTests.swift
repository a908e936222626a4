import BluetoothTypes
import EventLoops
import Foundation
import HCI
import Testing

@testable import HCITransports

/// Serial ports: addresses and rates, with pseudo-terminals of this machine as the ports.
@Suite struct SerialTests {
    @Test func addressesAreReadAndWritten() throws {
        let ports: [(String, SerialOptions)] = [
            ("serial:/dev/ttyUSB0", SerialOptions(path: "/dev/ttyUSB0")),
            ("serial:/dev/ttyUSB0,1000000", SerialOptions(path: "/dev/ttyUSB0", rate: 1_000_000)),
            ("serial:/dev/ttyACM0,h5", SerialOptions(path: "/dev/ttyACM0", isThreeWire: true)),
            ("serial:/dev/a,115200,h5", SerialOptions(path: "/dev/a", rate: 115_200, isThreeWire: true)),
        ]
        for (text, options) in ports {
            #expect(try ControllerAddress(text) == .serial(options))
            #expect(ControllerAddress.serial(options).description == text)
        }
        #expect(try ControllerAddress("serial:/dev/a,h4") == .serial(SerialOptions(path: "/dev/a")))
        #expect(try ControllerAddress("unix:/run/x") == .unix(path: "/run/x"))
        #expect(try ControllerAddress("-") == .standard)
        for text in [
            "serial", "serial:", "serial:/dev/a,7", "serial:/dev/a,h6", "serial:/dev/a,h5,115200", "serial:,1",
        ] {
            #expect(throws: ControllerAddress.ParseError.serial(text)) { try ControllerAddress(text) }
        }
        for text in ["unix:", "-x", "unix"] {
            #expect(throws: ControllerAddress.ParseError.unknownForm(text)) { try ControllerAddress(text) }
        }
    }

    @Test func everyRateThatMayBeAskedForCanBeHad() throws {
        let terminal = try #require(PseudoTerminal())
        let port = try SerialPort(path: terminal.path, hasFlowControl: true)
        defer { close(port.descriptor) }
        for rate in SerialOptions.rates { #expect(throws: Never.self) { try port.set(rate: rate) } }
        #expect(Set(SerialOptions.probed).isSubset(of: SerialOptions.rates))
        #expect(throws: SerialPort.Failure.rate(7, path: terminal.path)) { try port.set(rate: 7) }
    }

    @Test("a port that cannot be opened is reported with advice")
    func unopenablePortsAreReportedWithAdvice() throws {
        func reason(_ path: String) -> String? {
            do throws(SerialPort.Failure) {
                close(try SerialPort(path: path, hasFlowControl: false).descriptor)
                return nil
            } catch {
                return "\(error)"
            }
        }
        #expect(reason("/dev/nothing")?.contains("is the device plugged in?") == true)
        #expect(reason("/dev/null")?.contains("is not a serial port") == true)
        let terminal = try #require(PseudoTerminal())
        let port = try SerialPort(path: terminal.path, hasFlowControl: false)
        #expect(reason(terminal.path)?.contains("in use by another program") == true)
        close(port.descriptor)
        #expect(reason(terminal.path) == nil)
    }

    @Test("a port passes octets unchanged, including those with a meaning to terminals")
    func octetsPassAsTheyAre() throws {
        let terminal = try #require(PseudoTerminal())
        let port = try SerialPort(path: terminal.path, hasFlowControl: false)
        defer { close(port.descriptor) }
        let own = terminal.take()
        defer { close(own) }
        let all = (0...255).map { UInt8($0) }
        #expect(write(own, all, 256) == 256)
        var read: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 256)
        while read.count < 256 {
            var ready = pollfd(fd: port.descriptor, events: Int16(POLLIN), revents: 0)
            try #require(poll(&ready, 1, 10_000) == 1)
            let count = Foundation.read(port.descriptor, &buffer, 256)
            try #require(count > 0)
            read += buffer[..<count]
        }
        #expect(read == all)
    }

    private static let resetDone: [UInt8] = [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00]

    @Test(
        "the baud rate is detected by the controller's answer, and not found without an answer",
        arguments: [false, true]
    )
    func aRateIsFound(isThreeWire: Bool) {
        for understood in [115_200, 3_000_000, 7] {
            let loop = VirtualEventLoop()
            let line = TestLine()
            let answer = isThreeWire ? SLIPFrames.sync.bytes : Self.resetDone
            var current = 0
            line.onSend = { [unowned line] _ in
                line.onReceive?(current == understood ? answer : [0xFE, 0x00, 0xC0, 0x81])
            }
            var found: [Int?] = []
            // This machine does not support one of the rates.
            let set = { (rate: Int) -> Bool in
                current = rate
                return rate != 921_600
            }
            _ = RateProbe(line, rates: SerialOptions.probed, isThreeWire: isThreeWire, loop: loop, set: set) {
                found.append($0)
            }
            loop.run(for: .seconds(20))
            #expect(found == [understood == 7 ? nil : understood])
            #expect(line.sent.count == (understood == 115_200 ? 1 : understood == 7 ? 7 : 3))
        }
    }

    @Test(
        "a virtual controller at the other end of a terminal answers a host, by either protocol",
        arguments: [false, true]
    )
    func aControllerBehindATerminal(isThreeWire: Bool) async throws {
        let (terminal, loop) = (try #require(PseudoTerminal()), NIOEventLoop())
        let options = SerialOptions(path: terminal.path, rate: isThreeWire ? 115_200 : nil, isThreeWire: isThreeWire)
        let far = Far()
        let answer: HCIPacket? = await withCheckedContinuation { continuation in
            loop.submit {
                ChannelLine.device(terminal.take(), place: "terminal", loop: loop) { result in
                    guard case .success(let line) = result else { return }
                    let transport: any HCITransport =
                        isThreeWire ? ThreeWireTransport(line, loop: loop) : H4Transport(line)
                    transport.onReceive = { [unowned transport] packet in
                        if packet.kind == .command { transport.send(HCIPacket(.event, [0x0E, 0x04, 1, 3, 0x0C, 0])) }
                    }
                    far.ends.append(transport)
                    let host = ControllerTransport(.serial(options), loop: loop)
                    host.onReceive = { continuation.resume(returning: $0) }
                    host.onClose = { _ in continuation.resume(returning: nil) }
                    host.send(HCIPacket(Reset()))
                    far.ends.append(host)
                }
            }
        }
        #expect(answer == HCIPacket(.event, [0x0E, 0x04, 1, 3, 0x0C, 0]))
        await withCheckedContinuation { continuation in
            loop.submit {
                // A transport that is still open would report that its other end is gone.
                for end in far.ends.reversed() { end.close() }
                far.ends = []
                continuation.resume()
            }
        }
        // A terminal that no process has open is hung up.
        withExtendedLifetime(terminal) {}
    }

    /// Objects that live on the event loop of a test.
    private final class Far: @unchecked Sendable {
        // Safe: touched on the loop only.
        var ends: [any HCITransport] = []
    }
}
