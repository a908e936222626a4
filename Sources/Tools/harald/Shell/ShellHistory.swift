import BluetoothTypes
import Foundation
import ServiceProcess

/// The lines that the user has typed, in a file that only the user can read.
///
/// The file is replaced as a whole for each line, so that it never grows beyond its limits, and shells that run at the
/// same time add to the same history.
struct ShellHistory {
    static let maximumLines = 1_000
    /// The maximum length of a line that is kept, in octets.
    static let maximumLength = 1_024
    /// The maximum size of the file in octets.
    private static let maximumSize = maximumLines * (maximumLength + 1)

    private let path: String

    init(path: String = StateDirectory.history()) {
        self.path = path
    }

    /// Whether a line may be kept: none that begins with a space, and none with a secret.
    static func keeps(_ line: String) -> Bool {
        guard let first = line.first, first != " ", line.utf8.count <= maximumLength, line.visible == line else {
            return false
        }
        return !hasSecret(line)
    }

    /// Whether a line has a passkey or out-of-band data. The shell refuses these options, but the user may try.
    private static func hasSecret(_ line: String) -> Bool {
        let words = ShellWords(line)
        let all = words.words + [words.current ?? "", line]
        if all.contains(where: { $0.contains("--answer") || $0.contains("--oob") }) { return true }
        // A passkey that was typed when its prompt was closed already.
        let digits = line.filter { $0 != " " }
        return digits.count == 6 && digits.allSatisfy(\.isNumber)
    }

    /// The lines of the file, the latest last; none if it cannot be read.
    func lines() -> [String] {
        guard let file = try? PlainFile(path, atMost: Self.maximumSize, followsLink: false) else { return [] }
        let lines = String(decoding: file.octets, as: UTF8.self).split(separator: "\n").map(String.init)
        return Array(lines.filter(Self.keeps).suffix(Self.maximumLines))
    }

    /// Adds a line, if it may be kept, unless it repeats the one before it. Returns whether the line was added.
    @discardableResult
    func add(_ line: String) -> Bool {
        guard Self.keeps(line) else { return false }
        let before = lines()
        guard before.last != line else { return false }
        return write((before + [line]).suffix(Self.maximumLines))
    }

    private func write(_ lines: some Sequence<String>) -> Bool {
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        try? FileManager.default.createDirectory(
            atPath: directory,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        // mkstemp(3) creates the file with mode 0600.
        var template = Array("\(path).XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { return false }
        let temporary = String(decoding: template.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try file.write(contentsOf: Data((lines.joined(separator: "\n") + "\n").utf8))
            if rename(temporary, path) == 0 { return true }
        } catch {}
        unlink(temporary)
        return false
    }
}
