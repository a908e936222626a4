import CLinux

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A process that the kernel holds by a descriptor: whoever gets its number later is another one (pidfd_open(2)). May be used on any thread.
package final class ProcessDescriptor: Sendable {
    private let descriptor: Int32

    /// Owns a descriptor from now on.
    package init(owning descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// The process that has a number now; nil where there is none, or the kernel has no descriptors of processes.
    package convenience init?(of process: Int32) {
        let descriptor = harald_pidfd_open(process)
        guard descriptor >= 0 else { return nil }
        self.init(owning: descriptor)
    }

    deinit { close(descriptor) }

    /// Whether it still runs: one that has ended can be read from.
    package var isThere: Bool {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, 0) == 0
    }

    /// Waits for a child of this process to end, and reaps it. Blocks.
    func waitForEnd(of process: Int32) -> ProgramEnd { .awaited(descriptor: descriptor, process: process) }

    /// Sends it a signal, and nobody else.
    package func signal(_ signal: Int32) {
        _ = harald_pidfd_send_signal(descriptor, signal)
    }
}
