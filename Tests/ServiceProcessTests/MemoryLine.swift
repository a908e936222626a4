import BluetoothTypes
import DequeModule
import EventLoops

@testable import ServiceProcess

/// An in-memory connection that reports at the worst possible time, on any kind of loop. It buffers one message: each
/// message sent fills it, and it is writable again when the other end has read.
final class MemoryLine: MessageLine {
    /// When a connection calls its owner.
    enum Moment: CaseIterable {
        /// In a separate task right after the current one, as ``MessageLine`` demands.
        case afterwards
        /// Inside the call that causes it, which is forbidden. Owners survive it.
        case inside
    }

    var onReceive: ((PacketBuffer) -> Void)?
    var onClose: ((MessageLineError) -> Void)?
    var onRoom: ((Bool) -> Void)?
    /// The messages sent while the other end had no owner.
    private(set) var sent: [PacketBuffer] = []
    /// Whether this end is reading.
    private(set) var isReading = true
    private(set) var isOpen = true
    /// The number of messages after which the connection closes, inside or after the call that sends the last one; nil
    /// to keep it open.
    var messagesLeft: Int?

    private weak var other: MemoryLine?
    private let loop: any EventLoop
    private let moment: Moment
    private var held = Deque<PacketBuffer>()
    private var crossing = 0
    private var isBlocked = false
    private var failure: MessageLineError?

    init(loop: any EventLoop, moment: Moment = .afterwards) {
        self.loop = loop
        self.moment = moment
    }

    /// Both ends of a connection.
    static func pair(loop: any EventLoop, moment: Moment = .afterwards) -> (MemoryLine, MemoryLine) {
        let (near, far) = (MemoryLine(loop: loop, moment: moment), MemoryLine(loop: loop, moment: moment))
        (near.other, far.other) = (far, near)
        return (near, far)
    }

    var hasRoom: Bool { isOpen && !isBlocked && crossing == 0 }

    /// Makes the other end stop reading, or resume.
    func block(_ isBlocked: Bool) {
        changeRoom { self.isBlocked = isBlocked }
    }

    func send(_ message: PacketBuffer) {
        guard isOpen else { return }
        guard other != nil else { return sent.append(message) }
        changeRoom { crossing += 1 }
        loop.execute { [self] in other?.receive(message) }
        guard let left = messagesLeft else { return }
        messagesLeft = left - 1
        if left == 1 { lost(.failed(reason: "it ends at the worst moment")) }
    }

    private func changeRoom(_ change: () -> Void) {
        let before = hasRoom
        change()
        let after = hasRoom
        guard isOpen, after != before else { return }
        report { [self] in if isOpen { onRoom?(after) } }
    }

    private func report(_ body: @escaping () -> Void) {
        switch moment {
        case .afterwards: loop.execute(body)
        case .inside: body()
        }
    }

    private func receive(_ message: PacketBuffer) {
        held.append(message)
        deliver()
    }

    private func deliver() {
        while isOpen, isReading, let message = held.popFirst() {
            onReceive?(message)
            other?.changeRoom { other?.crossing -= 1 }
        }
    }

    func read(_ isReading: Bool) {
        self.isReading = isReading
        loop.execute { [weak self] in self?.deliver() }
    }

    func close() {
        failure = nil
        guard isOpen else { return }
        isOpen = false
        // Runs after the messages sent before.
        loop.execute { [weak other] in other?.lost(.closedByPeer) }
    }

    func lost(_ error: MessageLineError) {
        guard isOpen else { return }
        close()
        failure = error
        report { [self] in
            guard failure != nil else { return }
            failure = nil
            onClose?(error)
        }
    }
}
