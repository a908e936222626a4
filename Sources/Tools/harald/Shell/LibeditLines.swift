import BluetoothTypes
import CTool
import Foundation

/// Lines that the user edits with libedit, which is loaded at run time. For the main thread.
final class LibeditLines: LineSource {
    /// The library's names: Debian's, and that of other distributions.
    static let fileNames = ["libedit.so.2", "libedit.so.0"]
    /// The advice to a user without the library.
    static let advice = "lines cannot be edited without libedit; `apt-get install libedit2` installs it"

    private let editor: OpaquePointer
    private let complete: (String) -> ShellCompletion?

    /// - Parameter history: The lines that the user can recall, the latest last.
    init?(
        _ fileNames: [String] = LibeditLines.fileNames,
        history: [String],
        complete: @escaping (String) -> ShellCompletion?
    ) {
        let limit = Int32(ShellHistory.maximumLines)
        guard let editor = fileNames.lazy.compactMap({ harald_editor_create($0, limit) }).first else { return nil }
        self.editor = editor
        self.complete = complete
        history.forEach(remember)
    }

    deinit {
        harald_editor_free(editor)
    }

    func remember(_ line: String) {
        harald_editor_remember(editor, line)
    }

    func next(prompt: String) -> ShellInput {
        var text: UnsafePointer<CChar>?
        let context = Unmanaged.passUnretained(self).toOpaque()
        let count = harald_editor_read(editor, prompt, context, completeWord, &text)
        guard count >= 0, let text else {
            Console.line("")
            return .end
        }
        let octets = UnsafeRawBufferPointer(start: text, count: count)
        return ShellInput(octets: octets.last == UInt8(ascii: "\n") ? octets.dropLast() : octets[...])
    }

    fileprivate func complete(_ text: String, _ completion: OpaquePointer) {
        guard let found = complete(text) else { return }
        if let replacement = found.replacement {
            harald_completion_replace(completion, Int32(clamping: found.replacedCount), replacement)
        }
        for line in found.listing { harald_completion_list(completion, line.visible) }
    }
}

/// Called by libedit on the main thread, while it reads a line.
private func completeWord(
    _ context: UnsafeMutableRawPointer?,
    _ text: UnsafePointer<CChar>?,
    _ count: Int,
    _ completion: OpaquePointer?
) {
    guard let context, let text, let completion else { return }
    let octets = UnsafeRawBufferPointer(start: text, count: count)
    let lines = Unmanaged<LibeditLines>.fromOpaque(context).takeUnretainedValue()
    lines.complete(String(decoding: octets, as: UTF8.self), completion)
}
