import BluetoothTypes
import Bonds

/// Writes down what is kept of apps and of what the person says, and reads it when a system begins. What has not changed is not
/// written. Lives on the loop.
final class RecordKeeper {
    private enum Place {
        /// There is none yet.
        case none
        case open(any RecordStorage)
        /// What is kept stays as it is.
        case closed
    }

    /// Hears of what cannot be read or kept.
    var onTrouble: ((RecordError) -> Void)?

    private var place = Place.none
    /// Where what is kept of an app is, and what that is.
    private var apps: [AppIdentity: (slot: Int, record: AppRecord)] = [:]
    /// Slots in which something is that is not used. They are taken when there is no other.
    private var spoiled: Set<Int> = []
    private var permissions = PermissionRecord()
    private var names = NameRecord()
    private var tables = TableRecord()
    private var controllers = ControllerRecord()

    /// What was found.
    struct Found {
        var apps: [AppRecord] = []
        var permissions = PermissionRecord()
        var names = NameRecord()
        var tables = TableRecord()
        var controllers = ControllerRecord()
    }

    /// Reads what is kept; nil when that has been done.
    func open(_ storage: any RecordStorage) -> Found? {
        guard case .none = place else { return nil }
        place = .open(storage)
        var found = Found()
        for slot in 0..<RecordSlot.apps {
            do throws(RecordError) {
                guard let record = try read(AppRecord.self, .app(slot), storage) else { continue }
                // One that is there twice was written by another program.
                guard apps[record.app] == nil else {
                    throw .damaged(
                        place: RecordSlot.app(slot).name,
                        reason: "it is of an app that has another",
                        backup: nil
                    )
                }
                apps[record.app] = (slot, record)
                found.apps.append(record)
            } catch {
                spoiled.insert(slot)
                onTrouble?(error)
            }
        }
        do throws(RecordError) {
            permissions = try read(PermissionRecord.self, .permissions, storage) ?? permissions
        } catch { onTrouble?(error) }
        do throws(RecordError) { names = try read(NameRecord.self, .names, storage) ?? names } catch {
            onTrouble?(error)
        }
        do throws(RecordError) { tables = try read(TableRecord.self, .tables, storage) ?? tables } catch {
            onTrouble?(error)
        }
        do throws(RecordError) {
            controllers = try read(ControllerRecord.self, .controllers, storage) ?? controllers
        } catch { onTrouble?(error) }
        (found.permissions, found.names, found.tables) = (permissions, names, tables)
        found.controllers = controllers
        return found
    }

    /// The apps that have a slot.
    var recordedApps: [AppIdentity] { Array(apps.keys) }

    /// Changes nothing from now on.
    func close() { place = .closed }

    /// Keeps the record of an app in place of the one that there is; nil keeps none.
    func keep(_ record: AppRecord?, of app: AppIdentity) {
        guard case .open(let storage) = place, apps[app]?.record != record else { return }
        do throws(RecordError) {
            if let record {
                let slot = if let known = apps[app]?.slot { known } else { try freeSlot() }
                try write(record, .app(slot), storage)
                apps[app] = (slot, record)
                spoiled.remove(slot)
            } else if let slot = apps[app]?.slot {
                try storage.remove(.app(slot))
                apps[app] = nil
            }
        } catch {
            onTrouble?(error)
        }
    }

    /// Keeps what the person has said.
    func keep(_ new: PermissionRecord) {
        guard case .open(let storage) = place, new != permissions else { return }
        do throws(RecordError) {
            try write(new, .permissions, storage)
            permissions = new
        } catch {
            onTrouble?(error)
        }
    }

    /// Keeps what peers call themselves.
    func keep(_ new: NameRecord) {
        guard case .open(let storage) = place, new != names else { return }
        do throws(RecordError) {
            try write(new, .names, storage)
            names = new
        } catch {
            onTrouble?(error)
        }
    }

    /// Keeps what was found at peers.
    func keep(_ new: TableRecord) {
        guard case .open(let storage) = place, new != tables else { return }
        do throws(RecordError) {
            try write(new, .tables, storage)
            tables = new
        } catch {
            onTrouble?(error)
        }
    }

    /// Keeps what controllers are not trusted with.
    func keep(_ new: ControllerRecord) {
        guard case .open(let storage) = place, new != controllers else { return }
        do throws(RecordError) {
            try write(new, .controllers, storage)
            controllers = new
        } catch {
            onTrouble?(error)
        }
    }

    private func freeSlot() throws(RecordError) -> Int {
        let taken = Set(apps.values.map(\.slot))
        let free = (0..<RecordSlot.apps).filter { !taken.contains($0) }
        guard let slot = free.first(where: { !spoiled.contains($0) }) ?? free.first else {
            throw .full(RecordSlot.apps)
        }
        return slot
    }

    /// Nothing is written that could not be read again.
    private func write<Record: PacketFields & Equatable>(
        _ record: Record,
        _ slot: RecordSlot,
        _ storage: any RecordStorage
    ) throws(RecordError) {
        let octets = record.encoded()
        guard (try? Record(reading: octets)) == record else {
            throw .unavailable(reason: "a value in \(slot.name) is out of its range, and an older state stays there")
        }
        try storage.save(octets.bytes, in: slot)
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
