import BluetoothTypes
import EventLoops
import Foundation
import Security
import ServiceMessages
import Testing

@testable import BluetoothService

/// Records in memory that report each change before they make it, and delay it for as long as a test demands.
final class WatchedRecords: RecordStorage {
    private struct Change {
        let slot: RecordSlot
        let content: RecordContent
        let loop: any EventLoop
        let completion: (RecordError?) -> Void
    }

    let inner = MemoryRecordStorage()
    /// Called with a slot that is about to change, and its new content.
    var willChange: (RecordSlot, [UInt8]?) -> Void = { _, _ in }
    /// The slots whose changes are held until ``complete(_:)``.
    var isHeld: (RecordSlot) -> Bool = { _ in false }
    private var changes: [Change] = []
    /// Whether two changes to one slot were ever in progress at the same time.
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

    /// The slots with held changes.
    var held: [RecordSlot] { changes.map(\.slot) }

    /// Performs the oldest held change, or that of a slot. The completion runs in the loop's next task.
    @discardableResult
    func complete(_ slot: RecordSlot? = nil) -> Bool {
        guard let index = changes.firstIndex(where: { slot == nil || $0.slot == slot }) else { return false }
        let change = changes.remove(at: index)
        let error = perform(change.slot, change.content)
        change.loop.execute { change.completion(error) }
        return true
    }

    /// Power fails: held changes are lost.
    func loseHeld() { changes = [] }
}

/// A device whose system starts anew from its storage.
final class RecordBench: AppLauncher {
    let world = ServiceWorld()
    let records = WatchedRecords()
    let storage: MemoryBondStorage
    private(set) var phone: TestDevice
    private let configure: (inout SystemConfiguration) -> Void
    private(set) var launches: [String] = []
    /// The failures that the system reported.
    private(set) var troubles: [String] = []
    /// The processes that have outlived a service.
    var running: Set<ProcessMark> = []
    /// When the latest system started.
    private(set) var begin = Instant.zero
    /// Keeps the apps alive: an app closes its managers when it is released.
    private var opened: [InProcessConnection] = []

    init(configure: @escaping (inout SystemConfiguration) -> Void = { _ in }) {
        storage = MemoryBondStorage(secret: RandomSource(seed: 5), records: records)
        self.configure = configure
        phone = world.device("Phone", bonds: storage, configure: configure)
        watch()
    }

    private func watch() {
        phone.system.apps.preservation.launcher = self
        phone.system.observers.add(.trouble) { [weak self] in
            if case .trouble(let text, _) = $0.content { self?.troubles.append(text) }
        }
    }

    func launch(_ app: AppIdentity, restoring managers: RestoreIdentifiers) { launches.append(app.name) }

    func isRunning(_ process: ProcessMark) -> Bool { running.contains(process) }

    /// Cuts the power, so that the system has no time to act, and creates the next one. Starts it and turns the radio
    /// on, unless `isStarted` is false: then the system has only read its records.
    func restart(isStarted: Bool = true) {
        phone.system.apps.records.keeper.close()
        records.loseHeld()
        phone.system.stop()
        opened = []
        world.run(.zero)
        begin = world.loop.now
        phone = world.device("Phone", isStarted: isStarted, bonds: storage, configure: configure)
        if !isStarted { phone.system.apps.start() }
        watch()
    }

    /// An app with a restoring manager that has been notified that the radio is on.
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

    /// The app records in storage.
    var written: [AppRecord] {
        (0..<RecordSlot.apps).compactMap { slot in
            records.inner.contents[.app(slot)].flatMap { try? AppRecord(reading: PacketBuffer($0)) }
        }
    }

    /// The requests that lead to the recorded intent for the first manager of the first app.
    var recorded: [Request]? { written.first?.managers.first?.intent.requests }
}
