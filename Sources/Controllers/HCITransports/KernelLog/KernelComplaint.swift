/// A failure of a Bluetooth controller that a line of the kernel log reports (Linux drivers btusb, btintel, btrtl,
/// btbcm, btqca and btmtk).
package struct KernelComplaint: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// A firmware file does not exist. `file` is nil when the line does not name it.
        case firmwareMissing(file: String?)
        /// The controller rejected the firmware.
        case firmwareFailed
        /// The controller did not answer, or reported an error.
        case controllerFailed
    }

    /// The controller's manufacturer, inferred from the names of drivers and firmware files.
    package enum Maker: Hashable, Sendable, CaseIterable {
        case realtek, broadcom, qualcomm, intel, other
    }

    /// The maximum length of ``words``, in characters. The kernel itself writes at most a thousand.
    package static let maximumWords = 120

    package let kind: Kind
    package let maker: Maker
    /// The adapter, such as `hci0`; nil when the line does not name it.
    package let adapter: String?
    /// The message without its prefix.
    package let words: String

    /// Parses a line of the log. Returns nil when it reports no such failure.
    package init?(_ line: String) {
        let lower = line.lowercased()
        guard lower.contains("bluetooth") else { return nil }
        if Self.missingFirmware.contains(where: lower.contains) {
            // Drivers request optional configuration files, whose absence is no failure.
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

    /// The kernel reports a missing file as error -2 (ENOENT).
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

    /// Returns the first `hciN` in the line.
    private static func adapter(in line: String) -> String? {
        line.split { !($0.isLetter || $0.isNumber) }.map(String.init).first { word in
            word.hasPrefix("hci") && word.count > 3 && word.count < 7 && word.dropFirst(3).allSatisfy(\.isNumber)
        }
    }

    /// Returns the first path below the kernel's firmware directory.
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

    /// Returns the message after the adapter's prefix, truncated.
    private static func tail(of line: String) -> String {
        let text = line.split(separator: ": ", maxSplits: 2).last.map(String.init) ?? line
        return String(text.prefix(maximumWords))
    }
}

/// A record of the kernel log as read from `/dev/kmsg`: a header, a semicolon, a line of text, and further lines of
/// key-value pairs for programs (`Documentation/ABI/testing/dev-kmsg` of Linux).
package enum KernelRecord {
    /// Returns the record's text if it mentions Bluetooth; nil otherwise.
    package static func message(in record: some Collection<UInt8>) -> String? {
        let text = String(decoding: record, as: UTF8.self)
        guard let start = text.firstIndex(of: ";") else { return nil }
        let line = text[text.index(after: start)...].prefix { $0 != "\n" }
        return line.lowercased().contains("bluetooth") ? String(line) : nil
    }
}
