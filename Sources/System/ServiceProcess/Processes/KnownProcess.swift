import Foundation

/// A particular process, as opposed to later ones with the same number.
enum KnownProcess {
    case held(ProcessDescriptor)
    /// Identified by its start time, if the kernel provides no handle. Between checking the start time and sending a
    /// signal, the number can be reused by another process.
    case numbered(Int32, beginning: String)

    /// The process of a caller; nil if it must not be ended.
    init?(of caller: Caller, in table: ProcessTable) {
        let number = caller.process
        // 0 stands for a process that is not visible to this one, and 1 is the init process.
        guard number > 1, number != getpid() else { return nil }
        if let descriptor = caller.descriptor ?? table.descriptor(number) {
            self = .held(descriptor)
        } else if let beginning = table.beginning(number) {
            self = .numbered(number, beginning: beginning)
        } else {
            return nil
        }
    }

    func exists(in table: ProcessTable) -> Bool {
        switch self {
        case .held(let descriptor): descriptor.isRunning
        case .numbered(let number, let beginning): table.beginning(number) == beginning
        }
    }

    func signal(_ signal: Int32, in table: ProcessTable) {
        switch self {
        case .held(let descriptor): descriptor.signal(signal)
        case .numbered(let number, _): table.signal(number, signal)
        }
    }
}

/// The process at the other end of a socket, as reported by the kernel (unix(7), `SO_PEERCRED`, `SO_PEERPIDFD`).
package struct Caller: Sendable {
    /// The process that connected; 0 if it is not visible to this process.
    package var process: Int32
    package var user: UInt32
    package var group: UInt32
    /// A handle of the process that stays valid when its number is reused; nil if the kernel does not provide one.
    package var descriptor: ProcessDescriptor?

    package init(process: Int32, user: UInt32, group: UInt32, descriptor: ProcessDescriptor? = nil) {
        self.process = process
        self.user = user
        self.group = group
        self.descriptor = descriptor
    }
}
