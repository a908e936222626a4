import BluetoothTypes
import Bonds
import EventLoops
import Foundation
import HCIHost

// MARK: - Records

extension BluetoothSystem {
    /// Restores the saved state of the previous system. If the storage cannot be opened now, the system tries again
    /// when a controller and its bonds are opened.
    func openRecords() {
        keeper.onStorage = { [weak self] in self?.takeRecords(from: $0.records) }
        do throws(BondError) {
            takeRecords(from: try keeper.openStorage().records)
        } catch {
            trouble("the saved state of apps cannot be read: \(error)", .error)
        }
    }

    private func takeRecords(from storage: any RecordStorage) {
        guard let found = records.open(storage) else { return }
        permissions = found.permissions.decisions(ownedBy: configuration.user).merging(permissions) { $1 }
        peers.names = found.names
        takeTables(found.tables)
        controllerMemory.take(found.controllers.entries)
        records.keep(PermissionRecord(permissions))
        for app in apps { noteChange(of: app) }
        for record in found.apps {
            if configuration.version.preservesAcrossSwitches, preserved[record.app] == nil {
                preserve(record)
            } else {
                // The version does not preserve apps across switches (behaviour 10.18), or the app is here by now.
                noteChange(of: record.app)
            }
        }
    }

    /// Writes all changes, and no further ones: activities that end with the system are not over for its apps.
    func closeRecords() {
        keepChanged()
        records.finish()
    }

    /// Marks an app's record as changed because its requests to repeat may differ. The record is saved after everything
    /// that is due now has run.
    func noteChange(of app: AppIdentity) {
        if !changedApps.contains(app) { changedApps.append(app) }
        noteChange()
    }

    /// Schedules a save of the changed records.
    func noteChange() {
        guard !isKeeping else { return }
        isKeeping = true
        loop.execute { [weak self] in self?.keepChanged() }
    }

    private func keepChanged() {
        let apps = changedApps
        (changedApps, isKeeping) = ([], false)
        for app in apps { records.keep(record(of: app), of: app) }
        records.keep(peers.names)
        records.keep(ControllerRecord(controllerMemory.entries))
        if hasNewTables { records.keep(writtenTables) }
        hasNewTables = false
    }

    /// Adopts the tables that the previous service found since the device started. They are as good as what this
    /// service would find.
    private func takeTables(_ found: TableRecord) {
        guard let run = configuration.run, found.run == run else { return }
        for entry in found.entries where tables[entry.peer] == nil && !bonded.contains(entry.peer) {
            remember(KnownTable(found: entry.found), of: entry.peer)
        }
    }

    /// Remembers the attribute table of a peer. Nil forgets it.
    func remember(_ table: KnownTable?, of peer: UUID) {
        if let table { tables.set(table, for: peer) } else { tables.removeValue(for: peer) }
        guard configuration.run != nil, writtenTables.set(table?.found, of: peer) else { return }
        noteNewTables()
    }

    /// Forgets the attribute tables of all peers.
    func forgetTables() {
        tables.removeAll()
        guard !writtenTables.entries.isEmpty else { return }
        writtenTables.removeAll()
        noteNewTables()
    }

    private func noteNewTables() {
        hasNewTables = true
        noteChange()
    }

    /// Whether a request changes the record of its app. The record has to be durable before the request takes effect,
    /// so that an app that has observed the effect finds it again.
    func changesRecord(_ request: Request, _ session: any ManagerSession, of app: AppIdentity) -> Bool {
        guard session.keeps(request) else { return false }
        let wishes = wishes(of: session, in: app)
        return wishes.after(request) != wishes
    }

    /// Makes the record of an app durable, including the requests that its managers are about to perform
    /// (``AppManager/coming``).
    ///
    /// - Parameter completion: Called once, when the record is durable or cannot be saved. It is called before this
    ///   method returns if the storage is synchronous.
    func keepRecord(of app: AppIdentity, completion: @escaping () -> Void) {
        records.keep(record(of: app), of: app, completion: completion)
    }

    /// Returns the current record of an app, or nil if there is nothing to save. An unmanaged app behaves as on a Mac,
    /// where nothing is restored (behaviour 10.22).
    private func record(of app: AppIdentity) -> AppRecord? {
        let kept = sessions(of: app).filter {
            $0.manager.options.restoreIdentifier != nil && $0.manager.life.declaration.isRecorded
        }
        guard let life = kept.last?.manager.life, hasSlot(app) else { return nil }
        let managers = kept.prefix(ServiceLimits.managers).map { session in
            var options = session.manager.options
            options.isReopened = false
            return ManagerRecord(
                role: session.manager.role,
                options: options,
                wishes: wishes(of: session, in: app)
            )
        }
        return AppRecord(
            app: app,
            declaration: life.declaration,
            executable: life.executable,
            managers: Array(managers),
            process: life.mark
        )
    }

    /// Whether an app has a record slot or may occupy one. Users share the slots (AB-G05).
    private func hasSlot(_ app: AppIdentity) -> Bool {
        let recorded = records.recordedApps
        guard !recorded.contains(app) else { return true }
        let refusal = ServiceLimits.recordedApps.refusal(
            "records",
            for: app,
            beside: recorded.map { (app: $0, count: 1) }
        )
        guard let refusal else { return true }
        if unrecorded.count >= ServiceLimits.recordedApps.total { unrecorded = [] }
        guard unrecorded.insert(app).inserted else { return false }
        trouble(
            "\(app.name) of user \(app.owner) has no record and would not be restored by the next service: \(refusal.reason ?? "")"
        )
        return false
    }

    /// Returns the requests that a manager would have to repeat, including those that it is about to perform.
    private func wishes(of session: any ManagerSession, in app: AppIdentity) -> [Request] {
        session.manager.coming.reduce(currentWishes(of: session, in: app)) { $0.after($1) }
    }

    private func currentWishes(of session: any ManagerSession, in app: AppIdentity) -> [Request] {
        if let kept = preserved[app]?.managers.first(where: { $0.session === session }), let wishes = kept.wishes {
            return wishes
        }
        let manager = session.manager
        return [manager.unclaimed, manager.postponed].first { !$0.isEmpty } ?? session.wishes
    }
}

extension ManagerSession {
    /// Whether a request may change the record of the app.
    func keeps(_ request: Request) -> Bool {
        manager.options.restoreIdentifier != nil && state == .poweredOn && request.changesWishes
    }
}
