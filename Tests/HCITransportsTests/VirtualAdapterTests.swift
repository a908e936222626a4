import BluetoothTypes
import Foundation
import HCI
import Testing

@testable import HCITransports

/// Kernel adapters without hardware, with a terminal in place of the kernel's device file.
@Suite struct VirtualAdapterTests {
    private let terminal: PseudoTerminal
    private let kernel: Int32

    init() throws {
        terminal = try #require(PseudoTerminal())
        kernel = terminal.take()
    }

    private func say(_ octets: [UInt8]) { _ = write(kernel, octets, octets.count) }

    private func heard() -> [UInt8] {
        var octets = [UInt8](repeating: 0, count: 100)
        let count = read(kernel, &octets, octets.count)
        return Array(octets.prefix(max(0, count)))
    }

    @Test("an adapter is requested, and gets the number that the kernel assigns")
    func anAdapterIsMade() throws {
        defer { close(kernel) }
        say([0xFF, 0, 0x02, 0x01])
        let made = try VirtualAdapter.make(at: terminal.path)
        #expect(made.number == 0x0102)
        #expect(heard() == [0xFF, 0])
        close(made.descriptor)
    }

    @Test(
        "a file that is not a virtual adapter is reported",
        arguments: [[0xFF, 1, 0, 0], [0xFF, 0, 0], [4, 0x0E, 1, 1], []]
    )
    func otherFilesAreReported(answer: [UInt8]) {
        defer { close(kernel) }
        say(answer)
        let failure =
            answer.isEmpty
            ? VirtualAdapter.Failure.failed(asked: terminal.path, code: EAGAIN)
            : .unknownAnswer(path: terminal.path, octets: answer)
        #expect(throws: failure) { try VirtualAdapter.make(at: terminal.path) }
    }

    @Test("each error comes with advice")
    func eachReasonSaysWhatToDo() {
        defer { close(kernel) }
        let missing = "/dev/there-is-no-such-file"
        #expect(throws: VirtualAdapter.Failure.noModule(path: missing)) { try VirtualAdapter.make(at: missing) }
        #expect("\(VirtualAdapter.Failure.noModule(path: missing))".contains("modprobe hci_vhci"))
        #expect("\(VirtualAdapter.Failure.noPermission(path: "/dev/vhci"))".contains("sudo"))
    }

    @Test("packets go to the device file one by one")
    func packetsGoToADevice() async throws {
        say([0xFF, 0, 0, 0])
        let made = try VirtualAdapter.make(at: terminal.path)
        _ = heard()
        let loop = NIOEventLoop()
        let calls = LinuxCalls(ofDevice: true)
        let (packets, continuation) = AsyncStream<HCIPacket>.makeStream()
        loop.submit {
            UserChannelTransport.attach(made.descriptor, place: "vhci", calls: calls, loop: loop) { result in
                guard case .success(let line) = result else { return continuation.finish() }
                line.onReceive = { packet in
                    continuation.yield(packet)
                    line.send(HCIPacket(.event, [0x0E, 1, 9]))
                }
            }
        }
        say([1, 3, 0x0C, 0])
        for await packet in packets {
            #expect(packet == HCIPacket(Reset()))
            break
        }
        #expect(heard() == [4, 0x0E, 1, 9])
        close(kernel)
    }
}
