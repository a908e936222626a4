/// The process at the other end of a socket, as reported by the kernel (unix(7), `SO_PEERCRED`, `SO_PEERPIDFD`).
package struct Caller: Sendable {
    /// The process that connected; 0 if it is not visible to this process.
    package var process: Int32
    /// The user ID of the process.
    package var user: UInt32
    /// The group ID of the process.
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
