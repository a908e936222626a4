import BluetoothTypes
import EventLoops
import HCI

/// A link layer that sends its version repeatedly, although the specification allows it only once (Core Vol 6 Part B
/// 5.1.5).
extension VirtualController {
    /// The number of additional version indications.
    static let repeatedVersions = 3
    /// The time between two version indications.
    static let versionPause = Duration.milliseconds(100)

    /// Starts sending additional version indications on a new link.
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
}
