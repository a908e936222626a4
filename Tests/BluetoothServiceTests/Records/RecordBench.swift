import BluetoothTypes
import Bonds
import EventLoops
import Foundation
import Testing

@testable import BluetoothService

/// Records in memory that say when they are changed, before that is so.
final class WatchedRecords: RecordStorage {
    let inner = MemoryRecordStorage()
    /// Called with a slot that is about to be changed, and what it is to have.
    var willChange: (RecordSlot, [UInt8]?) -> Void = { _, _ in }

    func load(_ slot: RecordSlot) throws(RecordError) -> [UInt8]? { inner.load(slot) }

    func save(_ octets: [UInt8], in slot: RecordSlot) throws(RecordError) {
        willChange(slot, octets)
        try inner.save(octets, in: slot)
    }

    func remove(_ slot: RecordSlot) throws(RecordError) {
        willChange(slot, nil)
        try inner.remove(slot)
    }
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
    /// The processes that there are: an app that is let go of closes its managers.
    private var running: [InProcessConnection] = []

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

    /// The power goes: the system has no time to do anything. The next one is there, and the radio on; or that one has only read
    /// what is kept, and is not started.
    func restart(isStarted: Bool = true) {
        phone.system.records.close()
        phone.system.stop()
        running = []
        world.run(.zero)
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
        running.append(app)
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
