import BluetoothTypes
import EventLoops
import HCI
import Testing

@testable import HCITransports

@Suite struct DongleTransportTests {
    @Test("events are delayed as configured and stay in order, and data do not wait for them")
    func eventsComeLate() {
        let (loop, kernel) = (VirtualEventLoop(), TestLine())
        let dongle = DongleTransport(kernel, behaviour: .init(eventDelay: .milliseconds(20)), loop: loop)
        for sequence in 1...2 as ClosedRange<UInt8> { kernel.read(1, sequence) }
        kernel.read(2, 3)
        dongle.send(HCIPacket(.event, [0x3E, 0]))
        loop.run(for: .milliseconds(5))
        dongle.send(HCIPacket(.event, [0x10, 1, 9]))
        dongle.send(HCIPacket(.acl, [0x40, 0, 0, 0]))
        loop.run(for: .milliseconds(14))
        #expect(kernel.ended == [3])
        loop.run(for: .milliseconds(1))
        #expect(kernel.ended == [3, 1])
        loop.run(for: .milliseconds(5))
        #expect(kernel.ended == [3, 1, 2])
        #expect(kernel.octets.suffix(3) == [0x10, 1, 9])
    }

    /// A control transfer that sends octets to the dongle.
    private static func control(_ setup: [UInt8], _ octets: [UInt8] = []) -> [UInt8] {
        [0, 0, 0, 1, 0, 0, 0, 9] + [UInt8](repeating: 0, count: 16) + [0, 0, 0, UInt8(octets.count)]
            + [UInt8](repeating: 0, count: 12) + setup + octets
    }

    private static let configure = control([0, 9, 1, 0, 0, 0, 0, 0])
    private static let command = control([0x20, 0, 0, 0, 0, 0, 3, 0], [3, 12, 0])

    @Test("a muted dongle accepts commands without answering until its port is reset and configured again")
    func aDongleFallsMuteUntilItIsReset() {
        let (loop, kernel) = (VirtualEventLoop(), TestLine())
        let dongle = DongleTransport(kernel, behaviour: .init(muteAfter: 2), loop: loop)
        var (commands, moods) = (0, [Bool]())
        dongle.onReceive = { _ in commands += 1 }
        dongle.onMuteChange = { moods.append($0) }
        kernel.onReceive?(Self.configure)
        for _ in 0..<2 { kernel.onReceive?(Self.command) }
        #expect(commands == 2)
        #expect(moods == [])
        kernel.onReceive?(Self.command)
        #expect(commands == 2)
        #expect(moods == [true])
        kernel.read(1, 1)
        dongle.send(HCIPacket(.event, [0x3E, 0]))
        // The transfers of the commands have completed, the read has not.
        #expect(kernel.octets.count == 4 * 48)
        // Selecting no configuration is not a reset.
        kernel.onReceive?(Self.control([0, 9, 0, 0, 0, 0, 0, 0]))
        #expect(moods == [true])
        kernel.onReceive?(Self.configure)
        #expect(moods == [true, false])
        dongle.send(HCIPacket(.event, [0x3E, 0]))
        #expect(kernel.octets.count == 6 * 48 + 50)
        #expect(kernel.octets.suffix(2) == [0x3E, 0])
        for _ in 0..<10 { kernel.onReceive?(Self.command) }
        #expect(commands == 12)
        #expect(moods.count == 2)
    }

    @Test func malformedRequestsUnplugTheDongle() {
        let (loop, kernel) = (VirtualEventLoop(), TestLine())
        let dongle = DongleTransport(kernel, loop: loop)
        var ends: [HCITransportError] = []
        dongle.onClose = { ends.append($0) }
        kernel.onReceive?([UInt8](repeating: 0xFF, count: 100))
        #expect(ends == [.malformed(PacketError(.value(0xFFFF_FFFF), at: "USB/IP command"))])
        #expect(!kernel.isOpen)
    }

    @Test func eventsThatWaitAreBounded() {
        let (loop, kernel) = (VirtualEventLoop(), TestLine())
        let dongle = DongleTransport(kernel, behaviour: .init(eventDelay: .seconds(1)), loop: loop)
        for number in 1...UInt8.max { kernel.read(1, number) }
        for _ in 0..<10_000 { dongle.send(HCIPacket(.event, [0x3E, 0])) }
        loop.run(for: .seconds(2))
        #expect(kernel.ended.count == 255)
        dongle.close()
        #expect(!kernel.isOpen)
    }
}

/// The kernel's end of the connection.
extension TestLine {
    /// Requests a packet from an endpoint.
    fileprivate func read(_ endpoint: UInt8, _ sequence: UInt8) {
        onReceive?(
            [0, 0, 0, 1, 0, 0, 0, sequence, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, endpoint] + [0, 0, 0, 0, 0, 0, 0, 64]
                + [UInt8](repeating: 0, count: 20)
        )
    }

    /// The numbers of the completed transfers, in order.
    fileprivate var ended: [UInt8] {
        var (numbers, rest) = ([UInt8](), octets[...])
        while rest.count >= 48 {
            let header = Array(rest.prefix(48))
            numbers.append(header[7])
            rest = rest.dropFirst(48 + Int(header[27]))
        }
        return numbers
    }
}
