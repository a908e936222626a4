import BluetoothTypes
import Bonds
import EventLoops
import Foundation
import Testing

@testable import BluetoothService

/// Records in memory that say when they are changed, before that is so, and take as long for it as a test wants.
final class WatchedRecords: RecordStorage {
    private struct Change {
        let slot: RecordSlot
        let content: RecordContent
        let loop: any EventLoop
        let completion: (RecordError?) -> Void
    }

    let inner = MemoryRecordStorage()
    /// Called with a slot that is about to be changed, and what it is to have.
    var willChange: (RecordSlot, [UInt8]?) -> Void = { _, _ in }
    /// The slots whose changes wait for ``complete(_:)``.
    var isHeld: (RecordSlot) -> Bool = { _ in false }
    private var changes: [Change] = []
    /// Whether two changes of one slot were ever under way.
    private(set) var hasOverlapped = false

    func load(_ slot: RecordSlot) throws(RecordError) -> [UInt8]? { inner.load(slot) }

    func save(_ octets: [UInt8], in slot: RecordSlot) throws(RecordError) {
        willChange(slot, octets)
        try inner.save(octets, in: slot)
    }

    func remove(_ slot: RecordSlot) throws(RecordError) {
        willChange(slot, nil)
        try inner.remove(slot)
    }

    func change(
        _ slot: RecordSlot,
        _ content: @escaping RecordContent,
        on loop: any EventLoop,
        completion: @escaping (RecordError?) -> Void
    ) {
        guard isHeld(slot) else { return completion(perform(slot, content)) }
        if changes.contains(where: { $0.slot == slot }) { hasOverlapped = true }
        changes.append(Change(slot: slot, content: content, loop: loop, completion: completion))
    }

    func finish(within time: Duration) -> Bool {
        while complete() {}
        return true
    }

    private func perform(_ slot: RecordSlot, _ content: RecordContent) -> RecordError? {
        do throws(RecordError) {
            if let octets = try content() { try save(octets, in: slot) } else { try remove(slot) }
            return nil
        } catch {
            return error
        }
    }

    /// The slots whose changes wait.
    var held: [RecordSlot] { changes.map(\.slot) }

    /// Performs the oldest change that waits, or that of a slot. The loop is told in its next task.
    @discardableResult
    func complete(_ slot: RecordSlot? = nil) -> Bool {
        guard let index = changes.firstIndex(where: { slot == nil || $0.slot == slot }) else { return false }
        let change = changes.remove(at: index)
        let error = perform(change.slot, change.content)
        change.loop.execute { change.completion(error) }
        return true
    }

    /// The power is gone: what waits is lost.
    func loseHeld() { changes = [] }
}

/// A device whose system begins anew from what is on its storage.
final class RecordBench: AppLauncher {
    let world = TestWorld()
    let records = WatchedRecords()
    let storage: MemoryBondStorage
    private(set) var phone: TestDevice
    private let configure: (inout SystemConfiguration) -> Void
    private(set) var launches: [String] = []
    /// What the system could not do, in words.
    private(set) var troubles: [String] = []
    /// The processes that have outlived a service.
    var running: Set<ProcessMark> = []
    /// When the last system began.
    private(set) var begin = Instant.zero
    /// The apps that there are: an app that is let go of closes its managers.
    private var opened: [InProcessConnection] = []

    init(configure: @escaping (inout SystemConfiguration) -> Void = { _ in }) {
        storage = MemoryBondStorage(secret: RandomSource(seed: 5), records: records)
        self.configure = configure
        phone = world.device("Phone", bonds: storage, configure: configure)
        watch()
    }

    private func watch() {
        phone.system.launcher = self
        phone.system.observers.add(.trouble) { [weak self] in
            if case .trouble(let text, _) = $0.happening { self?.troubles.append(text) }
        }
    }

    func launch(_ app: AppIdentity, restoring managers: RestoreIdentifiers) { launches.append(app.name) }

    func isRunning(_ process: ProcessMark) -> Bool { running.contains(process) }

    /// The power goes: the system has no time to do anything. The next one is there, and the radio on; or that one has only read
    /// what is kept, and is not started.
    func restart(isStarted: Bool = true) {
        phone.system.records.close()
        records.loseHeld()
        phone.system.stop()
        opened = []
        world.run(.zero)
        begin = world.loop.now
        phone = world.device("Phone", isStarted: isStarted, bonds: storage, configure: configure)
        if !isStarted { phone.system.openRecords() }
        watch()
    }

    /// An app with a manager that restores, which has been told that the radio is on.
    func open(
        _ name: String = "Collector",
        _ role: ManagerRole = .central,
        isReopened: Bool = false
    ) -> (app: InProcessConnection, manager: TestManager) {
        let app = phone.app(name, [.central, .peripheral])
        opened.append(app)
        let manager = phone.manager(role, of: app, restoring: "one", isReopened: isReopened)
        world.run(.zero)
        return (app, manager)
    }

    /// What is written of the apps.
    var written: [AppRecord] {
        (0..<RecordSlot.apps).compactMap { slot in
            records.inner.contents[.app(slot)].flatMap { try? AppRecord(reading: PacketBuffer($0)) }
        }
    }

    /// What the first manager of the first app has to ask for again.
    var wishes: [Request]? { written.first?.managers.first?.wishes }
}
