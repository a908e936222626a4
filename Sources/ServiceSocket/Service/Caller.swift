import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Who is at the other end of a socket, as the kernel says and nobody else (unix(7), `SO_PEERCRED`).
package struct Caller: Hashable, Sendable {
    /// The process that connected; 0 for one that this one cannot see.
    package var process: Int32
    /// Its user.
    package var user: UInt32
    /// Its group.
    package var group: UInt32

    /// A caller.
    package init(process: Int32, user: UInt32, group: UInt32) {
        self.process = process
        self.user = user
        self.group = group
    }

    /// As the kernel writes it: `struct ucred`.
    private struct Credentials {
        var process: Int32 = 0
        var user: UInt32 = 0
        var group: UInt32 = 0
    }

    /// Asks the kernel. On the channel's loop.
    static func of(_ channel: any Channel, _ completion: @escaping @Sendable (Caller?) -> Void) {
        guard let options = channel as? any SocketOptionProvider else { return completion(nil) }
        let asked: EventLoopFuture<Credentials> = options.unsafeGetSocketOption(
            level: .socket,
            name: .init(rawValue: SO_PEERCRED)
        )
        asked.whenComplete { result in
            let found = try? result.get()
            // A socket without a peer is said to be of nobody.
            completion(
                found.flatMap { $0.user == .max ? nil : Caller(process: $0.process, user: $0.user, group: $0.group) }
            )
        }
    }
}
