import BluetoothTypes
import EventLoops
import Testing

@testable import LinkLayer

/// Frames of the air for tools: without keys, and with their devices.
@Suite struct AirMonitorTests {
    private static let link: UInt32 = 0x5065_4BB1
    private static let key = [UInt8](repeating: 0xA5, count: 16)

    private let central: RadioNode
    private let peripheral: RadioNode
    private var monitor = AirMonitor()

    init() {
        let radio = Radio(loop: VirtualEventLoop(), random: RandomSource(seed: 1))
        (central, peripheral) = (radio.add(), radio.add())
    }

    /// Returns the frame as tools get it: the octets of the PDU after its header.
    private mutating func data(_ kind: UInt8, _ payload: [UInt8], from node: RadioNode? = nil) -> [UInt8] {
        let pdu = [kind, UInt8(payload.count)] + payload
        let frame = RadioFrame(channel: 4, accessAddress: Self.link, crcInit: 7, phy: .le1M, pdu: pdu)
        let sniffed = SniffedFrame(
            frame: frame,
            start: .zero,
            rssi: -60,
            noise: nil,
            isCorrupted: false,
            sender: (node ?? central).id
        )
        let octets = Array(monitor.receive(sniffed).content)
        // The check is right, whatever was masked, so that readers accept the frame.
        let shown = Array(octets[14..<(16 + payload.count)])
        #expect(Array(octets.suffix(3)) == CyclicRedundancyCheck.octets(of: shown, initial: 7))
        return Array(shown.dropFirst(2))
    }

    @Test("keys of pairing are zeros in fragments of every length, from each end, also when they are sent again")
    func keys() {
        for code in [0x03, 0x04, 0x0C, 0x0D] as [UInt8] {
            let pdu: [UInt8] = [17, 0, 6, 0, code] + Self.key
            for size in 1...pdu.count {
                var air = self
                for start in stride(from: 0, to: pdu.count, by: size) {
                    let part = Array(pdu[start..<min(start + size, pdu.count)])
                    for node in [central, peripheral, central] {
                        let shown = air.data(start == 0 ? 2 : 1, part, from: node)
                        #expect(!shown.contains(0xA5), "\(code) in \(size)")
                        #expect(shown.count == part.count)
                    }
                }
            }
        }
    }

    @Test("other data stay, and so does everything on an encrypted link, where no key can be read")
    func others() {
        var air = self
        let value: [UInt8] = [9, 0, 4, 0, 0x1B, 3]
        #expect(air.data(1, [1, 2]) == [0, 0])
        #expect(air.data(2, value) == value)
        #expect(air.data(1, [1, 2]) == [1, 2])
        #expect(air.data(1, [1, 2], from: peripheral) == [0, 0])
        #expect(air.data(1, []) == [])
        let confirm: [UInt8] = [17, 0, 6, 0, 0x03] + Self.key
        #expect(air.data(3, [0x05]) == [0x05])
        #expect(air.data(2, confirm) == confirm)
    }

    @Test("a frame on a link is about the two devices of the CONNECT_IND")
    func addresses() throws {
        let world = LinkLayerWorld()
        var (monitor, links) = (AirMonitor(), Set<[BluetoothAddress]>())
        world.radio.addSniffer().onFrame = { sniffed in
            let shown = monitor.receive(sniffed)
            if sniffed.frame.accessAddress != AccessAddress.advertising { links.insert(shown.addresses) }
        }
        let pair = try Pair(world)
        #expect(links.count == 1)
        #expect(links.first?.count == 2)
        _ = pair
    }
}
