import DequeModule
import Synchronization

/// The captures of a world: the HCI packets of each device, and the air.
final class WorldRecordings: Sendable {
    static let maximumDevices = 64

    let air = BoundedCapture()
    private let devices = Mutex<[(name: String, packets: BoundedCapture)]>([])

    /// Adds the capture of a device; nil if there are too many.
    func addDevice(named name: String) -> BoundedCapture? {
        devices.withLock { devices in
            guard devices.count < Self.maximumDevices else { return nil }
            let packets = BoundedCapture()
            devices.append((name, packets))
            return packets
        }
    }

    var files: [WorldFile] {
        devices.withLock { $0 }.map { WorldFile(name: "\($0.name).btsnoop", octets: $0.packets.octets) }
            + [WorldFile(name: "air.pcapng", octets: air.octets)]
    }
}

/// A file for the report of a failure.
struct WorldFile: Hashable, Sendable {
    let name: String
    let octets: [UInt8]

    /// The 64-bit FNV-1a digest of the octets, in hexadecimal.
    var digest: String {
        let digest = octets.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0100_0000_01b3 }
        let digits = String(digest, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// A capture in memory: its header, and as many of the last packets as there is room for.
final class BoundedCapture: Sendable {
    /// The number of octets that are kept, without the header. A busy link has about 100 kB a second.
    static let maximumOctets = 16_000_000

    private struct State {
        var header: [UInt8]?
        var packets = Deque<[UInt8]>()
        var count = 0
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int = BoundedCapture.maximumOctets) {
        self.limit = limit
    }

    /// Adds the header, and then a packet with each call.
    func write(_ octets: [UInt8]) {
        state.withLock { state in
            guard state.header != nil else { return state.header = octets }
            state.packets.append(octets)
            state.count += octets.count
            while state.count > limit, let oldest = state.packets.popFirst() { state.count -= oldest.count }
        }
    }

    var octets: [UInt8] {
        let (header, packets) = state.withLock { ($0.header ?? [], $0.packets) }
        return packets.reduce(into: header) { $0 += $1 }
    }
}
