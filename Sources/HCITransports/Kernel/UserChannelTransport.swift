import BluetoothTypes
import DequeModule
import EventLoops
import HCI
import NIOCore
import NIOPosix

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// An adapter of the kernel as a line to its controller: the user channel of HCI sockets. One packet is one read or one write, and
/// the adapter goes back to the kernel when the line is closed.
///
/// The kernel sends nothing by itself to a controller that is held so, not even Reset. Lives on its loop.
package final class UserChannelTransport: HCITransport {
    /// Octets with that of the type that the kernel takes in one write; with others it fails (EINVAL).
    static let writeSizes = 4...1_028
    /// Octets of the longest packet that is read. The kernel's drivers have room for less.
    static let maximumLength = 4_096
    /// Packets that may wait while the kernel has no room. It is taken for dead when there are more.
    package static let maximumUnsent = 64
    /// How long to wait until the kernel may have room again.
    static let pause = Duration.milliseconds(2)

    /// Takes each packet that arrives.
    package var onReceive: ((HCIPacket) -> Void)?
    /// Called once when the line is gone, as when the adapter is unplugged.
    package var onClose: ((HCITransportError) -> Void)?
    /// Where the adapter is attached.
    package let place: String
    /// What fits into one write, without the octet of the type and the header.
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

    /// Makes a line of a socket that is bound to a user channel, which it owns from then on. `completion` is called on the loop, once.
    ///
    /// On the loop only.
    ///
    /// - Parameters:
    ///   - end: Whether this process is the host of the adapter, or its controller (``VirtualAdapter``).
    ///   - reset: Resets the device once the adapter is the kernel's again; called on another thread.
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
            // swift-nio closes what it reads from, and writes several packets at once: so it has a descriptor for reading alone.
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

    /// Sends a packet.
    package func send(_ packet: HCIPacket) {
        guard isOpen else { return }
        var octets: [UInt8] = []
        octets.reserveCapacity(1 + packet.bytes.count)
        octets.append(packet.kind.rawValue)
        packet.bytes.withUnsafeBytes { octets.append(contentsOf: $0) }
        guard Self.writeSizes.contains(octets.count) else {
            return loseSoon(.failed(reason: "the kernel takes no packet of \(octets.count) octets"))
        }
        guard unsent.isEmpty else { return wait(octets) }
        write(octets)
    }

    private func write(_ octets: [UInt8]) {
        do throws(ErrorNumber) {
            try calls.write(octets, to: socket)
        } catch {
            if [EAGAIN, EWOULDBLOCK, ENOBUFS].contains(error.code) { return wait(octets) }
            // Nobody has the adapter up, and the kernel has dropped the packet (`hci_recv_frame` of `net/bluetooth/hci_core.c`): so
            // it is with what a controller says when its last host has left, as that a link has ended.
            if end == .controller, error.code == ENXIO { return }
            loseSoon(Self.meaning(of: error.code))
        }
    }

    private func wait(_ octets: [UInt8]) {
        guard unsent.count < Self.maximumUnsent else {
            return loseSoon(.failed(reason: "the kernel takes no more packets"))
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

    /// Closes the line: the adapter is the kernel's again.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        unsent.removeAll()
        channel?.close(promise: nil)
        channel = nil
        keeper?.forget()
        calls.close(socket)
    }

    /// Gives the adapter back, and has its device reset.
    package func resetDevice(_ completion: @escaping (DeviceReset) -> Void) {
        close()
        guard let reset else { return completion(.impossible) }
        let done = LoopBoundCompletion(completion, loop: loop)
        let loop = loop
        SideQueue.run {
            let result = reset()
            loop.submit { done.call(result) }
        }
    }

    /// Not from within `send`, whose caller may not expect it.
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
        let packets = parser.take(octets)
        if let failure = parser.failure { return lost(.malformed(failure)) }
        // What is left of a packet does not come with the next read.
        guard packets.count == 1, parser.pendingLength == 0 else {
            return lost(.malformed(PacketError(.length(octets.count), at: "HCI packet")))
        }
        onReceive?(packets[0])
    }

    /// Unplugged is what an end that closes is elsewhere.
    private static func meaning(of code: Int32) -> HCITransportError {
        [ENETDOWN, ENODEV, EPIPE, ECONNRESET].contains(code)
            ? .closedByPeer : .failed(reason: String(cString: strerror(code)))
    }

    /// From the channel to the transport, on the loop's time.
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
