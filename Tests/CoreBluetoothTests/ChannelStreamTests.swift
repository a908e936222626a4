import BluetoothTypes
import CoreBluetooth
import ServiceMessages
import ServiceStandIns
import Synchronization
import Testing

/// The streams of a channel in real time, with a service that the test controls.
@Suite struct ChannelStreamTests {
    /// An app with a channel whose streams run in the run loop of a separate thread.
    private final class StreamApp: NSObject, CBPeripheralManagerDelegate, StreamDelegate, @unchecked Sendable {
        // Safe: mutable state is in a mutex, or set before the thread starts.
        let service = StandInService.logged()
        let id = ChannelID(5)
        private(set) var manager: CBPeripheralManager!
        private(set) var channel: CBL2CAPChannel!
        let events = Mutex<[String]>([])
        let isMistaken = Mutex(false)
        private var thread: Thread?
        private(set) var runLoop: RunLoop!
        // Keeps the run loop from returning once it has no streams left.
        private let anchor = Timer(fire: .distantFuture, interval: 1e9, repeats: true) { _ in }
        private let happened = DispatchSemaphore(value: 0)

        override init() {
            super.init()
            manager = service.run { CBPeripheralManager(delegate: self, queue: DispatchQueue(label: "app")) }
            service.deliver(.stateChanged(.poweredOn))
            let central = CentralInfo(identifier: UUID(), maximumUpdateLength: 20)
            service.deliver(.peripheral(.channelOpened(psm: 0x99, central, id)))
        }

        func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}

        func peripheralManager(
            _ peripheral: CBPeripheralManager,
            didOpen channel: CBL2CAPChannel?,
            error: (any Error)?
        ) {
            self.channel = channel
        }

        var input: InputStream { channel.inputStream }
        var output: OutputStream { channel.outputStream }
        func drop() { channel = nil }

        /// Schedules the streams on a thread of their own, and opens them.
        func start(_ mode: RunLoop.Mode = .default) {
            let thread = Thread { [self] in
                runLoop = .current
                runLoop.add(anchor, forMode: mode)
                for stream in [input, output] as [Stream] {
                    stream.delegate = self
                    stream.schedule(in: .current, forMode: mode)
                    stream.open()
                }
                RunLoop.current.run()
            }
            self.thread = thread
            thread.start()
        }

        /// Waits until the run loop has handled everything due. This timer fires last because earlier work has earlier
        /// dates.
        func catchUp() -> Bool {
            let isThere = DispatchSemaphore(value: 0)
            runLoop.add(Timer(fire: Date(), interval: 0, repeats: false) { _ in isThere.signal() }, forMode: .default)
            return isThere.wait(timeout: .now() + 20) == .success
        }

        func stream(_ stream: Stream, handle event: Stream.Event) {
            if Thread.current != thread { isMistaken.withLock { $0 = true } }
            let names: [Stream.Event.RawValue: String] = [
                1: "open", 2: "bytes", 4: "space", 8: "error", 16: "end",
            ]
            events.withLock {
                $0.append((stream is InputStream ? "in " : "out ") + (names[event.rawValue] ?? "\(event.rawValue)"))
            }
            happened.signal()
        }

        /// Waits until `count` events have arrived, or none has for 20 s, and removes and returns them.
        func take(_ count: Int) -> [String] {
            while events.withLock({ $0.count }) < count {
                guard happened.wait(timeout: .now() + 20) == .success else { break }
            }
            return events.withLock { events in
                defer { events = [] }
                return events
            }
        }

        func report(_ event: ChannelEvent) { service.report(event, of: id) }

        /// The channel requests since the last call.
        func asked() -> [ChannelRequest] {
            service.takeRequests().compactMap { if case .channel(id, let request) = $0 { request } else { nil } }
        }
    }

    private func octets(_ count: Int) -> PacketBuffer { PacketBuffer([UInt8](repeating: 7, count: count)) }

    @Test("behaviour 8.6: streams report events like those of a socket, on the thread of their run loop")
    func streamsTellWhatHappens() {
        let app = StreamApp()
        #expect(app.asked() == [.grant(ServiceLimits.channelWindow)])
        #expect(app.input.streamStatus == .notOpen)
        #expect(app.output.streamStatus == .notOpen)
        #expect(!app.output.hasSpaceAvailable)
        app.start()
        #expect(app.take(3).sorted() == ["in open", "out open", "out space"])
        app.report(.received([1, 2, 3]))
        #expect(app.take(1) == ["in bytes"])
        // Reported again only after a read, because data is left.
        app.report(.received([4]))
        var buffer = [UInt8](repeating: 0, count: 2)
        #expect(app.input.read(&buffer, maxLength: 2) == 2)
        #expect(buffer == [1, 2])
        #expect(app.take(1) == ["in bytes"])
        buffer = [UInt8](repeating: 0, count: 9)
        #expect(app.input.read(&buffer, maxLength: 9) == 2 && buffer[..<2] == [3, 4])
        #expect(!app.input.hasBytesAvailable)
        #expect(app.output.write([9, 8], maxLength: 2) == 2)
        #expect(app.take(1) == ["out space"])
        #expect(app.asked() == [.send([9, 8])])
        app.report(.received([5]))
        app.report(.ended(nil))
        #expect(app.take(2).sorted() == ["in bytes", "out end"])
        #expect(app.input.read(&buffer, maxLength: 9) == 1)
        #expect(app.take(1) == ["in end"])
        #expect(app.input.read(&buffer, maxLength: 9) == 0)
        #expect(app.output.write([1], maxLength: 1) == -1)
        #expect(app.take(1) == ["out error"])
        #expect(app.output.streamStatus == .error)
        #expect(app.input.streamStatus == .atEnd)
        #expect(!app.isMistaken.withLock { $0 })
    }

    @Test(
        "behaviour 8.6: a failing channel reports the reason on both streams",
        arguments: [.default, .common] as [RunLoop.Mode]
    )
    func aChannelThatFails(mode: RunLoop.Mode) {
        let app = StreamApp()
        app.start(mode)
        _ = app.take(3)
        app.report(.ended(ServiceError(.unknown, reason: "a broken rule")))
        #expect(app.take(2).sorted() == ["in error", "out error"])
        #expect((app.input.streamError as? CBError)?.code == .unknown)
        #expect(app.output.streamStatus == .error)
    }

    @Test("AB-G05: the writable amount is bounded, and an event reports new space")
    func writableAmountIsBounded() {
        let app = StreamApp()
        app.start()
        _ = app.take(3)
        let much = [UInt8](repeating: 1, count: 100_000)
        #expect(app.output.write(much, maxLength: much.count) == ServiceLimits.channelWindow)
        #expect(!app.output.hasSpaceAvailable)
        app.report(.room(100))
        #expect(app.take(1) == ["out space"])
        #expect(app.output.write(much, maxLength: much.count) == 100)
        // More than the window allows.
        app.report(.room(.max))
        #expect(app.output.write(much, maxLength: much.count) == ServiceLimits.channelWindow)
    }

    @Test("AB-G05: unread data is not granted again")
    func unreadDataIsNotGrantedAgain() {
        let app = StreamApp()
        app.input.open()
        _ = app.asked()
        for _ in 0..<16 { app.report(.received(octets(2_048))) }
        #expect(app.asked() == [])
        var buffer = [UInt8](repeating: 0, count: ServiceLimits.channelWindow)
        #expect(app.input.read(&buffer, maxLength: 5_000) == 5_000)
        #expect(app.asked() == [])
        #expect(app.input.read(&buffer, maxLength: buffer.count) == ServiceLimits.channelWindow - 5_000)
        #expect(app.asked() == [.grant(ServiceLimits.channelWindow)])
    }

    @Test("a read waits for data, and a write for space")
    func aReadWaitsAndAWriteWaits() {
        let app = StreamApp()
        app.input.open()
        app.output.open()
        let read = Mutex<[Int]>([])
        let written = Mutex<[Int]>([])
        let step = DispatchSemaphore(value: 0)
        Thread {
            var buffer = [UInt8](repeating: 0, count: 100)
            for _ in 0..<3 {
                let count = app.input.read(&buffer, maxLength: 100)
                read.withLock { $0.append(count) }
                step.signal()
            }
        }.start()
        Thread {
            let much = [UInt8](repeating: 1, count: 2 * ServiceLimits.channelWindow)
            for _ in 0..<3 {
                let count = app.output.write(much, maxLength: much.count)
                written.withLock { $0.append(count) }
                step.signal()
            }
        }.start()
        let bothDidOne = { (0..<2).allSatisfy { _ in step.wait(timeout: .now() + 20) == .success } }
        app.report(.received(octets(30)))
        #expect(bothDidOne())
        app.report(.room(77))
        app.report(.received(octets(40)))
        #expect(bothDidOne())
        app.report(.ended(nil))
        #expect(bothDidOne())
        #expect(read.withLock { $0 } == [30, 40, 0])
        #expect(written.withLock { $0 } == [ServiceLimits.channelWindow, 77, -1])
    }

    @Test("behaviour 8.7: a channel closes once, with its second stream or when it is released")
    func aChannelClosesOnce() {
        let closed = StreamApp()
        _ = closed.asked()
        closed.input.open()
        closed.output.open()
        closed.output.close()
        #expect(closed.asked() == [])
        closed.input.close()
        #expect(closed.asked() == [.close])
        closed.drop()
        #expect(closed.asked() == [])
        let dropped = StreamApp()
        _ = dropped.asked()
        let input = dropped.input
        input.open()
        dropped.report(.received([1]))
        dropped.drop()
        #expect(dropped.asked() == [.close])
        // Data that has arrived can still be read.
        var octet: UInt8 = 0
        #expect(input.read(&octet, maxLength: 1) == 1)
        #expect(input.streamStatus == .atEnd)
        input.close()
        #expect(dropped.asked() == [])
    }

    @Test("a stream that is closed, removed from its run loop or without a delegate sends no more events")
    func aStreamThatIsTakenOutTellsNothing() {
        let app = StreamApp()
        app.start()
        _ = app.take(3)
        let much = [UInt8](repeating: 1, count: ServiceLimits.channelWindow)
        #expect(app.output.write(much, maxLength: much.count) == much.count)
        app.output.close()
        app.report(.room(5))
        app.input.delegate = nil
        app.report(.received([1]))
        #expect(app.catchUp())
        #expect(app.take(0) == [])
        app.input.delegate = app
        #expect(app.take(1) == ["in bytes"])
        app.input.remove(from: app.runLoop, forMode: .default)
        var octet: UInt8 = 0
        #expect(app.input.read(&octet, maxLength: 1) == 1)
        app.report(.received([2]))
        #expect(app.catchUp())
        #expect(app.take(0) == [])
        app.input.schedule(in: app.runLoop, forMode: .default)
        #expect(app.take(1) == ["in bytes"])
        #expect(!app.isMistaken.withLock { $0 })
    }

    @Test("many threads use one channel, and each octet is sent once and in the order of its writer")
    func manyThreadsUseOneChannel() {
        let app = StreamApp()
        app.input.open()
        app.output.open()
        _ = app.asked()
        let read = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for round in 0..<500 {
                switch thread {
                case 0: app.report(.received(octets(20)))
                case 1: app.report(.room(8))
                case 2: _ = app.output.write([UInt8(round & 0xFF), UInt8(round >> 8)], maxLength: 2)
                default:
                    var buffer = [UInt8](repeating: 0, count: 20)
                    let count = app.input.hasBytesAvailable ? app.input.read(&buffer, maxLength: 20) : 0
                    read.withLock { $0 += count }
                }
            }
        }
        var buffer = [UInt8](repeating: 0, count: 20_000)
        if app.input.hasBytesAvailable {
            read.withLock { [count = app.input.read(&buffer, maxLength: 20_000)] in $0 += count }
        }
        #expect(read.withLock { $0 } == 10_000)
        var sent: [UInt8] = []
        for case .send(let octets) in app.asked() { sent += octets }
        var expected: [UInt8] = []
        for round in 0..<500 { expected += [UInt8(round & 0xFF), UInt8(round >> 8)] }
        #expect(sent == expected)
    }
}
