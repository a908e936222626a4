import BluetoothTypes
import EventLoops
import Foundation
import GAP
import HCI
import HCIHost

extension BluetoothSystem {
    /// A snapshot of the system.
    package var status: SystemStatus {
        SystemStatus(
            state: state.name,
            failure: state == .poweredOn ? nil : lastFailure.map { "\($0)" },
            recovery: recoveryStatus,
            controller: controllerStatus,
            apps: runningApps.map { AppStatus($0, permission: permission(of: $0.identity)) },
            links: links.map { LinkStatus($0, name: peers[$0.peer]?.name) },
            scans: centrals.compactMap(\.scanStatus),
            advertising: peripherals.compactMap(\.advertisingStatus),
            preserved: preserved.values.map { PreservedStatus($0, relaunches.state(of: $0.identity)) }.sorted {
                ($0.app, $0.owner) < ($1.app, $1.owner)
            },
            troubles: troubles.entries.reversed().map { TroubleStatus($0, now: loop.now) }
        )
    }

    /// The devices known to the system, up to ``DeviceStatus/maximumShown``: connected devices first, then bonded ones,
    /// then the most recently received.
    package var deviceStatus: [DeviceStatus] {
        let connected = Set(links.map(\.peer))
        let devices = peers.all.map { peer in
            DeviceStatus(
                identifier: peer.identifier,
                name: peer.name,
                rssi: peer.lastHeard?.rssi,
                lastSeenSeconds: peer.lastHeard.map { Double((loop.now - $0.time).nanoseconds) / 1_000_000_000 },
                isConnected: connected.contains(peer.identifier),
                isBonded: bonded.contains(peer.identifier)
            )
        }
        return Array(devices.sorted { $0.order < $1.order }.prefix(DeviceStatus.maximumShown))
    }

    /// The bonded devices, with the state of each bond.
    package var bondStatus: [BondStatus] {
        bondedPeers.map {
            BondStatus(
                identifier: $0.identifier,
                name: $0.name,
                authenticated: $0.isAuthenticated,
                hasForgottenUs: $0.hasForgottenUs
            )
        }
    }

    private var recoveryStatus: RecoveryStatus? {
        guard case .climbed(let step, let cause, _) = recovery.state else { return nil }
        let advice = step == .powerOff ? SystemNotice.advice(for: cause) : nil
        return RecoveryStatus(step: step.rawValue, cause: "\(cause)", advice: advice)
    }

    private var controllerStatus: ControllerStatus? {
        guard let controller = attached?.device.controllerInformation else { return nil }
        return ControllerStatus(
            place: controller.place,
            address: controller.publicAddress.map { "\($0)" },
            advertisedAddress: advertisedAddress.map { "\($0)" },
            company: Int(controller.companyIdentifier),
            version: Int(controller.version.rawValue),
            subversion: Int(controller.subversion),
            hasExtendedAdvertising: controller.supportsExtendedAdvertising,
            hasLongPackets: controller.maxTxOctets > 27,
            buffers: controller.aclBufferCount,
            resolvingListSize: controller.resolvingListSize
        )
    }
}

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
    fileprivate var order: (Int, Double) {
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
        let facts = link.facts
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

extension CentralSession {
    fileprivate var scanStatus: ScanStatus? {
        guard let request = scanRequest else { return nil }
        let services = (request.services ?? []) + request.solicitedServices
        return ScanStatus(
            app: appIdentity?.name ?? "",
            owner: appIdentity?.owner ?? 0,
            services: services.map { "\($0)" },
            allowsDuplicates: request.allowsDuplicates,
            isActive: scans
        )
    }
}

extension PeripheralSession {
    fileprivate var advertisingStatus: AdvertisingStatus? {
        guard let request = advertisedRequest else { return nil }
        let shown =
            switch advertisingWay {
            case .whole: "whole"
            case .hidden: "hidden"
            case .none: "none"
            }
        return AdvertisingStatus(
            app: appIdentity?.name ?? "",
            owner: appIdentity?.owner ?? 0,
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
