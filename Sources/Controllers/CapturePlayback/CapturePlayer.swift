import EventLoops
import HCI

/// The host's end of the transport to a controller that plays a capture.
///
/// The playback goes on when a host opens another transport to it: a capture contains all of them. Lives on its loop.
package final class CapturePlayer {
    private var machine: CaptureMachine
    private let loop: any EventLoop
    private let start: Instant
    private var timer: ScheduledTask?
    private var endTimer: ScheduledTask?
    private weak var transport: CaptureTransport?

    private let observe: (@Sendable (CaptureDeparture) -> Void)?
    private let onEnd: (@Sendable () -> Void)?

    /// - Parameters:
    ///   - observe: Called with each departure, and when the host closes its transport with each packet that was due by
    ///     then and has not come.
    ///   - onEnd: Called when the capture is over, while the transport stays open: the controller only answers then.
    ///     Called again if the host goes on and stops again.
    package init(
        _ capture: CapturedController,
        loop: any EventLoop,
        observe: (@Sendable (CaptureDeparture) -> Void)? = nil,
        onEnd: (@Sendable () -> Void)? = nil
    ) {
        (self.loop, start, self.observe, self.onEnd) = (loop, loop.now, observe, onEnd)
        machine = CaptureMachine(capture.script, observe: observe)
    }

    /// Opens a transport. An earlier one closes.
    package func open(place: String) -> any HCITransport {
        let transport = CaptureTransport(self, place: place)
        self.transport = transport
        scheduleEnd()
        return transport
    }

    /// Closes the transport, as when a controller is unplugged.
    package func unplug() {
        guard let transport else { return }
        self.transport = nil
        cancelEnd()
        loop.execute { transport.onClose?(.closedByPeer) }
    }

    /// The departures so far, with the packets that the stack should have sent by now.
    package var departures: [CaptureDeparture] { machine.departures(at: time) }

    private var time: Int64 { loop.now.nanoseconds(since: start) }

    fileprivate func receive(_ packet: HCIPacket, from transport: CaptureTransport) {
        guard transport === self.transport else { return }
        machine.receive(packet, at: time)
        schedule()
    }

    fileprivate func close(_ transport: CaptureTransport) {
        guard transport === self.transport else { return }
        self.transport = nil
        cancelEnd()
        guard let observe else { return }
        // Nothing is sent any more.
        let late = machine.departures(at: time + CaptureMachine.stepTimeout)
        for departure in late where departure.kind == .missing { observe(departure) }
        for departure in machine.departures(at: time) where departure.kind == .leftOut { observe(departure) }
    }

    private func schedule() {
        if let timer { loop.cancel(timer) }
        timer = machine.nextTime.map { due in
            loop.schedule(at: start + .nanoseconds(max(due, time))) { [weak self] in self?.fire() }
        }
        scheduleEnd()
    }

    private func scheduleEnd() {
        cancelEnd()
        guard let onEnd, transport != nil, let end = machine.endTime else { return }
        endTimer = loop.schedule(at: start + .nanoseconds(max(end, time))) { onEnd() }
    }

    private func cancelEnd() {
        if let endTimer = endTimer.take() { loop.cancel(endTimer) }
    }

    private func fire() {
        timer = nil
        machine.advance(to: time)
        for packet in machine.takeReleased() { transport?.onReceive?(packet) }
        schedule()
    }
}

/// A transport to a ``CapturePlayer``.
private final class CaptureTransport: HCITransport {
    var onReceive: ((HCIPacket) -> Void)?
    var onClose: ((HCITransportError) -> Void)?
    let place: String
    private let player: CapturePlayer

    init(_ player: CapturePlayer, place: String) {
        (self.player, self.place) = (player, place)
    }

    func send(_ packet: HCIPacket) { player.receive(packet, from: self) }

    func close() {
        player.close(self)
        onReceive = nil
    }
}
