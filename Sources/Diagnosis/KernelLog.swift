// What the kernel's drivers say when they fail with a controller (btusb, btintel, btrtl, btbcm, btqca, btmtk of Linux).

extension Check {
    /// Findings of one kind and adapter are told once.
    static func log(_ facts: MachineFacts) -> [Finding] {
        switch facts.log {
        case .unreadable:
            let what = "the kernel's log cannot be read: whether firmware is missing is not known"
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

    /// What a line of the log complains of; nil for a line that is about something else.
    static func complaint(_ line: String) -> Finding? {
        let lower = line.lowercased()
        guard lower.contains("bluetooth") else { return nil }
        let adapter = adapter(in: line) ?? "this machine"
        if missingFirmware.contains(where: lower.contains) {
            // Files with settings are asked for where there need be none.
            guard !lower.contains("_config") else { return nil }
            let file = firmwareFile(in: line).map { " \($0)" } ?? ""
            let what = "the kernel has not found its firmware\(file)"
            // Those of Broadcom work with what is in their ROM, more or less.
            let severity = lower.contains("bcm") ? Finding.Severity.weakness : .problem
            return Finding(severity, "firmware-missing", at: adapter, what, do: package(for: lower))
        }
        if failedFirmware.contains(where: lower.contains) {
            let what = "its firmware could not be loaded: \(tail(of: line))"
            return Finding(.problem, "firmware-failed", at: adapter, what, do: powerOff)
        }
        if lower.contains("tx timeout") || lower.contains("hardware error") {
            return Finding(
                .note,
                "controller-failed",
                at: adapter,
                "it has failed before: \(tail(of: line))",
                do: powerOff
            )
        }
        return nil
    }

    private static let powerOff =
        "unplug it, or shut the machine down, and wait some seconds: a restart leaves it powered"

    /// By -2 the kernel says that there is no such file.
    private static let missingFirmware = [
        "failed with error -2", "failed to load intel firmware file", "patch file not found",
        "failed to request rampatch file",
        "failed to request nvm file", "failed to request file", "failed to load firmware file (-2)",
        "failed to open firmware",
        "bin not found", "firmware file rtl_bt/",
    ]
    private static let failedFirmware = [
        "failed to send firmware", "download fw command failed", "failed to download patch", "failed to load patch",
        "bcm: patch command", "failed to send wmt", "reading intel version information failed",
        "sending intel patch command",
        "failed to read rtk", "firmware loading timed out", "timeout waiting for firmware", "download timeout",
    ]

    /// `hci0`, wherever it stands.
    private static func adapter(in line: String) -> String? {
        line.split { !($0.isLetter || $0.isNumber) }.map(String.init).first { word in
            word.hasPrefix("hci") && word.count > 3 && word.count < 7 && word.dropFirst(3).allSatisfy(\.isNumber)
        }
    }

    /// A path below the kernel's directory of firmware, as far as the line has one.
    private static func firmwareFile(in line: String) -> String? {
        line.split { " '\"()".contains($0) }.map(String.init).first { word in
            ["intel/", "rtl_bt/", "brcm/", "qca/", "mediatek/", "ar3k/", "nxp/"].contains { word.hasPrefix($0) }
        }
    }

    private static func package(for line: String) -> String {
        let names =
            if line.contains("rtl") {
                "firmware-realtek"
            } else if line.contains("brcm") || line.contains("bcm") {
                "firmware-brcm80211 or bluez-firmware"
            } else if line.contains("qca") || line.contains("rampatch") {
                "firmware-atheros"
            } else if line.contains("intel") {
                "firmware-iwlwifi"
            } else {
                "firmware-misc-nonfree"
            }
        return
            "sudo apt install \(names) (Debian) or linux-firmware (others); then plug it in again, or power off and on"
    }

    /// What comes behind the name of the adapter; a line may be long.
    private static func tail(of line: String) -> String {
        let text = line.split(separator: ": ", maxSplits: 2).last.map(String.init) ?? line
        return String(text.prefix(120))
    }
}
