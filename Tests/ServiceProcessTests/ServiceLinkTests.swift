import BluetoothTypes
import EventLoops
import Logging
import SampleMessages
import ServiceMessages
import Testing

@testable import BluetoothService
@testable import ServiceProcess

/// The line of an app's process to its service, which is the test.
@Suite struct ServiceLinkTests {
    /// Connects when the test says so.
    private final class SlowDialer: Dialer {
        private let loop: VirtualEventLoop
        private var pending: [(Result<any MessageLine, MessageLineError>) -> Void] = []
        private(set) var count = 0
        /// The messages that the process has sent on the latest line.
        private(set) var heard: [PacketBuffer] = []
        private(set) var near: MemoryLine?
        private var far: MemoryLine?

        init(_ loop: VirtualEventLoop) {
            self.loop = loop
        }

        func dial(_ completion: @escaping (Result<any MessageLine, MessageLineError>) -> Void) {
            count += 1
            pending.append(completion)
        }

        func connect() {
            let (near, far) = MemoryLine.pair(loop: loop)
            (self.near, self.far) = (near, far)
            far.onReceive = { [weak self] in self?.heard.append($0) }
            pending.removeFirst()(.success(near))
            loop.run(for: .zero)
        }

        func refuse() {
            pending.removeFirst()(.failure(.closedByPeer))
            loop.run(for: .zero)
        }

        func say(_ message: ServiceMessage) { send(message.encoded()) }

        func send(_ octets: PacketBuffer) {
            far?.send(octets)
            loop.run(for: .zero)
        }

        func lose() {
            far?.lost(.closedByPeer)
            loop.run(for: .zero)
        }
    }

    private final class Notes {
        var all: [String] = []
    }

    private let loop = VirtualEventLoop()
    private let hello = Hello(AppIdentity(name: "app"))

    private func make(_ dialer: SlowDialer) -> (link: ServiceLink, notes: Notes) {
        let notes = Notes()
        let link = ServiceLink(
            dialer,
            hello: hello,
            isLaunched: false,
            loop: loop,
            logger: Logger(label: "test") { _ in LogLines() }
        )
        link.onOpen = { notes.all.append("open") }
        link.onLost = { notes.all.append($0.name) }
        link.onMessage = { _ in notes.all.append("message") }
        link.begin()
        return (link, notes)
    }

    @Test("a link that is closed while it dials closes the line that comes, and says nothing there")
    func closedWhileDialing() {
        let dialer = SlowDialer(loop)
        let (link, notes) = make(dialer)
        link.close()
        dialer.connect()
        loop.run(for: .seconds(60))
        #expect(dialer.near?.isOpen == false)
        #expect(dialer.heard.isEmpty)
        #expect(notes.all.isEmpty)
        #expect(dialer.count == 1)
    }

    @Test("a link that is closed dials no more, whatever its service says then")
    func closed() {
        let waiting = SlowDialer(loop)
        let (first, notes) = make(waiting)
        waiting.refuse()
        #expect(notes.all == ["unsupported"])
        #expect(waiting.count == 1)
        first.close()
        loop.run(for: .seconds(60))
        #expect(waiting.count == 1)
        #expect(notes.all.count == 1)
        let refused = SlowDialer(loop)
        let (second, others) = make(refused)
        second.close()
        refused.refuse()
        loop.run(for: .seconds(60))
        #expect(refused.count == 1)
        #expect(others.all.isEmpty)
        let open = SlowDialer(loop)
        let (third, told) = make(open)
        open.connect()
        open.say(.welcome(Welcome()))
        #expect(told.all == ["open"])
        #expect(open.heard == [Opening.app(hello).encoded()])
        third.close()
        loop.run(for: .zero)
        #expect(open.near?.isOpen == false)
        open.say(.event(ManagerID(1), .stateChanged(.poweredOn)))
        open.lose()
        loop.run(for: .seconds(60))
        #expect(told.all == ["open"])
        #expect(open.count == 1)
    }

    @Test("events and answers are for a link that was welcomed, and what cannot be read ends the line")
    func messages() {
        let dialer = SlowDialer(loop)
        let (link, notes) = make(dialer)
        dialer.connect()
        dialer.say(.event(ManagerID(1), .stateChanged(.poweredOn)))
        #expect(notes.all.isEmpty)
        dialer.say(.welcome(Welcome()))
        dialer.say(.event(ManagerID(1), .stateChanged(.poweredOn)))
        #expect(notes.all == ["open", "message"])
        link.send([7])
        loop.run(for: .zero)
        #expect(dialer.heard.last == [7])
        dialer.send([99])
        #expect(notes.all == ["open", "message", "resetting"])
        #expect(dialer.near?.isOpen == false)
        link.send([8])
        loop.run(for: .milliseconds(49))
        #expect(dialer.count == 1)
        #expect(dialer.heard.last == [7])
        loop.run(for: .milliseconds(1))
        #expect(dialer.count == 2)
        dialer.connect()
        dialer.say(.goodbye(ServiceError(.operationNotSupported, reason: "not wanted")))
        loop.run(for: .seconds(60))
        #expect(notes.all.last == "unsupported")
        #expect(dialer.count == 2)
        #expect(dialer.near?.isOpen == false)
    }
}
