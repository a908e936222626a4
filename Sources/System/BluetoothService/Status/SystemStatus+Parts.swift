import BluetoothTypes
import EventLoops
import Foundation
import GAP
import HCI
import HCIHost
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
            displayName: app.life.declaration.displayName,
            owner: app.identity.owner,
            phase: app.life.phase.name,
            isManaged: app.life.declaration.isManaged,
            isSlowedDown: app.life.isSlowedDown ? true : nil,
            permission: permission.name,
            executable: app.life.executable,
            managers: app.openManagers.map { ManagerStatus($0, $1) }
        )
    }
}

extension ManagerState {
    /// The name in the output of tools.
    package var name: String {
        switch self {
        case .unknown: "unknown"
        case .resetting: "resetting"
        case .unsupported: "unsupported"
        case .unauthorized: "unauthorized"
        case .poweredOff: "poweredOff"
        case .poweredOn: "poweredOn"
        }
    }

    /// The state in the words of lines for the user.
    package var word: String {
        switch self {
        case .poweredOff: "off"
        case .poweredOn: "on"
        case .unknown, .resetting, .unsupported, .unauthorized: name
        }
    }

    /// The state with this name, unless none has it.
    package init?(name: String) {
        let all = [Self.unknown, .resetting, .unsupported, .unauthorized, .poweredOff, .poweredOn]
        guard let state = all.first(where: { $0.name == name }) else { return nil }
        self = state
    }
}

extension AppPermission {
    /// The name in the output of tools.
    package var name: String {
        switch self {
        case .notDetermined: "notDetermined"
        case .restricted: "restricted"
        case .denied: "denied"
        case .allowedAlways: "allowedAlways"
        }
    }
}

extension AppPhase {
    /// The name in the output of tools.
    package var name: String {
        switch self {
        case .foreground: "foreground"
        case .background: "background"
        case .suspended: "suspended"
        case .notRunning: "notRunning"
        }
    }
}

extension ManagerRole {
    /// The name in the output of tools.
    package var name: String {
        switch self {
        case .central: "central"
        case .peripheral: "peripheral"
        }
    }
}

extension ManagerStatus {
    init(_ id: ManagerID, _ manager: AppManager) {
        self.init(
            number: id.rawValue,
            role: manager.role.name,
            restoreIdentifier: manager.options.restoreIdentifier,
            state: manager.state.name
        )
    }
}

extension LinkStatus {
    init(_ link: PeerLink, name: String?) {
        let facts = link.reporter.facts
        self.init(
            peer: link.peer,
            name: name,
            role: link.connection.role == .central ? "central" : "peripheral",
            handle: Int(link.connection.handle.rawValue),
            addressType: "\(link.connection.peerAddress.kind)",
            mtu: facts.mtu,
            intervalMicroseconds: facts.interval,
            encryption: facts.isAuthenticated ? "authenticated" : facts.isEncrypted ? "encrypted" : "none",
            isBonded: facts.isBonded,
            apps: Set(link.users.compactMap { $0.subject.app?.name }).sorted(),
            owners: Set(link.users.compactMap { $0.subject.app?.owner }).sorted()
        )
    }
}

extension ScanStatus {
    /// Returns nil for a manager that does not scan.
    init?(_ session: CentralSession) {
        guard let request = session.scanRequest else { return nil }
        let services = (request.services ?? []) + request.solicitedServices
        self.init(
            app: session.appIdentity?.name ?? "",
            owner: session.appIdentity?.owner ?? 0,
            services: services.map { "\($0)" },
            allowsDuplicates: request.allowsDuplicates,
            isActive: session.scans
        )
    }
}

extension AdvertisingStatus {
    /// Returns nil for a manager that does not advertise.
    init?(_ session: PeripheralSession) {
        guard let request = session.advertisedRequest else { return nil }
        let shown =
            switch session.advertisingWay {
            case .whole: "whole"
            case .hidden: "hidden"
            case .none: "none"
            }
        self.init(
            app: session.appIdentity?.name ?? "",
            owner: session.appIdentity?.owner ?? 0,
            localName: request.localName,
            services: request.services.map { "\($0)" },
            shown: shown
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
    init(_ app: PreservedApp, _ relaunch: (earlyEnds: Int, pause: Duration?)?) {
        let identifiers = app.identifiers
        self.init(
            app: app.identity.name,
            owner: app.identity.owner,
            centrals: identifiers.centrals,
            peripherals: identifiers.peripherals,
            earlyEnds: relaunch?.earlyEnds,
            launchPauseSeconds: relaunch?.pause.map { $0 / .seconds(1) }
        )
    }
}
