import BluetoothTypes
import EventLoops
import HCIHost
import Security
import ServiceMessages

/// Saves the records of apps and of the system, and reads them when a system starts. An unchanged record is not
/// written.
///
/// The storage may be slow, and slots are independent. While the record of a slot is being saved, only the latest state
/// of that slot waits, along with the completions of those who asked for them. Used on the loop only.
final class RecordKeeper {
    /// The duration of a save after which it is reported as slow.
    static let slowness = Duration.seconds(1)
    static let retryPause = Duration.seconds(30)
    static let closingTime = Duration.seconds(5)

    private enum Place {
        case none
        case open(any RecordStorage)
        /// Changes are no longer saved.
        case closed
    }

    /// The intended record of a slot, and the progress of saving it.
    private struct Slot {
        /// Nil for an empty slot.
        var record: KeptRecord?
        var phase = Phase.durable
        /// The error that was reported last, unless the slot has been saved since.
        var reported: String?
        /// Whether a save has failed since the slot was last saved. Otherwise a report was about a slow save.
        var hasFailed = false

        var isUnwritten: Bool {
            switch phase {
            case .durable: false
            case .saving(let save): save.record != record
            case .failed: true
            }
        }
    }

    private enum Phase {
        case durable
        case saving(Save)
        /// The last save failed. The task retries it.
        case failed(retry: ScheduledTask)
    }

    /// A save in progress.
    private struct Save {
        let record: KeptRecord?
        /// Whether the previous save failed and the record has not changed since.
        let isRetry: Bool
        /// Called when this save has ended.
        var waiting: [() -> Void]
        /// Called when the next save has ended, because the record has changed since this one began.
        var later: [() -> Void] = []
        /// The task that reports the save as slow.
        var alarm: ScheduledTask?
    }

    /// Called when a record cannot be read or saved, and when it can again.
    var onTrouble: ((String, EventWeight) -> Void)?

    private let loop: any EventLoop
    private var place = Place.none
    private var slots: [RecordSlot: Slot] = [:]
    /// The slot number of each app.
    private var apps: [AppIdentity: Int] = [:]
    /// Slots with an unusable record. They are overwritten only when no other slot is free.
    private var spoiled: Set<Int> = []

    init(loop: any EventLoop) {
        self.loop = loop
    }

    /// The records that were saved by the previous system.
    struct Found {
        var apps: [AppRecord] = []
        var permissions = PermissionRecord()
        var names = NameRecord()
        var tables = TableRecord()
        var controllers = ControllerRecord()
        var accessories = AccessoryRecord()
    }

    /// Reads all records. Returns nil if that has been done before.
    func open(_ storage: any RecordStorage) -> Found? {
        guard case .none = place else { return nil }
        place = .open(storage)
        var found = Found()
        for slot in 0..<RecordSlot.apps {
            do throws(RecordError) {
                guard let record = try read(AppRecord.self, .app(slot), storage) else { continue }
                // A duplicate was written by another program.
                guard apps[record.app] == nil else {
                    throw .damaged(
                        place: RecordSlot.app(slot).name,
                        reason: "its app already has another record",
                        backup: nil
                    )
                }
                apps[record.app] = slot
                slots[.app(slot)] = Slot(record: .app(record))
                found.apps.append(record)
            } catch {
                spoiled.insert(slot)
                onTrouble?("\(error)", .error)
            }
        }
        found.permissions = readOne(PermissionRecord.self, .permissions, storage) { .permissions($0) }
        found.names = readOne(NameRecord.self, .names, storage) { .names($0) }
        found.tables = readOne(TableRecord.self, .tables, storage) { .tables($0) }
        found.controllers = readOne(ControllerRecord.self, .controllers, storage) { .controllers($0) }
        found.accessories = readOne(AccessoryRecord.self, .accessories, storage) { .accessories($0) }
        return found
    }

    var recordedApps: [AppIdentity] { Array(apps.keys) }

    private func readOne<Record: PacketFields>(
        _ type: Record.Type,
        _ slot: RecordSlot,
        _ storage: any RecordStorage,
        _ kept: (Record) -> KeptRecord
    ) -> Record {
        var record = Record()
        do throws(RecordError) {
            record = try read(type, slot, storage) ?? record
        } catch {
            onTrouble?("\(error)", .error)
        }
        slots[slot] = Slot(record: kept(record))
        return record
    }

    /// Ignores changes from now on.
    func close() { place = .closed }

    /// Saves the record of an app in place of its current one. Nil removes it.
    ///
    /// - Parameter completion: Called once the record is durable or saving has failed; before this method returns if
    ///   there is nothing to wait for.
    func keep(_ record: AppRecord?, of app: AppIdentity, completion: (() -> Void)? = nil) {
        guard case .open = place else {
            completion?()
            return
        }
        if let record {
            guard let slot = apps[app] ?? freeSlot() else {
                onTrouble?("\(RecordError.full(RecordSlot.apps))", .error)
                completion?()
                return
            }
            apps[app] = slot
            spoiled.remove(slot)
            keep(.app(record), in: .app(slot), completion)
        } else if let slot = apps.removeValue(forKey: app) {
            keep(nil, in: .app(slot), completion)
        } else {
            completion?()
        }
    }

    func keep(_ new: PermissionRecord) { keep(.permissions(new), in: .permissions) }

    func keep(_ new: NameRecord) { keep(.names(new), in: .names) }

    func keep(_ new: TableRecord) { keep(.tables(new), in: .tables) }

    func keep(_ new: ControllerRecord) { keep(.controllers(new), in: .controllers) }

    func keep(_ new: AccessoryRecord) { keep(.accessories(new), in: .accessories) }

    private func freeSlot() -> Int? {
        let taken = Set(apps.values)
        let free = (0..<RecordSlot.apps).filter { !taken.contains($0) }
        return free.first { !spoiled.contains($0) } ?? free.first
    }

    private func read<Record: PacketFields>(
        _ type: Record.Type,
        _ slot: RecordSlot,
        _ storage: any RecordStorage
    ) throws(RecordError) -> Record? {
        guard let octets = try storage.load(slot) else { return nil }
        do throws(PacketError) {
            return try Record(reading: PacketBuffer(octets))
        } catch {
            throw .damaged(place: slot.name, reason: "\(error)", backup: nil)
        }
    }
}

// MARK: - Saves

extension RecordKeeper {
    private func keep(_ record: KeptRecord?, in slot: RecordSlot, _ completion: (() -> Void)? = nil) {
        guard case .open = place else {
            completion?()
            return
        }
        var state = slots[slot] ?? Slot()
        let isNew = state.record != record
        let waiting = completion.map { [$0] } ?? []
        state.record = record
        switch state.phase {
        case .durable where !isNew:
            completion?()
        case .saving(var save):
            if save.record == record { save.waiting += waiting } else { save.later += waiting }
            state.phase = .saving(save)
            slots[slot] = state
        case .failed(let retry):
            loop.cancel(retry)
            slots[slot] = state
            save(slot, for: waiting)
        case .durable:
            slots[slot] = state
            save(slot, for: waiting)
        }
    }

    /// Starts a save. The storage may complete it before this method returns.
    private func save(_ slot: RecordSlot, for waiting: [() -> Void], isRetry: Bool = false) {
        guard case .open(let storage) = place else { return waiting.forEach { $0() } }
        let record = slots[slot]?.record
        slots[slot]?.phase = .saving(Save(record: record, isRetry: isRetry, waiting: waiting))
        storage.change(slot, Self.content(record, slot), on: loop) { [weak self] in self?.saved(slot, $0) }
        guard case .saving(var save) = slots[slot]?.phase, save.alarm == nil else { return }
        save.alarm = loop.schedule(after: Self.slowness) { [weak self] in self?.isSlow(slot) }
        slots[slot]?.phase = .saving(save)
    }

    private static func content(_ record: KeptRecord?, _ slot: RecordSlot) -> RecordContent {
        { () throws(RecordError) -> [UInt8]? in
            guard let record else { return nil }
            return try record.encoded(for: slot)
        }
    }

    private func saved(_ slot: RecordSlot, _ error: RecordError?) {
        guard let state = slots[slot], case .saving(let ended) = state.phase else { return }
        if let alarm = ended.alarm { loop.cancel(alarm) }
        slots[slot]?.hasFailed = error != nil
        report(error.map { "\($0)" }, slot, state, isNew: !ended.isRetry)
        let isCurrent = state.record == ended.record
        if !isCurrent {
            save(slot, for: ended.later)
        } else if error == nil {
            slots[slot]?.phase = .durable
        } else {
            let retry = loop.schedule(after: Self.retryPause) { [weak self] in
                self?.save(slot, for: [], isRetry: true)
            }
            slots[slot]?.phase = .failed(retry: retry)
        }
        for body in ended.waiting + (isCurrent ? ended.later : []) { body() }
    }

    /// Reports an error, unless a retry failed with the same one, and the first successful save after a report.
    private func report(_ error: String?, _ slot: RecordSlot, _ state: Slot, isNew: Bool = true) {
        guard error != state.reported || error != nil && isNew else { return }
        slots[slot]?.reported = error
        if let error {
            onTrouble?(error, .error)
        } else {
            onTrouble?("\(name(of: slot)) has been saved\(state.hasFailed ? " again" : "")", .notice)
        }
    }

    private func isSlow(_ slot: RecordSlot) {
        guard let state = slots[slot], case .saving = state.phase else { return }
        let text =
            "saving \(name(of: slot)) is taking longer than \(Self.slowness): requests that change it wait; check the disk"
        report(text, slot, state)
    }

    private func name(of slot: RecordSlot) -> String {
        let app = apps.first { .app($0.value) == slot }?.key.name
        return app.map { "the record of \($0.quotedName)" } ?? "the record \(slot.name)"
    }

    /// Waits until all records are durable, and ignores later changes. Blocks the loop, at the end of a system.
    func finish() {
        guard case .open(let storage) = place else { return }
        var isDone = storage.finish(within: Self.closingTime)
        if isDone {
            for (slot, state) in slots.sorted(by: { $0.key.name < $1.key.name }) where state.isUnwritten {
                storage.change(slot, Self.content(state.record, slot), on: loop) { _ in }
            }
            isDone = storage.finish(within: Self.closingTime)
        }
        if !isDone {
            onTrouble?(
                "not all records were saved within \(Self.closingTime): older versions remain; check the disk",
                .error
            )
        }
        close()
    }
}
