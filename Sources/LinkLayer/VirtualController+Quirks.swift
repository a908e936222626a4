import BluetoothTypes
import EventLoops
import HCI

// The quirks of the link layer. Those of the transport are added by ``QuirkLine``.
extension VirtualController {
    // MARK: Repeated versions

    /// The number of additional version indications.
    static let repeatedVersions = 3
    /// The time between two version indications.
    static let versionPause = Duration.milliseconds(100)

    /// Starts sending additional version indications on a new link, although the specification allows only one (Core
    /// Vol 6 Part B 5.1.5).
    func repeatVersion(on link: Link, times: Int = repeatedVersions) {
        guard times > 0 else { return }
        loop.schedule(after: Self.versionPause) { [weak self, weak link] in
            guard let self, let link, links.contains(where: { $0 === link }) else { return }
            // During encryption setup an unexpected PDU would end the link (5.1.3.1).
            if !link.control.encryption.isBusy {
                link.perform([.send(.version(ownVersion))])
                versionsRepeated += 1
            }
            repeatVersion(on: link, times: times - 1)
        }
    }

    // MARK: Lost requests

    /// Whether a connection request is lost on purpose: with ``ControllerQuirk/connectionsFail``, the first of every
    /// ten.
    func initiatorLosesRequest(_ initiator: Initiator) -> Bool {
        guard configuration.quirks.contains(.connectionsFail) else { return false }
        defer { requests.made += 1 }
        guard requests.made.isMultiple(of: 10) else { return false }
        requests.lost += 1
        return true
    }
}
