import HCITransports

// Checks of what the kernel's Bluetooth drivers log about failing controllers.

extension Check {
    /// Reports identical findings once.
    static func log(_ facts: MachineFacts) -> [Finding] {
        switch facts.log {
        case .unreadable:
            let what = "the kernel log cannot be read, so missing firmware goes undetected"
            return [
                Finding(
                    .note,
                    "log-unreadable",
                    at: "this machine",
                    what,
                    do: "sudo harald doctor, or sudo dmesg | grep -i bluetooth"
                )
            ]
        case .lines(let lines):
            var seen: Set<Finding> = []
            return lines.compactMap(complaint).filter { seen.insert($0).inserted }
        }
    }

    /// Returns the finding for a log line, or nil when the line reports no known failure.
    static func complaint(_ line: String) -> Finding? {
        guard let complaint = KernelComplaint(line) else { return nil }
        let adapter = complaint.adapter ?? "this machine"
        switch complaint.kind {
        case .firmwareMissing(let file):
            let what = "the kernel did not find its firmware\(file.map { " \($0)" } ?? "")"
            // Broadcom controllers more or less work with the firmware in their ROM.
            let severity = complaint.maker == .broadcom ? Finding.Severity.weakness : .problem
            return Finding(severity, "firmware-missing", at: adapter, what, do: package(of: complaint.maker))
        case .firmwareFailed:
            let what = "loading its firmware failed: \(complaint.words)"
            return Finding(.problem, "firmware-failed", at: adapter, what, do: powerOff)
        case .controllerFailed:
            let what = "the kernel has logged a failure: \(complaint.words)"
            return Finding(.note, "controller-failed", at: adapter, what, do: powerOff)
        }
    }

    private static let powerOff =
        "unplug it, or shut down the machine and wait a few seconds; a reboot does not cut its power"

    private static func package(of maker: KernelComplaint.Maker) -> String {
        let names =
            switch maker {
            case .realtek: "firmware-realtek"
            case .broadcom: "firmware-brcm80211 or bluez-firmware"
            case .qualcomm: "firmware-atheros"
            case .intel: "firmware-iwlwifi"
            case .other: "firmware-misc-nonfree"
            }
        return
            "sudo apt install \(names) (Debian) or linux-firmware (others); then plug it in again, or power the machine off and on"
    }
}
