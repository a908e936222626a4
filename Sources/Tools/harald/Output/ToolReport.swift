import Administration
import Foundation

/// The output of a command: text for people, or a line of JSON for each document.
struct ToolReport: Sendable {
    /// The version of all documents. It grows when a field is renamed, removed, or changes its meaning.
    static let schema = 1

    let isJSON: Bool
    /// Whether standard output has nothing but the result. Then the progress is shown on a terminal alone.
    private let onlyResult: Bool
    private let write: @Sendable (String) -> Void
    private let writeLines: @Sendable (ArraySlice<UInt8>) -> Void

    /// - Parameter write: Receives each line. By default, standard output does.
    init(json isJSON: Bool, onlyResult: Bool = false, write: (@Sendable (String) -> Void)? = nil) {
        self.isJSON = isJSON
        self.onlyResult = onlyResult
        guard let write else {
            (self.write, writeLines) = (Console.line, Console.write(visible:))
            return
        }
        self.write = write
        writeLines = { lines in
            for line in lines.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast() {
                write(String(decoding: line, as: UTF8.self))
            }
        }
    }

    /// Prints lines of text that end with newlines, in one piece. All of their characters have to be visible.
    func show(visible lines: ArraySlice<UInt8>) { writeLines(lines) }

    /// Prints a line about the progress, which is not part of the result.
    func say(_ text: String) {
        if !onlyResult, !isJSON {
            write(text)
        } else if onlyResult, isatty(STDERR_FILENO) != 0 {
            Console.problem(text)
        }
    }

    /// Prints a step on the way to the result.
    func step(_ document: some ReportDocument, as line: @autoclosure () -> String) {
        if onlyResult { say(line()) } else { show(document, as: line()) }
    }

    /// Prints a result: a document, or else lines.
    func show(_ document: some ReportDocument, as lines: [String]) {
        guard isJSON else { return lines.forEach(write) }
        write(Console.escaped(json: Self.text(of: document)))
    }

    func show(_ document: some ReportDocument, as line: @autoclosure () -> String) {
        isJSON ? show(document, as: []) : write(line())
    }

    static func text(of document: some ReportDocument) -> String {
        // Documents consist of texts, numbers and lists, which can always be encoded.
        JSONText.of(Envelope(document: document)) ?? ""
    }

    /// A document together with the fields that each has.
    private struct Envelope<Document: ReportDocument>: Encodable {
        let document: Document

        private enum Key: CodingKey {
            case schema
            case event
        }

        func encode(to encoder: any Encoder) throws {
            try document.encode(to: encoder)
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(ToolReport.schema, forKey: .schema)
            try container.encode(Document.event, forKey: .event)
        }
    }
}

/// A result of a command, as an object of JSON.
protocol ReportDocument: Encodable, Sendable {
    /// The value of the field `event`, which tells the kinds of documents apart.
    static var event: String { get }
}

/// Formats a number of things, such as `1 octet` or `3 octets`.
func count(_ number: Int, _ thing: String) -> String { number == 1 ? "1 \(thing)" : "\(number) \(thing)s" }
