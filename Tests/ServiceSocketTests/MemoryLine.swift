import BluetoothTypes
import EventLoops

@testable import ServiceProcess

/// A line in memory, on a loop of any kind.
final class MemoryLine: MessageLine {
    var onReceive: ((PacketBuffer) -> Void)?
    var onClose: ((MessageLineError) -> Void)?
    var onRoom: ((Bool) -> Void)?
    /// What was sent while nobody had the other end.
    private(set) var sent: [PacketBuffer] = []
    /// Whether what comes is wanted at this end.
    private(set) var isReading = true
    private(set) var isOpen = true
    private weak var other: MemoryLine?
    private let loop: any EventLoop
    private var held: [PacketBuffer] = []

    init(loop: any EventLoop) {
        self.loop = loop
    }

    /// Two ends of one line.
    static func pair(loop: any EventLoop) -> (MemoryLine, MemoryLine) {
        let (near, far) = (MemoryLine(loop: loop), MemoryLine(loop: loop))
        (near.other, far.other) = (far, near)
        return (near, far)
    }

    func send(_ message: PacketBuffer) {
        guard isOpen else { return }
        guard let other else { return sent.append(message) }
        loop.execute { [weak other] in other?.receive(message) }
    }

    private func receive(_ message: PacketBuffer) {
        guard isOpen else { return }
        isReading ? onReceive?(message) : held.append(message)
    }

    func read(_ isReading: Bool) {
        self.isReading = isReading
        while self.isReading, isOpen, !held.isEmpty { onReceive?(held.removeFirst()) }
    }

    func close() {
        guard isOpen else { return }
        isOpen = false
        loop.execute { [weak other] in other?.lost(.closedByPeer) }
    }

    func lost(_ error: MessageLineError) {
        guard isOpen else { return }
        isOpen = false
        loop.execute { [weak other] in other?.lost(.closedByPeer) }
        onClose?(error)
    }
}
