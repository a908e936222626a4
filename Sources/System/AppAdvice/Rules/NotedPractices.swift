import Foundation
import ServiceMessages

/// Turns what the app's side has noted into advice: 12.20, 12.24, 12.27 and 12.29. `CoreBluetooth` notes it where it
/// happens, because the service cannot see it.
///
/// 12.24 is noted when the app uses a manager without having read its state in whichever way. 12.29 has no sign in a
/// world, whose clock stands still while an app's callback runs.
struct NotedPractices: Sendable {
    func accept(_ note: AppNote, _ words: (UUID) -> String, _ findings: inout Findings) {
        switch note {
        case .writeWithoutRoom(let peer):
            findings.add(
                .flowControl,
                peer: peer,
                "wrote to \(words(peer)) without response while there was no room, so that the value was lost"
            )
        case .updateWithoutRoom:
            findings.add(
                .flowControl,
                "called updateValue again after it had returned false, and before "
                    + "peripheralManagerIsReady(toUpdateSubscribers:)"
            )
        case .stateUnread: findings.add(.handleStates, "used a manager whose state it has never read")
        case .restorationIgnored:
            findings.add(.keepRestored, "has a restore identifier, and a delegate without willRestoreState")
        case .slowCallback(let milliseconds):
            findings.add(.shortCallbacks, "took \(milliseconds) ms in a callback, while the next one waited")
        }
    }
}
