import EventLoops
import HCI

/// The line to a controller that is named by an address. It opens by itself; what is sent meanwhile waits, and a controller that
/// cannot be reached closes it.
///
/// Lives on its loop.
package final class ControllerTransport: HCITransport {
    /// Packets that wait for the line to open. A host sends one command before it hears from the controller.
    package static let maximumWaiting = 16

    private enum State {
        case opening([HCIPacket])
        case open(any HCITransport)
        /// With what it was, if it ever opened.
        case closed((any HCITransport)?)
    }

    /// Takes each packet that arrives.
    package var onReceive: ((HCIPacket) -> Void)?
    /// Called once when the line is gone, or could not be opened.
    package var onClose: ((HCITransportError) -> Void)?
    package var place: String {
        if case .open(let transport) = state { transport.place } else { address.description }
    }
    package var maximumACLPayload: Int? {
        if case .open(let transport) = state { transport.maximumACLPayload } else { nil }
    }
    package var isOpening: Bool { if case .opening = state { true } else { false } }

    private let address: ControllerAddress
    private let loop: NIOEventLoop
    private let finder: AdapterFinder
    private var state = State.opening([])

    /// Begins to open the line. On the loop only.
    ///
    /// - Parameter finder: Takes adapters from the kernel; the same for each line to what is one controller.
    package init(_ address: ControllerAddress, loop: NIOEventLoop, finder: AdapterFinder = AdapterFinder()) {
        (self.address, self.loop, self.finder) = (address, loop, finder)
        // What fails at once is told to whoever has asked for it by then.
        loop.execute { [self] in open() }
    }

    private func open() {
        guard case .opening = state else { return }
        switch address {
        case .tcp(let host, let port):
            ChannelLine.connect(host: host, port: port, loop: loop) { [self] in opened($0.map { H4Transport($0) }) }
        case .unix(let path):
            ChannelLine.connect(path: path, loop: loop) { [self] in opened($0.map { H4Transport($0) }) }
        case .standard:
            ChannelLine.standard(loop: loop) { [self] in opened($0.map { H4Transport($0) }) }
        case .serial(let options):
            SerialOpening.open(options, loop: loop) { [self] in opened($0) }
        case .adapter(let choice):
            open(choice)
        case .usb(let choice):
            open(choice, finder: finder.usb)
        }
    }

    private func open(_ choice: USBChoice, finder: USBFinder) {
        let loop = loop
        let taken = LoopBoundCompletion<Result<USBFinder.Taken, USBError>>(
            { [self] result in
                opened(
                    result.map { taken in
                        USBTransport(taken, reset: { finder.reset(.place(taken.device.place)) }, loop: loop)
                    }
                    .mapError { .unreachable(address: "\(choice)", reason: $0.description) }
                )
            },
            loop: loop
        )
        // A driver may load its firmware now.
        SideQueue.run {
            let result = Result { () throws(USBError) in try finder.take(choice) }
            loop.submit { taken.call(result) }
        }
    }

    private func open(_ choice: AdapterChoice) {
        let (loop, finder) = (loop, finder)
        let taken = LoopBoundCompletion<Result<AdapterFinder.Taken, UserChannelError>>(
            { [self] result in
                switch result {
                case .failure(let error):
                    opened(.failure(.unreachable(address: "\(choice)", reason: error.description)))
                case .success(let adapter):
                    UserChannelTransport.attach(
                        adapter.socket,
                        place: adapter.place,
                        keeper: finder.keeper,
                        reset: { finder.reset(adapter.name) },
                        calls: finder.calls,
                        loop: loop
                    ) { [self] in opened($0.map { $0 }) }
                }
            },
            loop: loop
        )
        // A driver may load its firmware now.
        SideQueue.run {
            let result = Result { () throws(UserChannelError) in try finder.take(choice) }
            loop.submit { taken.call(result) }
        }
    }

    private func opened(_ result: Result<any HCITransport, HCITransportError>) {
        guard case .opening(let waiting) = state else {
            if case .success(let transport) = result { transport.close() }
            return
        }
        switch result {
        case .failure(let error):
            closed(error)
        case .success(let transport):
            state = .open(transport)
            transport.onReceive = { [weak self] in self?.onReceive?($0) }
            transport.onClose = { [weak self] in self?.closed($0) }
            for packet in waiting { transport.send(packet) }
        }
    }

    private func closed(_ error: HCITransportError) {
        state = .closed(transport)
        onClose?(error)
    }

    /// Sends a packet, now or when the line is open.
    package func send(_ packet: HCIPacket) {
        switch state {
        case .opening(let waiting) where waiting.count < Self.maximumWaiting: state = .opening(waiting + [packet])
        case .open(let transport): transport.send(packet)
        case .opening, .closed: break
        }
    }

    /// What the line is, or was.
    private var transport: (any HCITransport)? {
        switch state {
        case .opening: nil
        case .open(let transport): transport
        case .closed(let transport): transport
        }
    }

    /// Closes the line.
    package func close() {
        if case .open(let transport) = state { transport.close() }
        state = .closed(transport)
    }

    /// Resets the device, also that of a line that has never been opened, as while a driver tries in vain to begin with its controller: the device
    /// that the address names, unless somebody else has it. Behind a socket, a pipe or a serial port nobody can.
    package func resetDevice(_ completion: @escaping (DeviceReset) -> Void) {
        defer { state = .closed(transport) }
        if let transport { return transport.resetDevice(completion) }
        let finder = finder
        let reset: @Sendable () -> DeviceReset
        switch address {
        case .adapter(let choice): reset = { finder.reset(choice) }
        case .usb(let choice): reset = { finder.usb.reset(choice) }
        case .tcp, .unix, .standard, .serial: return completion(.impossible)
        }
        let (done, loop) = (LoopBoundCompletion(completion, loop: loop), loop)
        SideQueue.run {
            let result = reset()
            loop.submit { done.call(result) }
        }
    }
}
