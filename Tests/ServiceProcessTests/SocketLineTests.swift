import BluetoothTypes
import CLinux
import EventLoops
import Foundation
import HCITransports
import NIOCore
import NIOPosix
import TestBasics
import Testing

@testable import ServiceProcess

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// One end of a socket pair that a test has in hand.
final class RawEnd: Sendable {
    let descriptor: Int32

    /// Owns the descriptor. A read that brings nothing within 20 s fails.
    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        var timeout = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// A connected pair: the descriptor of one end, and the other end.
    static func pair() -> (near: Int32, peer: RawEnd)? {
        var ends: [Int32] = [-1, -1]
        let type = harald_SOCK_STREAM | harald_SOCK_CLOEXEC
        return socketpair(AF_UNIX, type, 0, &ends) == 0 ? (ends[0], RawEnd(ends[1])) : nil
    }

    func write(_ octets: [UInt8]) {
        // MSG_NOSIGNAL of send(2): a signal for a closed peer would end the test process.
        _ = send(descriptor, octets, octets.count, 0x4000)
    }

    /// Reads so many octets, or fewer where the line ends, or where nothing is there and the read does not wait.
    func read(_ count: Int, waits: Bool = true) -> [UInt8] {
        var (octets, part): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 65_536))
        while octets.count < count {
            let flags = waits ? 0 : Int32(MSG_DONTWAIT)
            let length = recv(descriptor, &part, min(part.count, count - octets.count), flags)
            guard length > 0 else { break }
            octets += part[..<length]
        }
        return octets
    }

    /// Closes the socket. What is not read is lost, which the other end learns (unix(7)).
    func hangUp() {
        let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
        dup2(nothing, descriptor)
        close(nothing)
    }

    /// Whether the other end closes the line, with nothing left to read.
    func isAtEnd() -> Bool {
        var octet: UInt8 = 0
        return recv(descriptor, &octet, 1, 0) == 0
    }
}

/// A line over one end of a socket pair, and what its owner is told.
private struct LineBench: Sendable {
    let loop = NIOEventLoop()
    let channel: any Channel
    let peer: RawEnd
    private let line: LoopBound<Result<SocketLine, MessageLineError>>
    private let notes: AsyncStream<String>
    private let note: AsyncStream<String>.Continuation

    init(atOnce: Int = 4_096) async throws {
        let end = try #require(RawEnd.pair())
        peer = end.peer
        let channel = try await ClientBootstrap(group: loop.nio).channelOption(.autoRead, value: false)
            .withConnectedSocket(end.near).get()
        self.channel = channel
        line = loop.make { [loop] in SocketLine.attach(to: channel, loop: loop, atOnce: atOnce) }
        (notes, note) = AsyncStream.makeStream()
        with { [note] line in
            line.onReceive = { note.yield("received \($0.count)") }
            line.onClose = { note.yield("closed: \($0)") }
            line.onRoom = { note.yield("room: \($0)") }
        }
    }

    func with(_ body: @escaping @Sendable (SocketLine) -> Void) {
        line.with { result in
            guard case .success(let line) = result else { return recordIssue("there is no line") }
            body(line)
        }
    }

    /// The next thing that the owner is told.
    func next() async -> String? {
        for await note in notes { return note }
        return nil
    }

    /// Notes "end" behind all that is due by now.
    func settle() {
        for _ in 0..<3 { loop.submitAndWait {} }
        note.yield("end")
    }

    /// The value of an option of the channel.
    func option<Option: ChannelOption & Sendable>(_ option: Option) throws -> Option.Value
    where Option.Value: Sendable {
        try channel.eventLoop.submit { [channel] in try channel.syncOptions?.getOption(option) }.wait().unwrapped()
    }
}

extension Optional {
    fileprivate func unwrapped() throws -> Wrapped { try #require(self) }
}

/// Lines over sockets of the operating system.
@Suite(.timeLimit(.minutes(1))) struct SocketLineTests {
    @Test("AB-G05: a line reads one piece of its size at a time, and has no room while 256 KiB wait, until 64 KiB do")
    func boundsOfALine() async throws {
        let bench = try await LineBench(atOnce: 1_234)
        let mark = try bench.option(ChannelOptions.writeBufferWaterMark)
        #expect(mark.low == 65_536)
        #expect(mark.high == 262_144)
        #expect(try bench.option(ChannelOptions.maxMessagesPerRead) == 1)
        let allocator = try bench.option(ChannelOptions.recvAllocator) as? FixedSizeRecvByteBufferAllocator
        #expect(allocator?.capacity == 1_234)
        #expect(try bench.option(ChannelOptions.autoRead))
        bench.with { $0.read(false) }
        #expect(try bench.option(ChannelOptions.autoRead) == false)
        bench.with { $0.read(true) }
        #expect(try bench.option(ChannelOptions.autoRead))
    }

    @Test("AB-G05: the service reads 2 KiB of a process at a time, and an app 64 KiB of its service")
    func readAtOnce() {
        #expect(ServiceListener.readAtOnce == 2_048)
        #expect(SocketDialer.readAtOnce == 65_536)
    }

    @Test("AB-G05: 16 MiB may wait for an end that does not read, and one octet more ends the line")
    func queuedOctetsAreBounded() async throws {
        let bench = try await LineBench()
        bench.with { line in
            for _ in 0..<16 { line.send(PacketBuffer([UInt8](repeating: 0, count: 1 << 20 - 4))) }
            #expect(!line.hasRoom)
        }
        #expect(await bench.next() == "room: false")
        bench.settle()
        #expect(await bench.next() == "end")
        bench.with { $0.send([]) }
        bench.settle()
        #expect(await bench.next() == "closed: the peer does not read, and 16777220 octets wait for it")
        #expect(await bench.next() == "end")
    }

    @Test("a line that fills says so, and says so again when the other end has read")
    func roomOfALine() async throws {
        let bench = try await LineBench()
        bench.with { line in
            #expect(line.hasRoom)
            line.send(PacketBuffer([UInt8](repeating: 0, count: 1 << 20)))
            #expect(!line.hasRoom)
        }
        #expect(await bench.next() == "room: false")
        #expect(bench.peer.read(1 << 20 + 4).count == 1 << 20 + 4)
        #expect(await bench.next() == "room: true")
        bench.with { line in
            #expect(line.hasRoom)
            line.close()
            #expect(!line.hasRoom)
        }
    }

    @Test("what is sent in one task goes out in one piece after it, and at once where it is as much as a line holds")
    func piecesOfALine() async throws {
        let bench = try await LineBench()
        let peer = bench.peer
        bench.with { line in
            line.send([1])
            line.send([2])
            #expect(peer.read(1, waits: false).isEmpty)
        }
        #expect(peer.read(10) == [1, 0, 0, 0, 1, 1, 0, 0, 0, 2])
        bench.with { line in
            line.send(PacketBuffer([UInt8](repeating: 0, count: 262_144 - 4)))
            #expect(!peer.read(1, waits: false).isEmpty)
        }
        #expect(peer.read(262_143).count == 262_143)
        bench.with { line in
            line.send(PacketBuffer([UInt8](repeating: 0, count: 262_144 - 5)))
            #expect(peer.read(1, waits: false).isEmpty)
        }
        #expect(peer.read(262_143).count == 262_143)
    }

    @Test("a line that is read carries more in all than may wait")
    func aLineThatIsRead() async throws {
        let bench = try await LineBench()
        for _ in 0..<20 {
            bench.with { $0.send(PacketBuffer([UInt8](repeating: 0, count: 1 << 20 - 4))) }
            #expect(bench.peer.read(1 << 20).count == 1 << 20)
        }
        bench.with { $0.close() }
        #expect(bench.peer.isAtEnd())
    }

    @Test("what was sent in one task goes out whole and in order when the line is closed in it, and nothing after that")
    func closingALine() async throws {
        let bench = try await LineBench()
        bench.with { line in
            line.send([1])
            line.send([2, 3])
            line.close()
            line.send([4])
        }
        #expect(bench.peer.read(100) == [1, 0, 0, 0, 1, 2, 0, 0, 0, 2, 3])
        #expect(bench.peer.isAtEnd())
        bench.settle()
        #expect(await bench.next() == "end")
    }

    @Test("a line that is closed while more waits than the socket takes goes out when the other end reads")
    func closingAFullLine() async throws {
        let bench = try await LineBench()
        let peer = bench.peer
        let read = bench.loop.make { LoopBox() }
        bench.with { line in
            line.send(PacketBuffer([UInt8](repeating: 0, count: 400_000)))
            line.close()
            // The loop writes the rest as soon as it gets there.
            read.value.count = peer.read(400_004, waits: false).count
        }
        let first = read.with { $0.count }
        #expect(first > 0)
        #expect(first < 400_004)
        #expect(peer.read(400_004 - first).count == 400_004 - first)
        #expect(peer.isAtEnd())
        bench.settle()
        #expect(await bench.next() == "end")
    }

    /// A number on the loop.
    private final class LoopBox {
        var count = 0
    }

    @Test("AB-G05: a line that is closed before an end that does not read is gone after a second")
    func closingBeforeAnEndThatDoesNotRead() async throws {
        let bench = try await LineBench()
        let begin = ContinuousClock.now
        bench.with { line in
            line.send(PacketBuffer([UInt8](repeating: 0, count: 1 << 20)))
            line.close()
        }
        try await bench.channel.closeFuture.get()
        #expect(ContinuousClock.now - begin >= .milliseconds(990))
        #expect(bench.peer.read(1 << 20 + 4).count < 1 << 20)
        #expect(bench.peer.isAtEnd())
    }

    @Test(
        "the first reason why a line is lost is reported, once and afterwards, and not to an owner that has closed it"
    )
    func losingALine() async throws {
        let bench = try await LineBench()
        bench.with { line in
            line.lost(.failed(reason: "first"))
            #expect(!line.hasRoom)
            line.lost(.failed(reason: "second"))
            line.send([1])
        }
        #expect(await bench.next() == "closed: first")
        #expect(bench.peer.isAtEnd())
        bench.settle()
        #expect(await bench.next() == "end")
        let closed = try await LineBench()
        closed.with { line in
            line.close()
            line.lost(.failed(reason: "late"))
        }
        #expect(closed.peer.isAtEnd())
        closed.settle()
        #expect(await closed.next() == "end")
        let both = try await LineBench()
        both.with { line in
            line.lost(.failed(reason: "early"))
            line.close()
        }
        both.settle()
        #expect(await both.next() == "end")
    }

    @Test("an end that is gone is told, once")
    func theOtherEndIsGone() async throws {
        let bench = try await LineBench()
        shutdown(bench.peer.descriptor, Int32(SHUT_WR))
        #expect(await bench.next() == "closed: the peer is gone")
        bench.settle()
        #expect(await bench.next() == "end")
    }

    @Test("an end that goes without reading what it was sent is told with the reason of the system")
    func theOtherEndHangsUp() async throws {
        let bench = try await LineBench()
        bench.with { $0.send([1]) }
        bench.loop.submitAndWait {}
        bench.peer.hangUp()
        #expect(await bench.next() == "closed: Connection reset by peer")
        bench.settle()
        #expect(await bench.next() == "end")
    }

    @Test("AB-G05: a message that is too long ends the line, with its length")
    func aMessageThatIsTooLong() async throws {
        let bench = try await LineBench()
        bench.peer.write([1, 0, 0, 0, 9, 0xFF, 0xFF, 0xFF, 0xFF])
        #expect(await bench.next()?.contains("it has 4294967295 octets") == true)
        #expect(bench.peer.isAtEnd())
    }

    @Test("an owner that closes a line in one message hears nothing of the next one")
    func closingInAMessage() async throws {
        let bench = try await LineBench()
        bench.with { line in
            let receive = line.onReceive
            line.onReceive = { [weak line] message in
                receive?(message)
                line?.close()
            }
        }
        bench.peer.write([1, 0, 0, 0, 7, 2, 0, 0, 0, 8, 9])
        #expect(await bench.next() == "received 1")
        bench.settle()
        #expect(await bench.next() == "end")
    }

    @Test("messages arrive in order, also where many come at once")
    func manyMessages() async throws {
        let bench = try await LineBench(atOnce: 7)
        bench.peer.write((1...20).flatMap { [UInt8($0), 0, 0, 0] + [UInt8](repeating: 0, count: $0) })
        for count in 1...20 { #expect(await bench.next() == "received \(count)") }
    }
}
