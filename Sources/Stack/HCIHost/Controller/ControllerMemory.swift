import HCI

/// The fallbacks that controllers have turned out to need, by device and firmware, so that each later start begins with
/// them.
///
/// Outlives the hosts that share it. Use it on their event loop only.
package final class ControllerMemory {
    /// The maximum number of controllers. The least recently used ones are dropped first.
    package static let maximumControllers = 32

    /// The identity of a controller.
    package struct Device: Hashable, Sendable {
        /// Where the controller is attached (``HCITransport/place``).
        package var place: String
        /// The manufacturer's company identifier, as assigned by the Bluetooth SIG.
        package var company: UInt16

        package init(place: String, company: UInt16) {
            (self.place, self.company) = (place, company)
        }
    }

    /// The firmware version of a controller. A different version discards what is known.
    package struct Firmware: Hashable, Sendable {
        /// The HCI version, a number assigned by the Bluetooth SIG.
        package var version: UInt8
        package var revision: UInt16
        package var subversion: UInt16

        package init(version: UInt8, revision: UInt16, subversion: UInt16) {
            (self.version, self.revision, self.subversion) = (version, revision, subversion)
        }
    }

    /// The fallbacks of one controller.
    package struct Entry: Hashable, Sendable {
        package var device: Device
        package var firmware: Firmware
        package var fallbacks: Set<ControllerFallback>

        package init(device: Device, firmware: Firmware, fallbacks: Set<ControllerFallback>) {
            (self.device, self.firmware, self.fallbacks) = (device, firmware, fallbacks)
        }
    }

    /// The known controllers, the most recently used last.
    package private(set) var entries: [Entry] = []
    /// Called after each change of ``entries``.
    package var onChange: (() -> Void)?

    /// The number of unanswered commands by controller; removed once they have led to a fallback.
    private var hangs: [Device: Int] = [:]
    /// The number of unanswered commands that leads to a fallback.
    package static let hangsBeforeFallback = 2

    /// The number of successful trials by controller. A trial repeats a scan that reported no devices with the
    /// fallback, and succeeds if it reports one.
    private var trials: [Device: Int] = [:]
    /// The number of successful trials, with silence in between, that rules out chance.
    package static let trialsBeforeFallback = 2

    package init() {}

    /// Counts a successful trial: a controller that reported no devices reports one with the fallback.
    ///
    /// - Returns: Whether there were enough trials to record the fallback.
    package func noteTrial(of controller: ControllerInformation) -> Bool {
        Self.count(controller.device, in: &trials, upTo: Self.trialsBeforeFallback)
    }

    /// Resets the trials of a controller that reports devices without a fallback.
    package func forgetTrials(of controller: ControllerInformation) {
        trials[controller.device] = nil
    }

    /// Counts an unanswered command of a set that can be replaced.
    ///
    /// - Returns: Whether there were enough to record a fallback.
    func noteHang(of controller: ControllerInformation) -> Bool {
        Self.count(controller.device, in: &hangs, upTo: Self.hangsBeforeFallback)
    }

    private static func count(_ device: Device, in counts: inout [Device: Int], upTo limit: Int) -> Bool {
        if counts.count >= maximumControllers { counts = [:] }
        let count = counts[device, default: 0] + 1
        counts[device] = count < limit ? count : nil
        return count >= limit
    }

    /// Adds stored entries. Newer findings about the same device take precedence.
    package func adopt(_ earlier: [Entry]) {
        let known = Set(entries.map(\.device))
        let new = earlier.filter { !known.contains($0.device) && !$0.fallbacks.isEmpty }
        entries = Array((new + entries).suffix(Self.maximumControllers))
    }

    /// Returns the fallbacks of a controller, which counts as a use. Discards those found with a different firmware.
    package func fallbacks(of controller: ControllerInformation) -> Set<ControllerFallback> {
        guard let index = entries.firstIndex(where: { $0.device == controller.device }) else { return [] }
        guard entries[index].firmware == controller.firmware else {
            entries.remove(at: index)
            onChange?()
            return []
        }
        let entry = entries[index]
        if index != entries.count - 1 {
            entries.remove(at: index)
            entries.append(entry)
            onChange?()
        }
        return entry.fallbacks
    }

    /// Records a fallback, which replaces its opposite.
    package func note(_ fallback: ControllerFallback, of controller: ControllerInformation) {
        var known = fallbacks(of: controller)
        guard !known.contains(fallback) else { return }
        known.insert(fallback)
        if let opposite = fallback.opposite { known.remove(opposite) }
        entries.removeAll { $0.device == controller.device }
        entries.append(Entry(device: controller.device, firmware: controller.firmware, fallbacks: known))
        if entries.count > Self.maximumControllers { entries.removeFirst() }
        onChange?()
    }
}

extension ControllerInformation {
    var device: ControllerMemory.Device { .init(place: place, company: companyIdentifier) }

    var firmware: ControllerMemory.Firmware {
        .init(version: version.rawValue, revision: revision, subversion: subversion)
    }
}

/// A deviation from the default use of a controller that does not do what it claims (`Documentation/Quirks.md`). The
/// raw values are stored in records and must not change.
package enum ControllerFallback: UInt8, CaseIterable, Hashable, Sendable {
    /// Use the legacy commands of version 4.0, though the controller claims the extended commands of version 5.0: these
    /// are refused or have no effect.
    case legacyCommands = 1
    /// Use the extended commands of version 5.0, though the controller does not list all of them: the legacy commands
    /// of version 4.0 hang.
    case extendedCommands = 2
    /// Do not use the Coded PHY, though the controller claims it.
    case noCodedPHY = 3
    /// Take turns advertising, scanning and connecting, though the controller claims to do them at once.
    case takesTurns = 4
    /// Omit 2M from the PHYs of a connection request, though the controller claims it.
    case no2MInitiating = 5

    /// The fallback that this one replaces, or nil if there is none.
    package var opposite: ControllerFallback? {
        switch self {
        case .legacyCommands: .extendedCommands
        case .extendedCommands: .legacyCommands
        case .noCodedPHY, .takesTurns, .no2MInitiating: nil
        }
    }
}
