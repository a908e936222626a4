import Foundation

/// The settings of the terminal, to be restored when the program ends while a line is edited.
struct TerminalSettings: Sendable {
    private let settings: termios

    /// The current settings; nil if standard input is no terminal.
    init?() {
        let settings = withUnsafeTemporaryAllocation(of: termios.self, capacity: 1) { buffer in
            buffer.baseAddress.flatMap { tcgetattr(STDIN_FILENO, $0) == 0 ? $0.pointee : nil }
        }
        guard let settings else { return nil }
        self.settings = settings
    }

    func restore() {
        var settings = settings
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }
}
