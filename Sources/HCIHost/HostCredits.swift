import BluetoothTypes
import EventLoops
import HCI

/// What this host has room for, as it tells the controller (Core Vol 4 Part E 4.2).
package struct HostBuffers: Hashable, Sendable {
    /// The longest ACL payload that is asked for, in octets. A longer one is taken all the same.
    package var packetLength: UInt16
    /// How many packets may be on their way up at a time, 1 at least.
    package var packetCount: UInt16

    /// Room for `packetCount` packets.
    package init(packetLength: UInt16 = 1_021, packetCount: UInt16 = 64) {
        self.packetLength = packetLength
        self.packetCount = max(packetCount, 1)
    }
}

/// Which packets the host is done with, and when the controller hears of it (Core Vol 4 Part E 4.2, 7.3.40).
///
/// Reports are gathered: one goes out when a quarter of the room is to be given back, or ``maximumDelay`` after the first
/// packet in it. It must not wait for ever, for there are controllers that keep Disconnection Complete back until the
/// host is done with all data. Data for a link that the host never hears of are not given back; the controller has those
/// buffers again when the link ends. Nothing here depends on whether the controller cares.
struct HostCredits {
    /// How long a packet that the host is done with may go unreported.
    static let maximumDelay = Duration.milliseconds(10)
    /// Connections in one report: as many as fit the parameters of a command.
    static let maximumEntries = 63

    enum Action {
        case wait
        case startTimer
        case report
    }

    // 0 when the controller does not count.
    private var batch = 0
    private var total = 0
    // At most one entry for each packet of a batch.
    private var entries: [CompletedPackets] = []

    /// Begins anew; without buffers nothing is reported.
    mutating func reset(_ buffers: HostBuffers?) {
        self = HostCredits()
        if let buffers { batch = min(max(Int(buffers.packetCount) / 4, 1), Self.maximumEntries) }
    }

    /// Notes that the host is done with a packet.
    mutating func consumed(_ handle: ConnectionHandle) -> Action {
        guard batch > 0 else { return .wait }
        total += 1
        if let index = entries.firstIndex(where: { $0.handle == handle }) {
            entries[index].count &+= 1
        } else {
            entries.append(CompletedPackets(handle: handle, count: 1))
        }
        if total >= batch { return .report }
        return total == 1 ? .startTimer : .wait
    }

    /// Forgets a connection that has ended: the controller has taken its buffers back by itself.
    mutating func forget(_ handle: ConnectionHandle) {
        guard let index = entries.firstIndex(where: { $0.handle == handle }) else { return }
        total -= Int(entries.remove(at: index).count)
    }

    /// What is to be reported now, if anything.
    mutating func take() -> HostNumberOfCompletedPackets? {
        guard total > 0 else { return nil }
        defer {
            total = 0
            entries.removeAll(keepingCapacity: true)
        }
        return HostNumberOfCompletedPackets(entries: entries)
    }
}
