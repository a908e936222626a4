import BluetoothTypes
import EventLoops
import Foundation
import HCITransports
import ServiceMessages
import TestBasics
import Testing

@testable import BluetoothService
@testable import ServiceProcess

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// How the service reacts when one task sends a process more than its socket accepts. swift-nio reports that inside the
/// call that sends.
@Suite struct FullSocketTests {
    /// A service with one client. Another client checks that the service still responds.
    private struct ServedClient {
        let scratch = TemporaryDirectory.uncreated()
        let socket: ListeningSocket
        let service: SocketService
        let client: RawSocket

        init() async throws {
            socket = try ListeningSocket(path: scratch.socket, mode: 0o600, group: nil)
            service = try await SocketService(on: socket, path: scratch.socket)
            client = try RawSocket(path: scratch.socket)
        }

        func isServing() throws -> Bool {
            let modest = try RawSocket(path: scratch.socket)
            _ = try modest.open("modest")
            return try modest.isAnswered()
        }
    }

    /// 288 kB of service UUIDs.
    private static let services = (1...18_000).map { BluetoothUUID(high: 1, low: $0) }

    private static func octets(of channel: UInt32) -> Event {
        .channel(ChannelID(channel), .received(PacketBuffer([UInt8](repeating: UInt8(channel & 0xFF), count: 32_768))))
    }

    @Test("AB-G05: a restored state larger than the socket buffer reaches its app")
    func aLongRestoredState() async throws {
        let served = try await ServedClient()
        let scan = ScanRequest(services: Self.services)
        served.service.with { system in
            let options = ManagerOptions(showsPowerAlert: false, restoreIdentifier: "x")
            let manager = ManagerRecord(role: .central, options: options, intent: Intent([.central(.startScan(scan))]))
            let app = AppIdentity(name: "app", owner: getuid())
            system.apps.preservation.restore(AppRecord(app: app, declaration: .unmanaged, managers: [manager]))
        }
        try served.client.greet("app")
        served.client.send(
            .openManager(ManagerID(1), .central, ManagerOptions(showsPowerAlert: false, restoreIdentifier: "x"))
        )
        #expect(try served.isServing())
        #expect(try served.client.nextMessage().count > SocketLine.highWaterMark)
        #expect(try served.client.isAnswered())
        served.service.close()
    }

    @Test("AB-G05: a discovery with more services than fit into the socket buffer reaches its app")
    func anAdvertiserOfManyServices() async throws {
        let served = try await ServedClient()
        let app = try served.client.open("app")
        _ = try served.client.nextEvent()
        let events = (0..<3).map { rssi in
            var advertisement = Advertisement()
            advertisement.overflowServiceUUIDs = Self.services
            return Event.central(.discovered(PeerInfo(), advertisement, rssi: -rssi))
        }
        let loop = served.service.listener.loop
        let isTold = served.service.withManager(of: app) { _, manager in
            for event in events { manager.deliver(event, on: loop) }
            return true
        }
        #expect(isTold == true)
        #expect(try served.isServing())
        // Only the latest event of each advertiser is queued.
        for event in [events[0], events[2]] {
            let message = ServiceMessage.event(ManagerID(1), event).encoded()
            #expect(try served.client.nextMessage() == message)
        }
        #expect(try served.client.isAnswered())
        served.service.close()
    }

    /// A connection accepts data up to its high-water mark, plus the kernel's buffer: 15 of these events.
    @Test(
        "AB-G05: a suspended app receives the data of full channels",
        arguments: [(count: 12, leastWaiting: 0), (count: 600, leastWaiting: 580)]
    )
    func aPeerThatFillsChannels(count: Int, leastWaiting: Int) async throws {
        let served = try await ServedClient()
        var declaration = AppDeclaration()
        declaration.usageDescription = "to test"
        let app = try served.client.open("app", declaring: declaration)
        _ = try served.client.nextEvent()
        let loop = served.service.listener.loop
        let events = (1...UInt32(count)).map(Self.octets(of:))
        let left = served.service.withManager(of: app) { app, manager in
            app.happened(.left)
            app.happened(.timeIsUp)
            for event in events { manager.deliver(event, on: loop) }
            app.happened(.entered)
            return manager.mailbox.waiting.count
        }
        #expect(left.map { $0 >= leastWaiting } == true)
        #expect(try served.isServing())
        var channels: [Event] = []
        while channels.count < count {
            let event = try served.client.nextEvent()
            if case .channel = event { channels.append(event) }
        }
        #expect(channels == events)
        #expect(try served.client.isAnswered())
        served.service.close()
    }

    @Test("AB-G05: a connection that is not read ends once, after the call that exceeds its limit")
    func aLineThatIsNotReadEnds() async throws {
        let (scratch, loop) = (TemporaryDirectory.uncreated(), NIOEventLoop())
        let socket = try ListeningSocket(path: scratch.socket, mode: 0o600, group: nil)
        #expect(listen(socket.descriptor, 1) == 0)
        let notes = await withCheckedContinuation { continuation in
            loop.submit {
                SocketDialer(path: scratch.socket, loop: loop).dial { result in
                    guard case .success(let line) = result else { return continuation.resume(returning: ["no line"]) }
                    var notes: [String] = []
                    line.onClose = { error in
                        if case .notTaken = error { notes.append("closed") }
                        loop.execute { continuation.resume(returning: notes) }
                    }
                    for _ in 0..<20 { line.send(PacketBuffer([UInt8](repeating: 0, count: 1 << 20))) }
                    notes.append(line.hasRoom ? "room" : "no room")
                }
            }
        }
        #expect(notes == ["no room", "closed"])
        loop.shutDown()
    }
}
