import CapturePlayback
import EventLoops
import HCI

/// The transport to the controller at an address.
///
/// The transport opens by itself. Packets sent before it has opened are queued. A controller that cannot be reached
/// closes the transport.
///
/// Lives on its loop.
package final class ControllerTransport: HCITransport {
    /// The maximum number of packets queued while the transport opens. A host sends only one command before the
    /// controller answers.
    package static let maximumWaiting = 16

    private enum State {
        case opening([HCIPacket])
        case open(any HCITransport)
        /// The transport that was open, if it ever opened.
        case closed((any HCITransport)?)
    }

    package var onReceive: ((HCIPacket) -> Void)?
    /// Called once, when the transport has closed or could not be opened.
    package var onClose: ((HCITransportError) -> Void)?
    /// Called with each difference between what the host sends and the capture that is played back, if one is.
    package var onDeparture: (@Sendable (CaptureDeparture) -> Void)?
    /// Called when the capture that is played back is over. The controller only answers then.
    package var onCaptureEnd: (@Sendable () -> Void)?
    package var place: String {
        if case .open(let transport) = state { transport.place } else { address.description }
    }
    package var maximumACLPayload: Int? {
        if case .open(let transport) = state { transport.maximumACLPayload } else { nil }
    }
    package var isOpening: Bool { if case .opening = state { true } else { false } }

    private let address: ControllerAddress
    private let loop: NIOEventLoop
    private let finder: ControllerFinder
    private var state = State.opening([])

    /// Starts to open the transport. On the loop only.
    ///
    /// - Parameter finder: Claims adapters and USB controllers. Use one finder for all transports to the same
    ///   controller.
    package init(_ address: ControllerAddress, loop: NIOEventLoop, finder: ControllerFinder = ControllerFinder()) {
        (self.address, self.loop, self.finder) = (address, loop, finder)
        // Deferred, so that the caller has set `onClose` before an immediate failure.
        loop.execute { [self] in open() }
    }

    private func open() {
        guard case .opening = state else { return }
        let place = address.description
        switch address {
        case .tcp(let host, let port):
            ChannelLine.connect(host: host, port: port, place: place, loop: loop) { [self] in openedLine($0) }
        case .unix(let path):
            ChannelLine.connect(path: path, place: place, loop: loop) { [self] in openedLine($0) }
        case .standard:
            ChannelLine.standard(place: place, loop: loop) { [self] in openedLine($0) }
        case .serial(let options):
            SerialOpening.open(options, loop: loop) { [self] in opened($0) }
        case .adapter(let choice):
            open(choice)
        case .usb(let choice):
            open(choice, finder: finder.usb)
        case .capture(let path):
            open(capture: path)
        }
    }

    private func open(capture path: String) {
        let (loop, observe, onEnd) = (loop, onDeparture, onCaptureEnd)
        let place = address.description
        let read = LoopBoundCompletion<Result<CapturedController, CapturedControllerError>>(
            { [self] result in
                opened(
                    result
                        .map { CapturePlayer($0, loop: loop, observe: observe, onEnd: onEnd).open(place: place) }
                        .mapError { .unreachable(address: place, reason: $0.description) }
                )
            },
            loop: loop
        )
        // A capture may have hundreds of megabytes.
        read.complete {
            Result { () throws(CapturedControllerError) in try CapturedController(contentsOfFile: path) }
        }
    }

    private func open(_ choice: USBChoice, finder: USBFinder) {
        let loop = loop
        let claimed = LoopBoundCompletion<Result<USBFinder.Claimed, USBError>>(
            { [self] result in
                opened(
                    result.map { claimed in
                        USBTransport(claimed, reset: { finder.reset(.place(claimed.device.place)) }, loop: loop)
                    }
                    .mapError { .unreachable(address: "\(choice)", reason: $0.description) }
                )
            },
            loop: loop
        )
        // Blocks while a driver loads firmware.
        claimed.complete { Result { () throws(USBError) in try finder.claim(choice) } }
    }

    private func open(_ choice: AdapterChoice) {
        let (loop, finder) = (loop, finder.kernel)
        let claimed = LoopBoundCompletion<Result<AdapterFinder.Claimed, UserChannelError>>(
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
        // Blocks while a driver loads firmware.
        claimed.complete { Result { () throws(UserChannelError) in try finder.claim(choice) } }
    }

    private func openedLine(_ result: Result<ChannelLine, HCITransportError>) {
        opened(result.map { H4Transport($0) })
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

    /// Sends a packet, or queues it until the transport is open.
    package func send(_ packet: HCIPacket) {
        switch state {
        case .opening(let waiting) where waiting.count < Self.maximumWaiting: state = .opening(waiting + [packet])
        case .open(let transport): transport.send(packet)
        case .opening, .closed: break
        }
    }

    /// The underlying transport, current or former.
    private var transport: (any HCITransport)? {
        switch state {
        case .opening: nil
        case .open(let transport): transport
        case .closed(let transport): transport
        }
    }

    /// Closes the transport. Does not call ``onClose``.
    package func close() {
        if case .open(let transport) = state { transport.close() }
        state = .closed(transport)
    }

    /// Resets the controller's device and closes the transport.
    ///
    /// This also works for a transport that has not opened, such as while the kernel's driver keeps failing to
    /// initialize the controller. It then resets the device that the address names, unless another user holds it. A
    /// controller behind a socket, a pipe or a serial port cannot be reset.
    package func resetDevice(_ completion: @escaping (DeviceReset) -> Void) {
        defer { state = .closed(transport) }
        if let transport { return transport.resetDevice(completion) }
        let finder = finder
        let reset: @Sendable () -> DeviceReset
        switch address {
        case .adapter(let choice): reset = { finder.kernel.reset(choice) }
        case .usb(let choice): reset = { finder.usb.reset(choice) }
        case .tcp, .unix, .standard, .serial, .capture: return completion(.impossible)
        }
        LoopBoundCompletion(completion, loop: loop).complete(with: reset)
    }
}

/// Claims controllers of this machine: from the kernel, or over USB from the kernel's driver.
///
/// Use one finder for all transports to the same controller, because it recognizes a controller that has reappeared in
/// another place.
package final class ControllerFinder: Sendable {
    /// Claims the kernel's adapters.
    package let kernel: AdapterFinder
    /// Claims the same controllers over USB.
    package let usb: USBFinder

    /// - Parameters:
    ///   - adapters: The adapters of this machine's kernel, or of another.
    ///   - kept: The socket of an adapter that a previous process claimed.
    ///   - keeper: Keeps sockets for the next process.
    ///   - usb: USB access; nil for this machine's libusb.
    package init(
        _ adapters: KernelAdapters = KernelAdapters(),
        kept: Int32? = nil,
        keeper: (any AdapterKeeper)? = nil,
        usb: (any USBCalls)? = nil
    ) {
        kernel = AdapterFinder(adapters, kept: kept, keeper: keeper)
        self.usb = USBFinder(calls: usb ?? LibUSB.shared, adapters: adapters)
    }
}
