import EventLoops
import HCI

/// A controller on USB as a line to it, by libusb. It goes back to the kernel's driver when the line is closed. Lives on its loop.
package final class USBTransport: HCITransport {
    /// Takes each packet that arrives.
    package var onReceive: ((HCIPacket) -> Void)?
    /// Called once when the line is gone, as when the controller is unplugged.
    package var onClose: ((HCITransportError) -> Void)?
    /// Where the controller is plugged in.
    package let place: String

    private let loop: NIOEventLoop
    private let reset: (@Sendable () -> DeviceReset)?
    private var machine: USBMachine
    private var link: USBLink?
    private var isOpen = true

    /// Begins to read from a controller that has been taken. On the loop.
    ///
    /// - Parameter reset: Resets the device once it has gone back; called on another thread.
    package init(_ taken: USBFinder.Taken, reset: (@Sendable () -> DeviceReset)? = nil, loop: NIOEventLoop) {
        self.loop = loop
        self.reset = reset
        place = "usb:\(taken.device.place)"
        machine = USBMachine(isSerialized: taken.endpoints.isSerialized)
        let receiver = LoopBound(Receiver(self), loop: loop)
        link = USBLink(taken) { event in
            loop.submit { receiver.value.transport?.handle(event) }
        }
        handle(.opened)
    }

    deinit { link?.finish() }

    /// Sends a packet.
    package func send(_ packet: HCIPacket) { handle(.send(packet)) }

    /// Closes the line: the controller is the kernel's again, soon.
    package func close() {
        isOpen = false
        handle(.close)
    }

    /// Closes the line, and has the device reset before the kernel's driver begins with it; by taking it once more where it has gone back
    /// already, as when the line has failed.
    package func resetDevice(_ completion: @escaping (DeviceReset) -> Void) {
        let done = LoopBoundCompletion(completion, loop: loop)
        let loop = loop
        let tell: @Sendable (DeviceReset) -> Void = { result in loop.submit { done.call(result) } }
        let isUnderWay = link?.finish(resetting: tell) ?? false
        close()
        guard !isUnderWay else { return }
        guard let reset else { return completion(.impossible) }
        SideQueue.run { tell(reset()) }
    }

    private func handle(_ event: USBMachine.Event) {
        for action in machine.handle(event) {
            switch action {
            case .read(let pipe): link?.read(pipe)
            case .write(let pipe, let octets): link?.write(pipe, octets)
            case .clear(let pipe): link?.clear(pipe)
            // Whoever gets a packet may close the line.
            case .deliver(let packet): if isOpen { onReceive?(packet) }
            case .finish: link?.finish()
            case .lost(let error): lose(error)
            }
        }
    }

    /// Not from within `send`, whose caller may not expect it.
    private func lose(_ error: HCITransportError) {
        loop.execute { [self] in
            guard isOpen else { return }
            isOpen = false
            onClose?(error)
        }
    }

    /// Events come as long as the thread runs, which is longer than anybody wants the line.
    private final class Receiver {
        weak var transport: USBTransport?

        init(_ transport: USBTransport) { self.transport = transport }
    }
}
