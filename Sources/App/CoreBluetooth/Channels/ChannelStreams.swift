import Foundation

/// The input stream of a channel.
final class ChannelInputStream: InputStream {
    private let pipe: ChannelPipe

    init(_ pipe: ChannelPipe) {
        self.pipe = pipe
        super.init(data: Data())
        pipe.inputEvents.setStream(self)
    }

    deinit {
        pipe.close(.input)
    }

    override var delegate: (any StreamDelegate)? {
        get { pipe.inputEvents.delegate }
        set { pipe.setDelegate(newValue, of: .input) }
    }

    override func open() { pipe.open(.input) }

    override func close() { pipe.close(.input) }

    override var streamStatus: Stream.Status { pipe.status(of: .input) }

    override var streamError: (any Error)? { pipe.error(of: .input) }

    override var hasBytesAvailable: Bool { pipe.isReady(.input) }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength count: Int) -> Int {
        pipe.read(into: UnsafeMutableBufferPointer(start: buffer, count: max(count, 0)))
    }

    /// Always false, since received octets are not contiguous.
    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
        length: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    override func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        pipe.schedule(.input, in: runLoop, mode)
    }

    override func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        pipe.inputEvents.remove(from: runLoop, mode)
    }

    override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }

    override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool { false }
}

/// The output stream of a channel.
final class ChannelOutputStream: OutputStream {
    private let pipe: ChannelPipe

    init(_ pipe: ChannelPipe) {
        self.pipe = pipe
        super.init(toMemory: ())
        pipe.outputEvents.setStream(self)
    }

    required init(toMemory: ()) {
        preconditionFailure("an output stream of a channel is created only by the channel")
    }

    deinit {
        pipe.close(.output)
    }

    override var delegate: (any StreamDelegate)? {
        get { pipe.outputEvents.delegate }
        set { pipe.setDelegate(newValue, of: .output) }
    }

    override func open() { pipe.open(.output) }

    override func close() { pipe.close(.output) }

    override var streamStatus: Stream.Status { pipe.status(of: .output) }

    override var streamError: (any Error)? { pipe.error(of: .output) }

    override var hasSpaceAvailable: Bool { pipe.isReady(.output) }

    override func write(_ buffer: UnsafePointer<UInt8>, maxLength count: Int) -> Int {
        pipe.write(UnsafeBufferPointer(start: buffer, count: max(count, 0)))
    }

    override func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        pipe.schedule(.output, in: runLoop, mode)
    }

    override func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        pipe.outputEvents.remove(from: runLoop, mode)
    }

    override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }

    override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool { false }
}
