import Foundation

/// A line of the shell's input.
enum ShellInput: Equatable {
    case line(String)
    /// A line that cannot be used, and why.
    case invalid(String)
    case end

    /// The maximum length of a line in octets.
    static let maximumLength = 65_536

    static let tooLong = ShellInput.invalid("a line has at most \(maximumLength) octets")

    /// Decodes a line, without its end.
    init(octets: some Collection<UInt8>) {
        guard octets.count <= Self.maximumLength else {
            self = .tooLong
            return
        }
        guard !octets.contains(0), let text = String(validating: octets, as: UTF8.self) else {
            self = .invalid("the line is not text in UTF-8")
            return
        }
        self = .line(text)
    }
}

/// Where the lines of the shell come from.
protocol LineSource {
    /// Waits for the next line. At a terminal, `prompt` is the text before it.
    func next(prompt: String) -> ShellInput
    /// Adds a line to those that the user can recall.
    func remember(_ line: String)
}

/// Lines of a pipe or file, or of a terminal without an editor.
final class PlainLines: LineSource {
    private static let newline = UInt8(ascii: "\n")

    private let showsPrompt: Bool
    private let read: () -> [UInt8]?
    private var pending: [UInt8] = []
    /// Whether the rest of a line is being skipped that is too long.
    private var isSkipping = false
    private var isAtEnd = false

    /// - Parameter read: Waits for input; nil at its end.
    init(showsPrompt: Bool, read: @escaping () -> [UInt8]? = { StandardInput().read() }) {
        self.showsPrompt = showsPrompt
        self.read = read
    }

    func remember(_ line: String) {}

    func next(prompt: String) -> ShellInput {
        if showsPrompt { Console.prompt(prompt) }
        while !isAtEnd {
            if let end = pending.firstIndex(of: Self.newline) {
                let line = Array(pending[..<end])
                pending.removeFirst(end + 1)
                return input(line)
            }
            if pending.count > ShellInput.maximumLength {
                pending = []
                isSkipping = true
            }
            guard let more = read() else {
                isAtEnd = true
                break
            }
            pending += more
        }
        return last()
    }

    private func input(_ line: [UInt8]) -> ShellInput {
        defer { isSkipping = false }
        return isSkipping ? .tooLong : ShellInput(octets: line)
    }

    /// The line that the end of the input ends, or the end.
    private func last() -> ShellInput {
        guard !pending.isEmpty || isSkipping else {
            if showsPrompt { Console.line("") }
            return .end
        }
        defer { pending = [] }
        return input(pending)
    }
}
