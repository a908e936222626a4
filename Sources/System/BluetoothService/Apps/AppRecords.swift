import BluetoothTypes
import EventLoops
import HCIHost
import Security
import ServiceMessages

/// Saves what outlasts a system: the records of apps, the user's decisions about them, and what is known of peers and
/// controllers. Used on the loop only.
final class AppRecords {
    let keeper: RecordKeeper
    /// The apps whose record may have changed. Processed once per turn of the loop.
    private var changedApps: [AppIdentity] = []
    /// The apps for which a lack of record slots was reported.
    private var unrecorded: Set<AppIdentity> = []
    private var isKeeping = false
    private unowned let apps: Apps

    init(_ apps: Apps) {
        self.apps = apps
        keeper = RecordKeeper(loop: apps.loop)
        keeper.onTrouble = { [weak observers = apps.observers] in observers?.trouble($0, $1) }
        apps.peers.onChange = { [weak self] in self?.noteChange() }
        apps.controllers.memory.onChange = { [weak self] in self?.noteChange() }
    }

    /// Restores the saved state of the previous system. If the storage cannot be opened now, the system tries again
    /// when a controller and its bonds are opened.
    func open() {
        apps.peers.whenStorageOpens { [weak self] in self?.load(from: $0.records) }
        do throws(BondError) {
            load(from: try apps.peers.openStorage().records)
        } catch {
            apps.observers.trouble("the saved state of apps cannot be read: \(error)", .error)
        }
    }

    private func load(from storage: any RecordStorage) {
        guard let found = keeper.open(storage) else { return }
        apps.permissions.adopt(found.permissions)
        apps.accessories.adopt(found.accessories)
        apps.peers.adopt(found.names, found.tables)
        apps.controllers.memory.adopt(found.controllers.entries)
        keep(PermissionRecord(apps.permissions.decisions))
        for app in apps.managers.apps { noteChange(of: app) }
        for record in found.apps {
            if apps.configuration.version.has(.restorationAfterRestart), apps.preservation.apps[record.app] == nil {
                apps.preservation.restore(record)
            } else {
                // The version does not preserve apps across restarts (behaviour 10.18), or the app is here by now.
                noteChange(of: record.app)
            }
        }
    }

    /// Writes all changes, and no further ones: activities that end with the system are not over for its apps.
    func close() {
        keepChanged()
        keeper.finish()
    }

    func keep(_ permissions: PermissionRecord) { keeper.keep(permissions) }

    func keep(_ accessories: AccessoryRecord) { keeper.keep(accessories) }

    // MARK: Changes

    /// Marks an app's record as changed. It is saved after everything that is due now has run.
    func noteChange(of app: AppIdentity) {
        if !changedApps.contains(app) { changedApps.append(app) }
        noteChange()
    }

    private func noteChange() {
        guard !isKeeping else { return }
        isKeeping = true
        apps.loop.execute { [weak self] in self?.keepChanged() }
    }

    private func keepChanged() {
        let changed = changedApps
        (changedApps, isKeeping) = ([], false)
        for app in changed { keeper.keep(record(of: app), of: app) }
        keeper.keep(apps.peers.nameRecord)
        keeper.keep(ControllerRecord(apps.controllers.memory.entries))
        if let tables = apps.peers.takeNewTables() { keeper.keep(tables) }
    }

    // MARK: Records of apps

    /// Makes the record of an app durable, including the requests that its managers are about to perform
    /// (``AppManager/plan(_:)``).
    ///
    /// - Parameter completion: Called once, when the record is durable or cannot be saved. It is called before this
    ///   method returns if the storage is synchronous.
    func keepRecord(of app: AppIdentity, completion: @escaping () -> Void) {
        keeper.keep(record(of: app), of: app, completion: completion)
    }

    /// Returns the current record of an app, or nil if there is nothing to save. An unmanaged app behaves as on a Mac,
    /// where nothing is restored (behaviour 10.22).
    private func record(of app: AppIdentity) -> AppRecord? {
        let kept = apps.managers.sessions(of: app).filter {
            $0.manager.options.restoreIdentifier != nil && $0.manager.lifecycle.declaration.isRecorded
        }
        guard let lifecycle = kept.last?.manager.lifecycle, hasSlot(app) else { return nil }
        let managers = kept.prefix(ServiceLimits.managers).map { session in
            var options = session.manager.options
            options.isReopened = false
            return ManagerRecord(role: session.manager.role, options: options, intent: session.manager.recordedIntent)
        }
        return AppRecord(
            app: app,
            declaration: lifecycle.declaration,
            executable: lifecycle.executable,
            managers: Array(managers),
            process: lifecycle.mark
        )
    }

    /// Whether an app has a record slot or may occupy one. Users share the slots (AB-G05).
    private func hasSlot(_ app: AppIdentity) -> Bool {
        let recorded = keeper.recordedApps
        guard !recorded.contains(app) else { return true }
        let refusal = ServiceLimits.recordedApps.refusal(
            "records",
            for: app,
            beside: recorded.map { (app: $0, count: 1) }
        )
        guard let refusal else { return true }
        if unrecorded.count >= ServiceLimits.recordedApps.total { unrecorded = [] }
        guard unrecorded.insert(app).inserted else { return false }
        apps.observers.trouble(
            "\(app.name) of user \(app.owner) has no record and would not be restored by the next service: \(refusal.reason ?? "")"
        )
        return false
    }
}
