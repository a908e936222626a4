/// What a line of the kernel's log complains of about a Bluetooth controller (btusb, btintel, btrtl, btbcm, btqca, btmtk of Linux).
package struct KernelComplaint: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// There is no such file, as far as the line has its name.
        case firmwareMissing(file: String?)
        /// The controller did not take it.
        case firmwareFailed
        /// It did not answer, or reported an error.
        case controllerFailed
    }

    /// Whose controller it is, by the name of its driver or of its files.
    package enum Maker: Hashable, Sendable, CaseIterable {
        case realtek, broadcom, qualcomm, intel, other
    }

    /// Characters that are kept of a line. The kernel writes a thousand at the most.
    package static let maximumWords = 120

    package let kind: Kind
    package let maker: Maker
    /// `hci0`; nil where the line does not say.
    package let adapter: String?
    /// What the line says, without what comes first in each.
    package let words: String

    /// Reads a line; nil for one that is about something else.
    package init?(_ line: String) {
        let lower = line.lowercased()
        guard lower.contains("bluetooth") else { return nil }
        if Self.missingFirmware.contains(where: lower.contains) {
            // Files with settings are asked for where there need be none.
            guard !lower.contains("_config") else { return nil }
            kind = .firmwareMissing(file: Self.firmwareFile(in: line))
        } else if Self.failedFirmware.contains(where: lower.contains) {
            kind = .firmwareFailed
        } else if lower.contains("tx timeout") || lower.contains("hardware error") {
            kind = .controllerFailed
        } else {
            return nil
        }
        maker = Self.maker(in: lower)
        adapter = Self.adapter(in: line)
        words = Self.tail(of: line)
    }

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

    private static func maker(in line: String) -> Maker {
        if line.contains("rtl") { return .realtek }
        if line.contains("brcm") || line.contains("bcm") { return .broadcom }
        if line.contains("qca") || line.contains("rampatch") { return .qualcomm }
        return line.contains("intel") ? .intel : .other
    }

    /// What comes behind the name of the adapter; a line may be long.
    private static func tail(of line: String) -> String {
        let text = line.split(separator: ": ", maxSplits: 2).last.map(String.init) ?? line
        return String(text.prefix(maximumWords))
    }
}
