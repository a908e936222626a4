import BluetoothSimulation
import BluetoothTypes
import Bonds
import CoreBluetooth
import EventLoops
import Logging
import ServiceMessages
import Synchronization

@testable import BluetoothService
@testable import BluetoothSimulation
@testable import ServiceProcess

/// A simulated phone whose service has clients over lines in memory, in virtual time.
final class ClientWorld: Sendable {
    static let owner: UInt32 = 1_000
    let world: SimulatedWorld
    let phone: SimulatedDevice
    let log = LogLines()
    let clients: LoopBound<ServiceClients>
    let moment: MemoryLine.Moment
    /// The programs of apps that the service starts.
    let programs: LoopBound<StubPrograms>

    init(
        seed: UInt64 = 1,
        letsOthersIn: Bool = false,
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
        let access = AccessRule(owner: Self.owner, letsOthersIn: letsOthersIn)
        let (log, loop) = (log, world.loop)
        let programs = LoopBound(StubPrograms(loop: loop), loop: loop)
        self.programs = programs
        clients = phone.parts.with { parts in
            let logger = Logger(label: "test") { _ in log }
            let made = ServiceClients(
                of: parts.system,
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

    /// Does something with the system, on its loop.
    func with<Result: Sendable>(_ body: @escaping @Sendable (BluetoothSystem) -> Result) -> Result {
        phone.parts.with { body($0.system) }
    }

    /// Connects a process that sends nothing yet.
    ///
    /// - Parameter messages: The number of messages from the service after which its line ends; nil for no end.
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

/// The end of a line that a test has in hand.
final class RawClient: Sendable {
    private let ends: LoopBound<(near: MemoryLine, far: MemoryLine)>
    private let world: SimulatedWorld
    private let received = Mutex<[ServiceMessage]>([])
    private let closed = Mutex<MessageLineError?>(nil)
    /// The number of events that managers with a restore identifier were sent.
    private let counts = Mutex<[ManagerID: UInt64]>([:])
    private let isSilent = Atomic(false)

    /// Whether the process says nothing of what it reads.
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

    /// What a process says that has read a message.
    private func count(_ message: ServiceMessage) -> AppMessage? {
        guard case .event(let id, let event) = message, !event.isOfChannel, !readsSilently else { return nil }
        let count = counts.withLock { counts in
            counts[id]? += 1
            return counts[id]
        }
        return count.map { .eventsRead(id, count: $0) }
    }

    /// What has come since the last time.
    func take() -> [ServiceMessage] {
        received.withLock { received in
            defer { received = [] }
            return received
        }
    }

    /// What managers were told.
    func events() -> [Event] {
        take().compactMap { if case .event(_, let event) = $0 { event } else { nil } }
    }

    /// Why the service has ended it; nil while it has not.
    func goodbye() -> String? {
        take().lazy.compactMap { if case .goodbye(let error) = $0 { error.reason } else { nil } }.first
    }

    var isClosed: Bool { closed.withLock { $0 != nil } }

    func send(_ octets: PacketBuffer) {
        post([octets])
        world.run(for: .milliseconds(1))
    }

    /// Sends messages, and lets no time pass.
    func post(_ messages: [PacketBuffer]) {
        ends.with { ends in for message in messages { ends.near.send(message) } }
    }

    func send(_ message: AppMessage) {
        if case .openManager(let id, _, let options) = message, options.restoreIdentifier != nil {
            counts.withLock { $0[id] = 0 }
        }
        send(message.encoded())
    }

    /// Opens as an app, and takes the welcome.
    func greet(_ name: String = "com.example.app", declaring declaration: AppDeclaration = .unmanaged) {
        send(Opening.app(Hello(AppIdentity(name: name), declaring: declaration)).encoded())
        _ = take()
    }

    /// It reads, or does not.
    func setRoom(_ hasRoom: Bool) {
        ends.with { $0.far.block(!hasRoom) }
        world.run(for: .milliseconds(1))
    }

    /// Whether the service reads what comes.
    var isRead: Bool { ends.with { $0.far.isReading } }

    /// The process is gone.
    func die() {
        ends.with { $0.near.close() }
        world.run(for: .milliseconds(1))
    }
}
