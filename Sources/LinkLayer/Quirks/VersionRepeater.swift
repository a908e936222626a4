import BluetoothTypes
import EventLoops
import HCI

/// A link layer that tells its version time and again, where the specification has it told once (Core Vol 6 Part B 5.1.5).
extension VirtualController {
    /// How often the version is told besides.
    static let repeatedVersions = 3
    /// The time from one telling to the next.
    static let versionPause = Duration.milliseconds(100)

    /// Begins to tell the peer of a new link.
    func repeatVersion(on link: Link, times: Int = repeatedVersions) {
        guard times > 0 else { return }
        loop.schedule(after: Self.versionPause) { [weak self, weak link] in
            guard let self, let link, links.contains(where: { $0 === link }) else { return }
            // While encryption begins another PDU would end the link (5.1.3.1).
            if !link.control.encryption.isBusy {
                link.perform([.send(.version(ownVersion))])
                versionsRepeated += 1
            }
            repeatVersion(on: link, times: times - 1)
        }
    }
}
