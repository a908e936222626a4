import ATT
import BluetoothTypes
import EventLoops
import HCI

@testable import LinkLayer

/// The traffic of a successful session: the start of every corpus. Each run creates it in about a second, with
/// identical octets.
struct Recording: Sendable {
    /// The recorded session, created on first use.
    static let session = Recording()

    /// The packets from the central's host.
    private(set) var hostPackets: [HCIPacket] = []
    /// The packets to the central's host.
    private(set) var controllerPackets: [HCIPacket] = []
    private var frames: [(accessAddress: UInt32, pdu: [UInt8])] = []

    private init() {
        let world = StackWorld()
        var (down, up, frames) = ([HCIPacket](), [HCIPacket](), [(UInt32, [UInt8])]())
        world.onPacket = { packet, place in
            if place == .hostOfCentral { down.append(packet) }
            if place == .controllerOfCentral { up.append(packet) }
            return [packet]
        }
        world.radio.onSend = { frames.append(($0.accessAddress, $0.pdu)) }
        hold(world.runSession(limit: .seconds(60)), "an undisturbed session fails")
        world.end()
        hostPackets = down
        controllerPackets = up
        self.frames = frames
    }

    var commands: [[UInt8]] { octets(hostPackets.filter { $0.kind == .command }) }
    var events: [[UInt8]] { octets(controllerPackets.filter { $0.kind == .event }) }

    private func octets(_ packets: [HCIPacket]) -> [[UInt8]] {
        unique(packets.map(\.bytes.bytes))
    }

    /// Keeps the first of each kind and length; the fuzzer itself changes the rest of the octets.
    private func unique(_ all: [[UInt8]]) -> [[UInt8]] {
        var seen: Set<[UInt8]> = []
        return all.filter { seen.insert([UInt8(truncatingIfNeeded: $0.count)] + $0.prefix(2)).inserted }
    }

    /// The streams of both directions, with different cuts.
    var streams: [[UInt8]] {
        let cuts: [[UInt8]] = [[0], [4, 9, 200], [255]]
        var streams: [[UInt8]] = []
        for packets in [hostPackets, controllerPackets] {
            var octets: [UInt8] = []
            for packet in packets.prefix(60) { octets += [packet.kind.rawValue] + packet.bytes.bytes }
            for cut in cuts { streams.append(counted(cut) + octets) }
        }
        return streams
    }

    /// Capture files of several lengths.
    var captures: [[UInt8]] {
        let writer = BTSnoopWriter(unixMicrosecondsAtZero: 978_307_200_000_000)
        return [0, 1, 40].map { count in
            var file = writer.header
            for (index, packet) in controllerPackets.suffix(count).enumerated() {
                file += writer.record(packet, .controllerToHost, at: Instant(microseconds: Int64(index) * 1_000))
            }
            return file
        }
    }

    // MARK: Connection data

    /// The fragments of L2CAP PDUs in both directions.
    var fragments: [(octets: [UInt8], isStart: Bool)] {
        (hostPackets + controllerPackets).filter { $0.kind == .acl }.compactMap { packet in
            guard let acl = try? ACLPacket(reading: packet.bytes) else { return nil }
            return (acl.payload.bytes, acl.boundary.isStart)
        }
    }

    /// The PDUs that the central's client sent.
    var clientPDUs: [[UInt8]] { pdus(of: hostPackets) }
    /// The PDUs that the peripheral's server sent.
    var serverPDUs: [[UInt8]] { pdus(of: controllerPackets) }
    /// The ATT PDUs of both sides.
    var attPDUs: [[UInt8]] { unique(clientPDUs + serverPDUs) }

    private func pdus(of packets: [HCIPacket]) -> [[UInt8]] {
        var pdu: [UInt8] = []
        var result: [[UInt8]] = []
        for packet in packets where packet.kind == .acl {
            guard let acl = try? ACLPacket(reading: packet.bytes) else { continue }
            pdu = acl.boundary.isStart ? acl.payload.bytes : pdu + acl.payload
            if pdu.count >= 4, pdu.count == 4 + Int(pdu[0]) + Int(pdu[1]) << 8, pdu[2] == 4 {
                result.append(Array(pdu.dropFirst(4)))
            }
        }
        return result
    }

    // MARK: The air

    /// The PDUs on the advertising channels.
    var advertisingPDUs: [[UInt8]] {
        unique(frames.filter { $0.accessAddress == AccessAddress.advertising }.map(\.pdu))
    }

    /// The advertising data in those PDUs.
    var advertisingData: [[UInt8]] { advertisingPDUs.map { Array($0.dropFirst(8)) } }

    /// The PDUs on the data channels.
    var linkPDUs: [[UInt8]] {
        unique(frames.filter { $0.accessAddress != AccessAddress.advertising }.map(\.pdu))
    }

    /// The control PDUs among them, without their headers.
    var controlPDUs: [[UInt8]] {
        frames.filter { $0.accessAddress != AccessAddress.advertising && $0.pdu[0] & 0b11 == 0b11 }
            .map { Array($0.pdu.dropFirst(2)) }
    }
}
