import BluetoothTypes
import DequeModule
import EventLoops
import Foundation
import HCI
import NIOCore
import NIOPosix

/// The host's transport to a kernel adapter, through the user channel of HCI sockets. Each read or write is one packet.
/// Closing the transport returns the adapter to the kernel.
///
/// The kernel sends no commands of its own to a controller claimed this way, not even Reset. Lives on its loop.
package final class UserChannelTransport: HCITransport {
    /// The number of octets, including the packet type, that the kernel accepts in one write. Other sizes fail with
    /// EINVAL.
    static let writeSizes = 4...1_028
    /// The maximum size of a packet to read, in octets. The kernel's drivers have smaller buffers.
    static let maximumLength = 4_096
    /// The maximum number of packets queued while the kernel's buffer is full. Beyond this, the transport fails.
    package static let maximumUnsent = 64
    /// The pause before retrying a write.
    static let pause = Duration.milliseconds(2)

    package var onReceive: ((HCIPacket) -> Void)?
    /// Called once, when the transport has failed, as when the adapter is unplugged.
    package var onClose: ((HCITransportError) -> Void)?
    package let place: String
    /// The payload that fits in one write, after the packet type and the header.
    package var maximumACLPayload: Int? { Self.writeSizes.upperBound - 5 }

    private let socket: Int32
    private let keeper: (any AdapterKeeper)?
    private let reset: (@Sendable () -> DeviceReset)?
    private let calls: any KernelCalls
    private let loop: NIOEventLoop
    private let end: HCIEnd
    private var channel: (any Channel)?
    private var isOpen = true
    private var unsent = Deque<[UInt8]>()

    private init(
        socket: Int32,
        place: String,
        end: HCIEnd,
        keeper: (any AdapterKeeper)?,
        reset: (@Sendable () -> DeviceReset)?,
        calls: any KernelCalls,
        loop: NIOEventLoop
    ) {
        self.end = end
        self.reset = reset
        self.keeper = keeper
        self.socket = socket
        self.place = place
        self.calls = calls
        self.loop = loop
    }

    deinit {
        if isOpen { calls.close(socket) }
    }

    /// Attaches a transport to a socket that is bound to a user channel, and takes ownership of the socket.
    /// `completion` is called once, on the loop. Call this on the loop.
    ///
    /// - Parameters:
    ///   - end: Whether this process is the adapter's host or its controller (``VirtualAdapter``).
    ///   - reset: Resets the device once the kernel has the adapter back. Called on another thread.
    package static func attach(
        _ socket: Int32,
        place: String,
        as end: HCIEnd = .host,
        keeper: (any AdapterKeeper)? = nil,
        reset: (@Sendable () -> DeviceReset)? = nil,
        calls: any KernelCalls = LinuxCalls(),
        loop: NIOEventLoop,
        completion: @escaping (Result<UserChannelTransport, HCITransportError>) -> Void
    ) {
        let transport = UserChannelTransport(
            socket: socket,
            place: place,
            end: end,
            keeper: keeper,
            reset: reset,
            calls: calls,
            loop: loop
        )
        let input: Int32
        do throws(ErrorNumber) {
            // swift-nio closes the descriptors it reads from and combines packets into one write. It gets a duplicate,
            // for reading only.
            input = try calls.duplicate(socket)
        } catch {
            return completion(.failure(.unreachable(address: place, reason: String(cString: strerror(error.code)))))
        }
        let bound = LoopBoundCompletion(completion, loop: loop)
        let receiver = NIOLoopBound(Receiver(transport), eventLoop: loop.nio)
        NIOPipeBootstrap(group: loop.nio)
            .channelOption(.autoRead, value: false)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: maximumLength + 1))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(receiver.value)
                }
            }
            .takingOwnershipOfDescriptor(input: input)
            .whenComplete { result in
                loop.arrive {
                    switch result {
                    case .success(let channel): bound.call(receiver.value.begin(on: channel))
                    case .failure(let error):
                        calls.close(input)
                        receiver.value.transport.close()
                        bound.call(.failure(.unreachable(address: place, reason: "\(error)")))
                    }
                }
            }
    }

    /// Sends a packet. While the kernel has no room, packets wait in order; too many of them close the transport.
    package func send(_ packet: HCIPacket) {
        guard isOpen else { return }
        var octets: [UInt8] = []
        octets.reserveCapacity(1 + packet.bytes.count)
        octets.append(packet.kind.rawValue)
        packet.bytes.withUnsafeBytes { octets.append(contentsOf: $0) }
        guard Self.writeSizes.contains(octets.count) else {
            return loseSoon(.failed(reason: "the kernel does not accept a packet of \(octets.count) octets"))
        }
        guard unsent.isEmpty else { return wait(octets) }
        write(octets)
    }

    private func write(_ octets: [UInt8]) {
        do throws(ErrorNumber) {
            try calls.write(octets, to: socket)
        } catch {
            if [EAGAIN, EWOULDBLOCK, ENOBUFS].contains(error.code) { return wait(octets) }
            // The adapter is down, so the kernel drops the packet (`hci_recv_frame` of `net/bluetooth/hci_core.c`).
            // This happens to events that a controller sends after its last host has left, such as a disconnection.
            if end == .controller, error.code == ENXIO { return }
            loseSoon(Self.meaning(of: error.code))
        }
    }

    private func wait(_ octets: [UInt8]) {
        guard unsent.count < Self.maximumUnsent else {
            return loseSoon(.failed(reason: "the kernel does not accept any more packets"))
        }
        unsent.append(octets)
        if unsent.count == 1 { tryAgainLater() }
    }

    private func tryAgainLater() {
        loop.schedule(after: Self.pause) { [weak self] in self?.sendUnsent() }
    }

    private func sendUnsent() {
        while isOpen, let octets = unsent.first {
            do throws(ErrorNumber) {
                try calls.write(octets, to: socket)
                unsent.removeFirst()
            } catch {
                guard [EAGAIN, EWOULDBLOCK, ENOBUFS].contains(error.code) else {
                    return lost(Self.meaning(of: error.code))
                }
                return tryAgainLater()
            }
        }
    }

    /// Closes the transport and returns the adapter to the kernel.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        unsent.removeAll()
        channel?.close(promise: nil)
        channel = nil
        keeper?.forget()
        calls.close(socket)
    }

    /// Returns the adapter to the kernel and resets its device.
    package func resetDevice(_ completion: @escaping (DeviceReset) -> Void) {
        close()
        guard let reset else { return completion(.impossible) }
        LoopBoundCompletion(completion, loop: loop).complete(with: reset)
    }

    /// Deferred, because the caller of `send` does not expect `onClose` from within it.
    private func loseSoon(_ error: HCITransportError) {
        loop.execute { [self] in lost(error) }
    }

    private func lost(_ error: HCITransportError) {
        guard isOpen else { return }
        close()
        onClose?(error)
    }

    private func received(_ octets: [UInt8]) {
        guard isOpen else { return }
        guard octets.count <= Self.maximumLength else {
            return lost(.malformed(PacketError(.length(octets.count), at: "HCI packet")))
        }
        var parser = H4Parser()
        let packets = parser.parse(octets)
        if let failure = parser.failure { return lost(.malformed(failure)) }
        // Packets do not span reads.
        guard packets.count == 1, parser.pendingLength == 0 else {
            return lost(.malformed(PacketError(.length(octets.count), at: "HCI packet")))
        }
        onReceive?(packets[0])
    }

    /// Maps the errors of an unplugged adapter to a transport that the peer closed.
    private static func meaning(of code: Int32) -> HCITransportError {
        [ENETDOWN, ENODEV, EPIPE, ECONNRESET].contains(code)
            ? .closedByPeer : .failed(reason: String(cString: strerror(code)))
    }

    /// Forwards channel events to the transport, as arrivals on the loop.
    private final class Receiver: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        let transport: UserChannelTransport

        init(_ transport: UserChannelTransport) {
            self.transport = transport
        }

        func begin(on channel: any Channel) -> Result<UserChannelTransport, HCITransportError> {
            transport.channel = channel
            do {
                try channel.syncOptions?.setOption(.autoRead, value: true)
            } catch {
                transport.close()
                return .failure(.unreachable(address: transport.place, reason: "\(error)"))
            }
            return .success(transport)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let octets = Array(unwrapInboundIn(data).readableBytesView)
            transport.loop.arrive { [transport] in transport.received(octets) }
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            guard case .inputClosed? = event as? ChannelEvent else {
                return context.fireUserInboundEventTriggered(event)
            }
            transport.loop.arrive { [transport] in transport.lost(.closedByPeer) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            let meaning = (error as? IOError).map { UserChannelTransport.meaning(of: $0.errnoCode) }
            transport.loop.arrive { [transport] in transport.lost(meaning ?? .failed(reason: "\(error)")) }
        }

        func channelInactive(context: ChannelHandlerContext) {
            transport.loop.arrive { [transport] in transport.lost(.closedByPeer) }
        }
    }
}
