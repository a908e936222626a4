import ArgumentParser
import BluetoothTypes
import CaptureStory
import Foundation
import HCI

struct RedactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redact",
        abstract: "Copy a capture without keys, addresses, names and values, so that it can be shared.",
        discussion: """
            The same address, name or value has the same replacement, of the same length and kind, so that the copy opens in \
            Wireshark and harald explain tells the same story. The replacements follow from a random key that is \
            forgotten. The copy is a btsnoop file, or a pcapng file for a capture of the air. UUIDs, company identifiers, \
            times and lengths stay.

            Examples:
              harald redact heart.btsnoop -o shared.btsnoop
              harald redact air.pcapng -o shared.pcapng

            \(ExitStatus.text())
            """
    )

    /// The octets of the key of the replacements.
    private static let seedLength = 32
    /// The octets that are written at a time.
    private static let piece = 1 << 18

    @OptionGroup var showing: ShowingOptions

    @Option(
        name: [.short, .long],
        help: ArgumentHelp("The file to write. An existing file is replaced.", valueName: "FILE"),
        completion: .file()
    )
    var output: String

    @Argument(help: ArgumentHelp("The capture file. It is read twice.", valueName: "FILE"), completion: .file())
    var file: String

    func run() throws {
        do throws(ToolError) {
            try redact()
        } catch {
            throw error.report(json: showing.json)
        }
    }

    private func redact() throws(ToolError) {
        let keys = try learn()
        var generator = SystemRandomNumberGenerator()
        let seed = (0..<Self.seedLength).map { _ in UInt8.random(in: 0...255, using: &generator) }
        var redactor = CaptureRedactor(seed: seed, keys: keys)
        let file = try openOutput()
        var (copy, octets, written) = (RedactedFile?.none, [UInt8](), 0)
        func write(_ records: [CaptureRecord]) {
            for record in records {
                guard let record = copy?.record(record) else { continue }
                octets += record
                written += 1
            }
            if octets.count >= Self.piece {
                file.write(octets)
                octets.removeAll(keepingCapacity: true)
            }
        }
        let isCut = try CaptureInput(path: self.file).read { record throws(ToolError) in
            if copy == nil {
                copy = RedactedFile(like: record, hasFrames: keys.hasFrames)
                octets = copy?.header ?? []
            }
            write(redactor.receive(record))
        }
        write(redactor.finish())
        file.write(octets)
        let document = RedactedDocument(packets: written, leftOut: redactor.leftOut, isCut: isCut)
        ToolReport(json: showing.json).show(document, as: document.line)
    }

    private func learn() throws(ToolError) -> RedactionKeys {
        var keys = RedactionKeys()
        _ = try CaptureInput(path: file).read { record throws(ToolError) in keys.learn(record) }
        return keys
    }

    private func openOutput() throws(ToolError) -> CaptureFile {
        guard !isSameFile else { throw .incomplete("the output is the capture itself; choose another file with -o") }
        do throws(CaptureError) {
            return try CaptureFile(path: output)
        } catch {
            throw .capture(error)
        }
    }

    private var isSameFile: Bool {
        var (a, b) = (stat(), stat())
        guard stat(file, &a) == 0, stat(output, &b) == 0 else { return false }
        return a.st_dev == b.st_dev && a.st_ino == b.st_ino
    }
}

/// The result of a redaction.
struct RedactedDocument: ReportDocument {
    static let event = "redacted"

    let packets: Int
    let leftOut: Int
    let isCut: Bool

    var line: String {
        var line = "\(count(packets, "packet")) redacted"
        if leftOut > 0 { line += "; \(count(leftOut, "record")) without complete packets left out" }
        if isCut { line += "; the file ends within a record" }
        return line
    }
}
