/// Who is at the other end of a socket, as the kernel says and nobody else (unix(7), `SO_PEERCRED`, `SO_PEERPIDFD`).
package struct Caller: Sendable {
    /// The process that connected; 0 for one that this one cannot see.
    package var process: Int32
    /// Its user.
    package var user: UInt32
    /// Its group.
    package var group: UInt32
    /// The process itself, whoever gets its number later; nil where the kernel does not hand it out.
    package var descriptor: ProcessDescriptor?

    /// A caller.
    package init(process: Int32, user: UInt32, group: UInt32, descriptor: ProcessDescriptor? = nil) {
        self.process = process
        self.user = user
        self.group = group
        self.descriptor = descriptor
    }
}
