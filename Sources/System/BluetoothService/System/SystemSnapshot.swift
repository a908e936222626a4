import BluetoothTypes
import EventLoops
import Foundation
import GAP
import HCIHost
import ServiceMessages

/// A snapshot of a link.
package struct LinkSnapshot {
    package let peer: UUID
    package let name: String?
    package let connection: HCIConnection
    package let facts: LinkFacts
    package let apps: [AppIdentity]
}

/// A snapshot of what a manager asks of the radio: a scan, or an advertisement.
package struct RadioUseSnapshot<Wanted> {
    package let app: AppIdentity?
    package let request: Wanted
    /// How it is carried out in the phase of the app's life cycle: `whole`, `hidden` or `none`.
    package let way: BackgroundRules.Advertising
}

/// A snapshot of the preserved state of an app.
package struct PreservedSnapshot {
    package let app: AppIdentity
    package let identifiers: RestoreIdentifiers
    /// The number of consecutive processes that ended early (behaviour 10.25); nil without any.
    package let earlyEnds: Int?
    package let pause: Duration?
}

// What those who administer a system read of it.
extension BluetoothSystem {
    /// The established links, the oldest first.
    package var linkSnapshots: [LinkSnapshot] {
        links.all.map { link in
            LinkSnapshot(
                peer: link.peer,
                name: peers[link.peer]?.name,
                connection: link.connection,
                facts: link.reporter.facts,
                apps: link.users.compactMap { $0.subject.app }
            )
        }
    }

    package var scanSnapshots: [RadioUseSnapshot<ScanRequest>] {
        centrals.compactMap { session in
            session.scanRequest.map {
                RadioUseSnapshot(app: session.manager.subject.app, request: $0, way: session.scans ? .whole : .none)
            }
        }
    }

    package var advertisingSnapshots: [RadioUseSnapshot<AdvertisingRequest>] {
        peripherals.compactMap { session in
            session.advertisedRequest.map {
                RadioUseSnapshot(
                    app: session.manager.subject.app,
                    request: $0,
                    way: session.manager.lifecycle.rules.advertising
                )
            }
        }
    }

    /// The preserved state of apps whose process is gone, in a stable order.
    package var preservedSnapshots: [PreservedSnapshot] {
        apps.preservation.ordered.map { app in
            let relaunch = apps.preservation.relaunches.state(of: app.identity)
            return PreservedSnapshot(
                app: app.identity,
                identifiers: app.identifiers,
                earlyEnds: relaunch?.earlyEnds,
                pause: relaunch?.pause
            )
        }
    }

    /// Returns the address of a device, or nil if it is not known. Apps have only identifiers (behaviour 2.21).
    package func address(of peer: UUID) -> BluetoothAddress? { peers[peer]?.address }

    /// The properties of the attached controller; nil until they are known.
    package var controllerInformation: ControllerInformation? { controllers.device?.controllerInformation }

    /// The last step of a recovery that is under way, and the error that caused it.
    package var recovery: (step: RecoveryStep, cause: HCIHostError)? {
        guard case .escalated(let step, let cause, _) = controllers.recovery.state else { return nil }
        return (step, cause)
    }
}

extension App {
    package var executable: String? { lifecycle.executable }

    /// Whether the app is not woken for now because it overran its time in the background (behaviour 9.7).
    package var isSlowedDown: Bool { lifecycle.isSlowedDown }

    /// The managers, the oldest first.
    package var managerSnapshots: [(id: ManagerID, role: ManagerRole, options: ManagerOptions, state: ManagerState)] {
        openManagers.map { ($0.id, $0.manager.role, $0.manager.options, $0.manager.state) }
    }
}
