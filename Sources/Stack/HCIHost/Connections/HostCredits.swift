import BluetoothTypes
import EventLoops
import HCI

/// The packets that the host has consumed and not yet reported to the controller (Core Vol 4 Part E 4.2, 7.3.40).
///
/// Reports are batched: one is due when a quarter of the buffers is to be returned, or ``maximumDelay`` after the first
/// packet in the batch. A report must not be deferred indefinitely, because some controllers withhold Disconnection
/// Complete until the host has consumed all data. Data of a link unknown to the host is never reported; the controller
/// reclaims those buffers when the link ends. The host works the same if the controller ignores the reports.
struct HostCredits {
    /// The longest time for which a consumed packet may go unreported.
    static let maximumDelay = Duration.milliseconds(10)
    /// The maximum number of connections in a report, as many as fit the parameters of a command.
    static let maximumEntries = 63

    enum Action {
        case wait
        case startTimer
        case report
    }

    // 0 when host flow control is off.
    private var batch = 0
    private var total = 0
    // At most one entry per packet of a batch.
    private var entries: [CompletedPackets] = []

    /// Starts over. Without buffers nothing is reported.
    mutating func reset(_ buffers: HostBuffers?) {
        self = HostCredits()
        if let buffers { batch = min(max(Int(buffers.packetCount) / 4, 1), Self.maximumEntries) }
    }

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

    /// Removes a connection that has ended. The controller has reclaimed its buffers itself.
    mutating func forget(_ handle: ConnectionHandle) {
        guard let index = entries.firstIndex(where: { $0.handle == handle }) else { return }
        total -= Int(entries.remove(at: index).count)
    }

    /// Whether a report is due later, for which a timer has to run.
    var isPending: Bool { total > 0 }

    /// The first rule that is broken while there are connections with these handles; nil if all hold.
    func brokenInvariant(with handles: some Collection<UInt16>) -> String? {
        guard total == entries.reduce(0, { $0 + Int($1.count) }) else { return "the consumed packets do not add up" }
        guard entries.allSatisfy({ handles.contains($0.handle.rawValue) }) else {
            return "packets of a connection that has ended are to be reported"
        }
        return nil
    }

    /// Removes and returns the due report, or nil if there is nothing to report.
    mutating func take() -> HostNumberOfCompletedPackets? {
        guard total > 0 else { return nil }
        defer {
            total = 0
            entries.removeAll(keepingCapacity: true)
        }
        return HostNumberOfCompletedPackets(entries: entries)
    }
}
