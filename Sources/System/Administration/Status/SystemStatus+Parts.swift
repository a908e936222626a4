import BluetoothService
import BluetoothTypes
import EventLoops
import Foundation
import HCI
import HCIHost
import ServiceEvents
import ServiceMessages

extension TroubleStatus {
    init(_ trouble: TroubleList.Entry, now: Instant) {
        self.init(
            text: trouble.text,
            weight: "\(trouble.weight)",
            count: trouble.count,
            secondsAgo: Double((now - trouble.time).nanoseconds) / 1_000_000_000
        )
    }
}

extension DeviceStatus {
    /// The sort key, by relevance to the user.
    var order: (Int, Double) {
        (isConnected ? 0 : isBonded ? 1 : 2, lastSeenSeconds ?? .infinity)
    }
}

extension AppStatus {
    init(_ app: App, permission: AppPermission) {
        self.init(
            name: app.identity.name,
            displayName: app.declaration.displayName,
            owner: app.identity.owner,
            phase: app.phase.name,
            isManaged: app.declaration.isManaged,
            kind: app.declaration.kind.visibleName,
            isSlowedDown: app.isSlowedDown ? true : nil,
            hasLiveActivity: app.hasActivity ? true : nil,
            permission: permission.name,
            executable: app.executable,
            managers: app.managerSnapshots.map {
                ManagerStatus(
                    number: $0.id.rawValue,
                    role: $0.role.name,
                    restoreIdentifier: $0.options.restoreIdentifier,
                    state: $0.state.name
                )
            }
        )
    }
}

extension AccessoryStatus {
    init(_ accessory: SetUpAccessory, of app: AppIdentity) {
        self.init(
            app: app.name,
            owner: app.owner,
            identifier: accessory.identifier,
            name: accessory.name,
            state: "\(accessory.state)"
        )
    }
}

extension ProcessKind {
    /// The name of a kind with rules of its own.
    fileprivate var visibleName: String? {
        switch self {
        case .app, .commandLineProgram: nil
        case .iOSAppOnMac, .appExtension, .other: name
        }
    }
}

extension LinkStatus {
    init(_ link: LinkSnapshot) {
        let (connection, facts) = (link.connection, link.facts)
        self.init(
            peer: link.peer,
            name: link.name,
            role: connection.role == .central ? "central" : "peripheral",
            handle: Int(connection.handle.rawValue),
            addressType: "\(connection.peerAddress.kind)",
            mtu: facts.mtu,
            intervalMicroseconds: facts.interval,
            encryption: facts.isAuthenticated ? "authenticated" : facts.isEncrypted ? "encrypted" : "none",
            isBonded: facts.isBonded,
            apps: Set(link.apps.map(\.name)).sorted(),
            owners: Set(link.apps.map(\.owner)).sorted()
        )
    }
}

extension ScanStatus {
    init(_ scan: RadioUseSnapshot<ScanRequest>) {
        let services = (scan.request.services ?? []) + scan.request.solicitedServices
        self.init(
            app: scan.app?.name ?? "",
            owner: scan.app?.owner ?? 0,
            services: services.map { "\($0)" },
            allowsDuplicates: scan.request.allowsDuplicates,
            isActive: scan.way == .whole
        )
    }
}

extension AdvertisingStatus {
    init(_ advertisement: RadioUseSnapshot<AdvertisingRequest>) {
        self.init(
            app: advertisement.app?.name ?? "",
            owner: advertisement.app?.owner ?? 0,
            localName: advertisement.request.localName,
            services: advertisement.request.services.map { "\($0)" },
            shown: advertisement.way.rawValue
        )
    }
}

extension PermissionStatus {
    init(_ app: AppIdentity, _ decision: AppDecision) {
        self.init(
            app: app.name,
            owner: app.owner,
            permission: decision.permission.name,
            executable: decision.executable
        )
    }
}

extension PreservedStatus {
    init(_ preserved: PreservedSnapshot) {
        self.init(
            app: preserved.app.name,
            owner: preserved.app.owner,
            centrals: preserved.identifiers.centrals,
            peripherals: preserved.identifiers.peripherals,
            earlyEnds: preserved.earlyEnds,
            launchPauseSeconds: preserved.pause.map { $0 / .seconds(1) }
        )
    }
}
