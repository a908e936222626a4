import BluetoothTypes
import EventLoops
import HCI

@testable import HCITransports

extension FuzzTarget {
    /// Data from a controller over USB, divided into pipes and transfers as the input dictates.
    static let usb = FuzzTarget("usb", maximumLength: 2_048, seeds: [legacy, serialized]) { input in
        var input = input
        let flags = input.octet()
        var reassembler = USBReassembler(isSerialized: flags & 1 == 1, isResynchronizing: flags & 2 == 2)
        var (heard, found) = (0, 0)
        while !input.isAtEnd {
            let pipe = USBPipe.allCases[Int(input.octet()) % 3]
            let octets = input.counted()
            heard += octets.count
            for packet in reassembler.reassemble(octets, from: pipe) { found += packet.bytes.count }
            hold(found <= heard, "packets without input for them")
            hold(reassembler.pendingLength <= 2 * H4Parser.maximumPacketLength, "octets are kept without limit")
        }
    }

    /// Requests of a kernel to a software dongle, cut as the input dictates, while its controller sends packets.
    static let dongle = FuzzTarget("dongle", maximumLength: 2_048, seeds: [enumeration, packets]) { input in
        var input = input
        let flags = input.octet()
        var machine = DongleMachine(
            descriptors: DongleDescriptors(offersSerialization: true),
            splitting: flags & 1 == 1 ? RandomSource(seed: UInt64(flags)) : nil
        )
        var parser = USBIPParser()
        var (asked, replied) = (0, 0)
        while !input.isAtEnd {
            let piece = input.octets(1 + Int(input.octet()))
            for request in parser.parse(piece) {
                asked += 1
                replied += replies(machine.handle(.request(request)))
            }
            replied += replies(machine.handle(.send(HCIPacket(.event, [0x0E, 0x04, 1, 3, 0x0C, 0]))))
            replied += replies(machine.handle(.send(HCIPacket(.acl, [0x40, 0, 1, 0, 9]))))
            hold(replied <= asked, "a reply without a query")
            hold(
                parser.pendingLength <= USBIPParser.headerLength + USBIPParser.maximumTransfer,
                "octets are kept without limit"
            )
        }
    }

    private static func replies(_ actions: [DongleMachine.Action]) -> Int {
        actions.filter { if case .reply(let reply) = $0 { reply.octets.count >= 48 } else { false } }.count
    }

    private static let legacy: [UInt8] =
        [2] + step(1, [0x0E, 4, 1, 3, 0x0C, 0]) + step(2, [0x40, 0, 2, 0, 1]) + step(2, [2]) + step(1, [0x10])
        + step(1, [0])
    private static let serialized: [UInt8] =
        [3] + step(2, [4, 0x0E, 4, 1, 3, 0x0C, 0, 2, 0x40, 0, 1]) + step(2, [0, 9])

    private static func request(
        _ code: UInt8,
        isIn: Bool = false,
        _ endpoint: UInt8,
        _ length: UInt8,
        _ setup: [UInt8],
        _ octets: [UInt8] = []
    ) -> [UInt8] {
        let head: [UInt8] = [
            0, 0, 0, code, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, isIn ? 1 : 0, 0, 0, 0, endpoint, 0, 0, 0, 0, 0, 0, 0,
            length,
        ]
        let all = head + [UInt8](repeating: 0, count: 12) + setup + octets
        return [UInt8(all.count - 1)] + all
    }

    private static let nothing = [UInt8](repeating: 0, count: 8)
    private static let enumeration: [UInt8] =
        [0] + request(1, isIn: true, 0, 18, [0x80, 6, 0, 1, 0, 0, 18, 0])
        + request(1, isIn: true, 0, 255, [0x80, 6, 0, 2, 0, 0, 255, 0])
        + request(1, 0, 0, [0, 9, 1, 0, 0, 0, 0, 0]) + request(1, 0, 0, [1, 11, 1, 0, 0, 0, 0, 0])
        + request(1, 2, 4, nothing, [1, 3, 12, 0])
    private static let packets: [UInt8] =
        [1] + request(1, isIn: true, 1, 16, nothing) + request(1, isIn: true, 2, 64, nothing)
        + request(1, 0, 3, [0x20, 0, 0, 0, 0, 0, 3, 0], [3, 12, 0])
        + request(1, 2, 5, nothing, [0x40, 0, 1, 0, 9]) + request(2, 0, 7, nothing)
}
