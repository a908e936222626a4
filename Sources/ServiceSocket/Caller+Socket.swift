import NIOCore
import ServiceProcess

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

extension Caller {
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
