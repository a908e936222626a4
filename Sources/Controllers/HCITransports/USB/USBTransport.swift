import EventLoops
import HCI

/// The transport to a USB controller, through libusb. Closing it returns the controller to the kernel's driver. Lives
/// on its loop.
package final class USBTransport: HCITransport {
    package var onReceive: ((HCIPacket) -> Void)?
    /// Called once, when the transport has failed, as when the controller is unplugged.
    package var onClose: ((HCITransportError) -> Void)?
    package let place: String

    private let loop: NIOEventLoop
    private let reset: (@Sendable () -> DeviceReset)?
    private var machine: USBMachine
    private var link: USBLink?
    private var isOpen = true

    /// Starts to read from a claimed controller. On the loop only.
    ///
    /// - Parameter reset: Resets the device after it has been returned. Called on another thread.
    package init(_ claimed: USBFinder.Claimed, reset: (@Sendable () -> DeviceReset)? = nil, loop: NIOEventLoop) {
        self.loop = loop
        self.reset = reset
        place = "usb:\(claimed.device.place)"
        machine = USBMachine(isSerialized: claimed.endpoints.isSerialized)
        let receiver = LoopBound(Receiver(self), loop: loop)
        link = USBLink(claimed) { event in
            loop.submit { receiver.value.transport?.handle(event) }
        }
        handle(.opened)
    }

    deinit { link?.finish() }

    /// Sends a packet. Does nothing after the transport has closed.
    package func send(_ packet: HCIPacket) { handle(.send(packet)) }

    /// Closes the transport. The controller returns to the kernel's driver shortly afterwards.
    package func close() {
        isOpen = false
        handle(.close)
    }

    /// Closes the transport, and resets the device before the kernel's driver initializes it. If the device has been
    /// returned already, as after a failure, claims it once more for the reset.
    package func resetDevice(_ completion: @escaping (DeviceReset) -> Void) {
        let done = LoopBoundCompletion(completion, loop: loop)
        let loop = loop
        let report: @Sendable (DeviceReset) -> Void = { result in loop.submit { done.call(result) } }
        let isUnderWay = link?.finish(resetting: report) ?? false
        close()
        guard !isUnderWay else { return }
        guard let reset else { return completion(.impossible) }
        SideQueue.run { report(reset()) }
    }

    private func handle(_ event: USBMachine.Event) {
        for action in machine.handle(event) {
            switch action {
            case .read(let pipe): link?.read(pipe)
            case .write(let pipe, let octets): link?.write(pipe, octets)
            case .clear(let pipe): link?.clear(pipe)
            // The receiver of a packet may close the transport.
            case .deliver(let packet): if isOpen { onReceive?(packet) }
            case .finish: link?.finish()
            case .lost(let error): lose(error)
            }
        }
    }

    /// Deferred, because the caller of `send` does not expect `onClose` from within it.
    private func lose(_ error: HCITransportError) {
        loop.execute { [self] in
            guard isOpen else { return }
            isOpen = false
            onClose?(error)
        }
    }

    /// Holds the transport weakly, because the thread may report events after the last user has released the transport.
    private final class Receiver {
        weak var transport: USBTransport?

        init(_ transport: USBTransport) { self.transport = transport }
    }
}
