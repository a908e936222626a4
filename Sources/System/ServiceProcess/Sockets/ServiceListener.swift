import EventLoops
import Foundation
import HCITransports
import NIOCore
import NIOPosix
import ServiceMessages

/// Listens on a Unix socket for the clients of a service. Used on the event loop.
package final class ServiceListener {
    /// The number of octets that are read from one process before others have their turn (AB-G05).
    static let readAtOnce = 2_048
    static let backlog: Int32 = 64

    let clients: ServiceClients
    private let loop: NIOEventLoop
    private var channel: (any Channel)?

    /// Creates a listener for `clients`. Call on the event loop.
    package init(_ clients: ServiceClients, loop: NIOEventLoop) {
        self.clients = clients
        self.loop = loop
    }

    /// Listens on a socket that is already bound. Call on the event loop.
    ///
    /// - Parameter completion: Called on the event loop with the outcome.
    package func listen(on descriptor: Int32, completion: @escaping (Result<Void, MessageLineError>) -> Void) {
        let listener = LoopBound(self, loop: loop)
        let done = LoopBound(completion, loop: loop)
        ServerBootstrap(group: loop.nio)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { listener.value.accept(channel) }
            }
            .withBoundSocket(descriptor)
            .whenComplete { result in
                listener.value.loop.arrive {
                    switch result {
                    case .success(let channel):
                        // swift-nio ignores its backlog option for a socket that is already bound.
                        listenAtSocket(descriptor, Self.backlog)
                        listener.value.channel = channel
                        done.value(.success(()))
                    case .failure(let error): done.value(.failure(.failed(reason: SocketLine.reason(of: error))))
                    }
                }
            }
    }

    /// Stops accepting connections, and ends all conversations. Call on the event loop.
    package func close() {
        channel?.close(promise: nil)
        clients.close()
    }

    private func accept(_ channel: any Channel) {
        let listener = LoopBound(self, loop: loop)
        Caller.of(channel) { caller in
            listener.value.loop.arrive { listener.value.accept(channel, caller) }
        }
    }

    private func accept(_ channel: any Channel, _ caller: Caller?) {
        guard let caller, case .success(let line) = SocketLine.attach(to: channel, loop: loop, atOnce: Self.readAtOnce)
        else {
            return channel.close(promise: nil)
        }
        clients.accept(line, from: caller)
    }
}

/// Calls `listen(2)`, whose name a method of ``ServiceListener`` shadows.
private func listenAtSocket(_ descriptor: Int32, _ backlog: Int32) { _ = listen(descriptor, backlog) }
