import ArgumentParser
import BluetoothTypes
import CaptureStory
import Foundation
import HCI

struct RedactCommand: ShowingCommand {
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

    func execute() throws(ToolError) {
        guard file != "-" else {
            throw .incomplete("the capture is read twice, so it cannot be standard input; name a file")
        }
        let keys = try learn()
        var generator = SystemRandomNumberGenerator()
        let seed = (0..<Self.seedLength).map { _ in UInt8.random(in: 0...255, using: &generator) }
        var redactor = CaptureRedactor(seed: seed, keys: keys)
        let file = try openOutput()
        var (copy, octets, written) = (RedactedFile?.none, [UInt8](), 0)
        func write(_ records: [CaptureRecord]) throws(ToolError) {
            for record in records {
                guard let record = copy?.record(record) else { continue }
                octets += record
                written += 1
            }
            guard octets.count >= Self.piece else { return }
            try append(octets, to: file)
            octets.removeAll(keepingCapacity: true)
        }
        let isCut = try input.read { record throws(ToolError) in
            if copy == nil {
                copy = RedactedFile(like: record, hasFrames: keys.hasFrames)
                octets = copy?.header ?? []
            }
            try write(redactor.receive(record))
        }
        try write(redactor.finish())
        try append(octets, to: file)
        do throws(OutputFile.Failure) { try file.finish() } catch { throw .capture(error) }
        let document = RedactedDocument(packets: written, leftOut: redactor.leftOut, isCut: isCut)
        report.show(document, as: document.line)
    }

    private func learn() throws(ToolError) -> RedactionKeys {
        var keys = RedactionKeys()
        _ = try input.read { record throws(ToolError) in keys.learn(record) }
        return keys
    }

    private var input: CaptureInput { CaptureInput(path: file, isReadAgain: true) }

    /// Creates the copy, which replaces an earlier file only once it is complete.
    private func openOutput() throws(ToolError) -> OutputFile {
        do throws(OutputFile.Failure) {
            return try OutputFile(output, appears: .whenFinished, reading: [file])
        } catch {
            throw .capture(error)
        }
    }

    private func append(_ octets: [UInt8], to file: OutputFile) throws(ToolError) {
        do throws(OutputFile.Failure) { try file.write(octets) } catch { throw .capture(error) }
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
