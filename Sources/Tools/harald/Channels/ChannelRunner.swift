import CoreBluetooth

/// Reads and writes one L2CAP channel on a thread of its own, with a run loop, as apps do. Keeps itself alive until the
/// channel has ended.
final class ChannelRunner: NSObject, StreamDelegate, @unchecked Sendable {
    // Safe: mutable state is only touched on the channel's thread.

    /// The number of octets of pending answers at which reading stops.
    private static let maximumWaiting = 65_536

    private let channel: CBL2CAPChannel
    private let answer: (Data) -> Data
    private let onEnd: ((any Error)?) -> Void
    /// The octets to send. An array slice rather than `Data`, because `Data` that was emptied from the front traps when
    /// appending an empty collection.
    private var waiting: ArraySlice<UInt8>
    private let limit: Int
    private var isOver = false

    /// - Parameter onEnd: Called once, on the channel's thread.
    init(
        _ channel: CBL2CAPChannel,
        first: Data = Data(),
        answer: @escaping (Data) -> Data,
        onEnd: @escaping ((any Error)?) -> Void
    ) {
        self.channel = channel
        self.answer = answer
        self.onEnd = onEnd
        waiting = ArraySlice(first)
        limit = first.count + Self.maximumWaiting
        super.init()
    }

    func start() {
        Thread { [self] in
            for stream in [channel.inputStream, channel.outputStream] as [Stream] {
                stream.delegate = self
                stream.schedule(in: .current, forMode: .default)
                stream.open()
            }
            // Returns once both streams are closed.
            RunLoop.current.run()
        }.start()
    }

    func stream(_ stream: Stream, handle event: Stream.Event) {
        switch event {
        case .hasBytesAvailable: read()
        case .hasSpaceAvailable: write()
        case .endEncountered, .errorOccurred: if stream === channel.inputStream { end(stream.streamError) }
        default: break
        }
    }

    /// Closes the channel. On the channel's thread only.
    func end(_ error: (any Error)?) {
        guard !isOver else { return }
        isOver = true
        channel.inputStream.close()
        channel.outputStream.close()
        onEnd(error)
    }

    private func read() {
        guard !isOver, waiting.count < limit else { return }
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let count = channel.inputStream.read(&buffer, maxLength: buffer.count)
        guard count > 0 else { return }
        waiting += answer(Data(buffer[..<count]))
        write()
    }

    private func write() {
        guard !isOver else { return }
        let wasFull = waiting.count >= limit
        while !waiting.isEmpty, channel.outputStream.hasSpaceAvailable {
            let portion = [UInt8](waiting.prefix(Self.maximumWaiting))
            let count = channel.outputStream.write(portion, maxLength: portion.count)
            guard count > 0 else { return }
            waiting.removeFirst(count)
        }
        if wasFull, waiting.count < limit, channel.inputStream.hasBytesAvailable { read() }
    }
}
