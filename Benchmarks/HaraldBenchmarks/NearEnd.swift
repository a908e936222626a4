import EventLoops
import HCI
import HCITransports

/// The host's end of a measured transport. Lives on its loop.
final class NearEnd {
    /// Counts one when a request is complete.
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

    /// Starts with a Reset, like every host.
    func reset() { line.send(LineTalk.reset) }

    /// Sends a number of data packets, and waits until they are acknowledged.
    func send(_ count: Int) {
        left = count
        pump()
    }

    /// Makes the other end send a number of data packets.
    func take(_ count: Int) {
        (awaited, received) = (count, 0)
        line.send(LineTalk.command(.flood, count))
    }

    /// Sends a number of commands, each after the response to the previous one.
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
