import BluetoothTypes
import EventLoops
import Logging
import SampleMessages
import Security
import ServiceMessages
import Synchronization

@testable import BluetoothService
@testable import BluetoothSimulation
@testable import ServiceProcess

/// A simulated phone whose service has clients over in-memory connections, in virtual time.
final class ClientWorld: Sendable {
    static let owner: UInt32 = 1_000
    let world: SimulatedWorld
    let phone: SimulatedDevice
    let log = LogLines()
    let clients: LoopBound<ServiceClients>
    let moment: MemoryLine.Moment
    /// The app programs that the service launches.
    let programs: LoopBound<StubPrograms>

    init(
        seed: UInt64 = 1,
        admitsOtherUsers: Bool = false,
        moment: MemoryLine.Moment = .afterwards,
        table: ProcessTable? = nil,
        units: LoopBound<StubUnits>? = nil,
        records: HeldRecords? = nil
    ) {
        self.moment = moment
        let world = SimulatedWorld(seed: seed)
        self.world = world
        let bonds = records.map { LoopBound<any BondStorage>(MemoryBondStorage(records: $0), loop: world.loop) }
        phone = world.addDevice(named: "phone", bonds: bonds) { _ in }
        let access = AccessRule(owner: Self.owner, admitsOtherUsers: admitsOtherUsers)
        let (log, loop) = (log, world.loop)
        let programs = LoopBound(StubPrograms(loop: loop), loop: loop)
        self.programs = programs
        clients = phone.withSystem { system in
            let logger = Logger(label: "test") { _ in log }
            let made = ServiceClients(
                of: system,
                socket: "/nowhere",
                loop: loop,
                access: access,
                table: table
                    ?? ProcessTable(user: Self.owner) { _ in
                        nil
                    } signal: { _, _ in
                    },
                programs: programs.value,
                freezer: units.map { Freezer($0.value, logger: logger) },
                logger: logger
            )
            return LoopBound(made, loop: loop)
        }
        world.run(for: .seconds(1))
    }

    /// Runs `body` with the system, on its loop.
    func with<Result: Sendable>(_ body: @escaping @Sendable (BluetoothSystem) -> Result) -> Result {
        phone.withSystem(body)
    }

    /// Connects a process that sends nothing yet.
    ///
    /// - Parameter messages: The number of messages from the service after which its connection closes; nil to keep it
    ///   open.
    func connect(user: UInt32 = ClientWorld.owner, process: Int32 = 1, endingAfter messages: Int? = nil) -> RawClient {
        let (loop, moment) = (world.loop, moment)
        let end = clients.with { clients in
            let (near, far) = MemoryLine.pair(loop: loop, moment: moment)
            far.messagesLeft = messages
            clients.accept(far, from: Caller(process: process, user: user, group: user))
            return LoopBound((near: near, far: far), loop: loop)
        }
        return RawClient(end, world)
    }
}

/// The test's end of a client connection.
final class RawClient: RawConnection, Sendable {
    let ends: LoopBound<(near: MemoryLine, far: MemoryLine)>
    let world: SimulatedWorld
    private let received = Mutex<[ServiceMessage]>([])
    private let closed = Mutex<MessageLineError?>(nil)
    /// The number of events sent to managers with a restore identifier.
    private let counts = Mutex<[ManagerID: UInt64]>([:])
    private let isSilent = Atomic(false)

    /// Whether the process does not report the events it has read.
    var readsSilently: Bool {
        get { isSilent.load(ordering: .relaxed) }
        set { isSilent.store(newValue, ordering: .relaxed) }
    }

    init(_ ends: LoopBound<(near: MemoryLine, far: MemoryLine)>, _ world: SimulatedWorld) {
        self.ends = ends
        self.world = world
        ends.with { [weak self] ends in
            ends.near.onReceive = { [weak self, weak near = ends.near] octets in
                guard let self, let message = try? ServiceMessage(reading: octets) else { return }
                received.withLock { $0.append(message) }
                if let count = count(message) { near?.send(count.encoded()) }
            }
            ends.near.onClose = { error in self?.closed.withLock { $0 = error } }
        }
    }

    /// The report of a process that has read a message.
    private func count(_ message: ServiceMessage) -> AppMessage? {
        guard case .event(let id, let event) = message, !event.isOfChannel, !readsSilently else { return nil }
        let count = counts.withLock { counts in
            counts[id]? += 1
            return counts[id]
        }
        return count.map { .eventsRead(id, count: $0) }
    }

    /// Removes and returns the messages since the last call.
    func take() -> [ServiceMessage] {
        received.withLock { received in
            defer { received = [] }
            return received
        }
    }

    /// The events that managers received.
    func events() -> [Event] {
        take().compactMap { if case .event(_, let event) = $0 { event } else { nil } }
    }

    /// The reason for which the service ended the connection, or nil.
    func goodbye() -> String? {
        take().lazy.compactMap { if case .goodbye(let error) = $0 { error.reason } else { nil } }.first
    }

    var isClosed: Bool { closed.withLock { $0 != nil } }

    func send(_ octets: PacketBuffer) {
        post([octets])
        world.run(for: .milliseconds(1))
    }

    /// Sends messages without advancing time.
    func post(_ messages: [PacketBuffer]) {
        ends.with { ends in for message in messages { ends.near.send(message) } }
    }

    func send(_ message: AppMessage) {
        if case .openManager(let id, _, let options) = message, options.restoreIdentifier != nil {
            counts.withLock { $0[id] = 0 }
        }
        send(message.encoded())
    }

    /// The connection, opened as an app.
    func greeting() -> Self {
        greet()
        return self
    }

    /// Opens the connection as an app, and discards the welcome.
    func greet(_ name: String = "com.example.app", declaring declaration: AppDeclaration = .unmanaged) {
        send(Opening.app(Hello(AppIdentity(name: name), declaring: declaration)).encoded())
        _ = take()
    }
}

/// The test's end of a connection to a service in a simulated world.
protocol RawConnection {
    var ends: LoopBound<(near: MemoryLine, far: MemoryLine)> { get }
    var world: SimulatedWorld { get }
}

extension RawConnection {
    func send(_ octets: PacketBuffer) {
        ends.with { $0.near.send(octets) }
        world.run(for: .milliseconds(1))
    }

    /// Makes this end read or stop reading.
    func setRoom(_ hasRoom: Bool) {
        ends.with { $0.far.block(!hasRoom) }
        world.run(for: .milliseconds(1))
    }

    /// Whether the service reads from this connection.
    var isRead: Bool { ends.with { $0.far.isReading } }

    func die() {
        ends.with { $0.near.close() }
        world.run(for: .milliseconds(1))
    }
}
