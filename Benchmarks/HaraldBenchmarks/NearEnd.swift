import EventLoops
import HCI
import HCITransports

/// The end of a measured line that a host would have. Lives on its loop.
final class NearEnd {
    /// Counts one whenever what was asked for is done.
    let done: Tally
    private let line: ControllerTransport
    private var (left, underWay) = (0, 0)
    private var (awaited, received) = (0, 0)
    private var pings = 0

    init(_ address: ControllerAddress, loop: NIOEventLoop, done: Tally) {
        self.done = done
        line = ControllerTransport(address, loop: loop)
        line.onReceive = { [unowned self] in receive($0) }
        line.onClose = { preconditionFailure("the line \(address) is gone: \($0)") }
    }

    /// Begins as every host does.
    func reset() { line.send(LineTalk.reset) }

    /// Sends so many data packets, and waits until they are acknowledged.
    func send(_ count: Int) {
        left = count
        pump()
    }

    /// Has so many data packets sent by the other end.
    func take(_ count: Int) {
        (awaited, received) = (count, 0)
        line.send(LineTalk.command(.flood, count))
    }

    /// Sends so many commands, each when the one before is answered.
    func ping(_ count: Int) {
        pings = count
        line.send(LineTalk.command(.ping))
    }

    func close() { line.close() }

    private func pump() {
        while left > 0, underWay < LineTalk.window {
            line.send(LineTalk.data)
            (left, underWay) = (left - 1, underWay + 1)
        }
        if left == 0, underWay == 0 { done.add() }
    }

    private func receive(_ packet: HCIPacket) {
        if LineTalk.isData(packet) {
            received += 1
            if received == awaited { return done.add() }
            if received.isMultiple(of: LineTalk.portion) { line.send(LineTalk.command(.more)) }
        } else if LineTalk.isAcknowledgement(packet) {
            underWay -= LineTalk.portion
            pump()
        } else if LineTalk.isResetAnswer(packet) {
            done.add()
        } else if LineTalk.isAnswer(packet) {
            pings -= 1
            if pings > 0 { line.send(LineTalk.command(.ping)) } else { done.add() }
        }
    }
}
