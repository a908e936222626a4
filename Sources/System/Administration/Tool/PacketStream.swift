import BluetoothService
import BluetoothTypes
import EventLoops
import ServiceEvents
import ServiceMessages

/// The packets for one tool, which are collected and sent together. What a tool does not read in time is counted and
/// dropped. Used on the loop of its system only.
final class PacketStream {
    /// The time in which packets are collected.
    static let interval = Duration.milliseconds(100)
    /// The maximum number of packets that wait, and of their octets. A message holds them all.
    static let maximumPackets = 4_096
    static let maximumOctets = 256 << 10

    /// Whether packets wait until a message is full, or ``flush()``. A simulation on its way to another instant lets
    /// thousands of intervals pass in a second.
    var fillsMessages = false
    /// Whether the frames of a simulated radio are among the packets.
    var showsAir = true

    /// The number of packets that were dropped and not reported yet.
    private(set) var lost = 0

    private let tap: PacketTap
    private let loop: any EventLoop
    private let origin: Int64
    private let hasRoom: () -> Bool
    private let send: (PacketBatch) -> Void
    private var waiting: [MonitoredPacket] = []
    private var octets = 0
    private var timer: ScheduledTask?
    private var registration: PacketTap.Registration?

    /// - Parameters:
    ///   - origin: The time of day at the loop's instant zero, in microseconds since 1970; 0 without a calendar.
    ///   - hasRoom: Whether the tool accepts a line now.
    init(
        _ tap: PacketTap,
        loop: any EventLoop,
        origin: Int64,
        hasRoom: @escaping () -> Bool,
        send: @escaping (PacketBatch) -> Void
    ) {
        (self.tap, self.loop, self.origin, self.hasRoom, self.send) = (tap, loop, origin, hasRoom, send)
    }

    /// Follows the packets for a tool of a user. Returns why that is not possible, or nil.
    func start(for user: UInt32?) -> ServiceError? {
        if let refusal = tap.refusal(for: user) { return refusal }
        registration = tap.add(
            for: user,
            { [weak self] in self?.append($0) },
            amend: { [weak self] in self?.amend($0, $1) }
        )
        return nil
    }

    func stop() {
        if let registration { tap.remove(registration) }
        if let timer = timer.take() { loop.cancel(timer) }
    }

    func append(_ packet: MonitoredPacket) {
        guard showsAir || packet.kind != MonitoredPacket.air else { return }
        let size = packet.octets.count + packet.sender.utf8.count + MonitoredPacket.maximumHeader
        if fillsMessages, !hasPlace(for: size) { flush() }
        guard hasPlace(for: size) else { return lost += 1 }
        var dated = packet
        dated.time += origin
        waiting.append(dated)
        octets += size
        schedule()
    }

    private func hasPlace(for size: Int) -> Bool {
        waiting.count < Self.maximumPackets && octets + size <= Self.maximumOctets
    }

    /// Adds to a packet what is known after it was delivered, if it still waits.
    func amend(_ number: UInt64, _ body: (inout MonitoredPacket) -> Void) {
        guard let index = waiting.lastIndex(where: { $0.number <= number }), waiting[index].number == number else {
            return
        }
        body(&waiting[index])
    }

    /// Sends what waits, if the tool accepts it.
    func flush() {
        guard !waiting.isEmpty || lost > 0, hasRoom() else { return }
        send(PacketBatch(waiting, lost: lost))
        (waiting, octets, lost) = ([], 0, 0)
    }

    private func schedule() {
        guard timer == nil, !fillsMessages else { return }
        timer = loop.schedule(after: Self.interval) { [weak self] in
            guard let self else { return }
            timer = nil
            flush()
            if !waiting.isEmpty { schedule() }
        }
    }
}
