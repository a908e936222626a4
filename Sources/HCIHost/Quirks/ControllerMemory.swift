import HCI

/// What controllers turned out not to be trusted with, by device and firmware, so that each next start begins with the
/// fall-back. Outlasts the hosts that it is given to; lives on their loop.
package final class ControllerMemory {
    /// Controllers that are remembered; those that were used longest ago go first.
    package static let maximumControllers = 32

    /// A controller as it is told from others.
    package struct Device: Hashable, Sendable {
        /// Where it is attached (``HCITransport/place``).
        package var place: String
        /// Its maker, by the number of the Bluetooth SIG.
        package var company: UInt16

        /// The controller that is attached there.
        package init(place: String, company: UInt16) {
            (self.place, self.company) = (place, company)
        }
    }

    /// What runs on a controller. With another one everything has to be found out anew.
    package struct Firmware: Hashable, Sendable {
        /// The version of HCI.
        package var version: UInt8
        /// The maker's revision of HCI.
        package var revision: UInt16
        /// The maker's revision of the link layer.
        package var subversion: UInt16

        /// The firmware with these numbers.
        package init(version: UInt8, revision: UInt16, subversion: UInt16) {
            (self.version, self.revision, self.subversion) = (version, revision, subversion)
        }
    }

    /// What is known of one controller.
    package struct Entry: Hashable, Sendable {
        package var device: Device
        package var firmware: Firmware
        package var fallbacks: Set<ControllerFallback>

        /// A controller with these fall-backs.
        package init(device: Device, firmware: Firmware, fallbacks: Set<ControllerFallback>) {
            (self.device, self.firmware, self.fallbacks) = (device, firmware, fallbacks)
        }
    }

    /// What is known, the controller that was used last at the end.
    package private(set) var entries: [Entry] = []
    /// Called after each change of ``entries``.
    package var onChange: (() -> Void)?

    /// How often controllers have not answered, as long as that led to nothing.
    private var hangs: [Device: Int] = [:]
    /// So often a controller does not answer before it is driven otherwise.
    package static let hangsBeforeFallback = 2

    /// How often controllers that were silent have heard somebody when they were driven otherwise.
    private var trials: [Device: Int] = [:]
    /// So often, with silence in between, that is no chance.
    package static let trialsBeforeFallback = 2

    /// Nothing is known.
    package init() {}

    /// A controller that was silent has heard somebody, driven otherwise.
    ///
    /// - Returns: Whether that has been often enough.
    package func noteTrial(of controller: ControllerInformation) -> Bool {
        if trials.count >= Self.maximumControllers { trials = [:] }
        let count = trials[controller.device, default: 0] + 1
        trials[controller.device] = count < Self.trialsBeforeFallback ? count : nil
        return count >= Self.trialsBeforeFallback
    }

    /// A controller hears somebody as it is usually driven.
    package func forgetTrials(of controller: ControllerInformation) {
        trials[controller.device] = nil
    }

    /// A controller has not answered one of the commands that can be done without.
    ///
    /// - Returns: Whether that has been often enough.
    func noteHang(of controller: ControllerInformation) -> Bool {
        if hangs.count >= Self.maximumControllers { hangs = [:] }
        let count = hangs[controller.device, default: 0] + 1
        hangs[controller.device] = count < Self.hangsBeforeFallback ? count : nil
        return count >= Self.hangsBeforeFallback
    }

    /// Goes on with what was known before. What was found since counts more.
    package func take(_ earlier: [Entry]) {
        let known = Set(entries.map(\.device))
        let new = earlier.filter { !known.contains($0.device) && !$0.fallbacks.isEmpty }
        entries = Array((new + entries).suffix(Self.maximumControllers))
    }

    /// What is done otherwise with a controller. What was found with another firmware is forgotten.
    package func fallbacks(of controller: ControllerInformation) -> Set<ControllerFallback> {
        guard let index = entries.firstIndex(where: { $0.device == controller.device }) else { return [] }
        guard entries[index].firmware == controller.firmware else {
            entries.remove(at: index)
            onChange?()
            return []
        }
        return entries[index].fallbacks
    }

    /// Remembers a fall-back, which takes the place of its opposite.
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
