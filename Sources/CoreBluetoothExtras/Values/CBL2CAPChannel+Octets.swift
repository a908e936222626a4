import CoreBluetooth
import Foundation
import Synchronization

/// A channel without run loops (behaviour 15.23). Use either this or a stream of the channel in each direction.
extension CBL2CAPChannel {
    /// What comes from the peer, in pieces as they come, until the channel ends; it throws when that is lost. What is not taken stays
    /// at the peer (behaviour 8.13). For one task at a time.
    public var octets: ChannelOctets { ChannelOctets(channel: self) }

    /// Sends all octets, waiting for room as often as needed; returns when the system has taken the last of them.
    ///
    /// Cancellation ends it at once with `CancellationError`; what was taken before is sent all the same.
    public func write(_ octets: Data) async throws {
        var rest = octets
        while !rest.isEmpty {
            try Task.checkCancellation()
            let wait = Wait<Int>()
            rest = rest.dropFirst(
                try await wait.value {
                    attempt(wait, otherwise: 0) { wake in
                        switch try self.write(rest, orCall: wake) {
                        case .done(let count): (count, nil)
                        case .waiting(let number): (nil, number)
                        }
                    }
                }
            )
        }
    }

    /// Ends a wait with what `body` gives now, or with `nothing` when another attempt is worth while.
    fileprivate func attempt<Value: Sendable>(
        _ wait: Wait<Value>,
        otherwise nothing: Value,
        _ body: (_ wake: @escaping @Sendable () -> Void) throws -> (Value?, waiting: UInt64?)
    ) {
        do {
            let (value, number) = try body { wait.end(.success(nothing)) }
            if let value { wait.end(.success(value)) }
            if let number { wait.atEnd { [self] in stopWaiting(number) } }
        } catch {
            wait.end(.failure(error))
        }
    }
}

/// The octets that come on a channel.
public struct ChannelOctets: AsyncSequence, Sendable {
    /// Octets of one piece at most.
    public static let maximumPiece = 16_384

    let channel: CBL2CAPChannel

    /// Goes through the octets.
    public struct Iterator: AsyncIteratorProtocol {
        let channel: CBL2CAPChannel

        /// The next piece; nil at the end of the channel.
        public mutating func next() async throws -> Data? {
            while true {
                try Task.checkCancellation()
                let wait = Wait<Data?>()
                let channel = channel
                let piece = try await wait.value {
                    channel.attempt(wait, otherwise: nil) { wake in
                        switch try channel.read(upTo: ChannelOctets.maximumPiece, orCall: wake) {
                        case .octets(let octets): (.some(.some(octets)), nil)
                        case .waiting(let number): (nil, number)
                        }
                    }
                }
                if let piece { return piece.isEmpty ? nil : piece }
            }
        }
    }

    /// Begins, where the last one has stopped.
    public func makeAsyncIterator() -> Iterator { Iterator(channel: channel) }
}
