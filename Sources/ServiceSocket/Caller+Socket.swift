import CLinux
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
        let held: EventLoopFuture<Int32> = options.unsafeGetSocketOption(
            level: .socket,
            name: .init(rawValue: CInt(harald_SO_PEERPIDFD))
        )
        // What is owned is closed, whatever comes of the rest.
        let descriptor = held.map { ProcessDescriptor(owning: $0) as ProcessDescriptor? }.recover { _ in nil }
        asked.and(descriptor).whenComplete { result in
            // A socket without a peer is said to be of nobody.
            guard case .success(let (found, descriptor)) = result, found.user != .max else { return completion(nil) }
            let (process, user, group) = (found.process, found.user, found.group)
            completion(Caller(process: process, user: user, group: group, descriptor: descriptor))
        }
    }
}
