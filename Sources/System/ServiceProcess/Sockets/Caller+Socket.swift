import CLinux
import Foundation
import NIOCore

extension Caller {
    /// The kernel's `struct ucred`.
    private struct Credentials {
        var process: Int32
        var user: UInt32
        var group: UInt32
    }

    /// Gets the caller from the kernel. Call on the channel's loop.
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
        // Wraps the descriptor at once, so that it is closed if the other option fails.
        let descriptor = held.map { ProcessDescriptor(owning: $0) as ProcessDescriptor? }.recover { _ in nil }
        asked.and(descriptor).whenComplete { result in
            // A socket without a peer reports an invalid user.
            guard case .success(let (found, descriptor)) = result, found.user != .max else { return completion(nil) }
            let (process, user, group) = (found.process, found.user, found.group)
            completion(Caller(process: process, user: user, group: group, descriptor: descriptor))
        }
    }
}
