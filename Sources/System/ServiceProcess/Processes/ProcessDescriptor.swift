import CLinux
import Foundation

/// A handle of a process that stays valid when its number is reused (pidfd_open(2)). Thread-safe.
package final class ProcessDescriptor: Sendable {
    private let descriptor: Int32

    /// Takes ownership of a descriptor.
    package init(owning descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Opens a handle of the process that has this number now. Returns nil if there is none, or the kernel does not
    /// support handles.
    package convenience init?(of process: Int32) {
        let descriptor = harald_pidfd_open(process)
        guard descriptor >= 0 else { return nil }
        self.init(owning: descriptor)
    }

    deinit { close(descriptor) }

    /// Whether the process is still running. The descriptor becomes readable when it ends.
    package var isRunning: Bool {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, 0) == 0
    }

    /// Waits for a child of this process to end, and reaps it. Blocks the thread.
    func waitForEnd(of process: Int32) -> ProgramEnd { .awaited(descriptor: descriptor, process: process) }

    /// Sends the process a signal. No other process can receive it.
    package func signal(_ signal: Int32) {
        _ = harald_pidfd_send_signal(descriptor, signal)
    }
}
