import Foundation
import Synchronization

/// Standard output, a whole line at a time from whatever thread, at once even into a pipe.
enum Console {
    private static let lock = Mutex(())

    static func line(_ text: String) {
        lock.withLock { _ in
            // A reader that has gone away is no reason to fail.
            try? FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
        }
    }
}
