import BluetoothTypes
import EventLoops
import HCI

@testable import HCITransports

extension FuzzTarget {
    /// One end of a three-wire connection whose other end sends the input, cut into pieces, while packets are sent and
    /// time passes.
    static let threeWire = FuzzTarget("three-wire", maximumLength: 1_024, seeds: [handshake, sleeping]) { input in
        var input = input
        let loop = VirtualEventLoop()
        let wire = DeafLine()
        let transport = ThreeWireTransport(wire, loop: loop)
        var (received, closures) = (0, 0)
        transport.onReceive = { _ in received += 1 }
        transport.onClose = { _ in closures += 1 }
        let cuts = input.counted()
        var rest = input.rest()[...]
        let heard = rest.count
        var index = 0
        while !rest.isEmpty {
            let cut = cuts.isEmpty ? 7 : Int(cuts[index % cuts.count])
            index += 1
            wire.onReceive?(Array(rest.prefix(cut + 1)))
            rest = rest.dropFirst(cut + 1)
            if cut % 3 == 0 { transport.send(HCIPacket(.command, [0x03, 0x0C, 0x00])) }
            if cut % 5 == 0 { loop.run(for: .milliseconds(cut)) }
        }
        loop.run(for: .seconds(20))
        hold(closures <= 1, "a transport ends twice")
        // Each received packet follows from a frame of at least four octets and its final delimiter.
        hold(received * 5 <= heard, "packets without input for them")
    }

    private static func line(_ packets: [ThreeWirePacket]) -> [UInt8] {
        [1, 40] + packets.flatMap { SLIP.encode($0.frame) }
    }

    private static func said(_ message: ThreeWireMessage) -> ThreeWirePacket {
        ThreeWirePacket(.linkControl, message.payload)
    }

    private static var event: ThreeWirePacket {
        var packet = ThreeWirePacket(.event, [0x0E, 0x04, 1, 3, 0x0C, 0])
        (packet.isReliable, packet.isChecked) = (true, true)
        return packet
    }

    private static let configuration = ThreeWireConfiguration(window: 4, isChecked: true)
    private static let up = [
        said(.sync), said(.syncResponse), said(.configuration(configuration)),
        said(.configurationResponse(configuration)),
    ]
    private static let handshake = line(up + [event, ThreeWirePacket(.acknowledgement, acknowledgement: 1)])
    private static let sleeping = line(up + [said(.sleep), said(.wakeUp), said(.woken), said(.sync)])
}

/// A serial line whose other end receives nothing.
private final class DeafLine: OctetLine {
    var onReceive: (([UInt8]) -> Void)?
    var onClose: ((HCITransportError) -> Void)?
    let place = "fuzz"

    func send(_ octets: PacketBuffer) {}
    func close() {}
}
