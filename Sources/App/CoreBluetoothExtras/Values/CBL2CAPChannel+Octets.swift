import CoreBluetooth
import Foundation
import Synchronization

/// Access to a channel without run loops (behaviour 15.23).
///
/// In each direction, use either this or the channel's stream.
extension CBL2CAPChannel {
    /// The octets from the peer, in the pieces in which they arrive.
    ///
    /// The sequence ends with the channel, and throws if the channel fails. Octets that are not read stay at the peer,
    /// which has to wait (behaviour 8.13). The sequence is for one task at a time.
    public var octets: ChannelOctets { ChannelOctets(channel: self) }

    /// Sends octets, waiting for room as often as needed.
    ///
    /// The call returns when the system has accepted the last octet, which does not mean that the peer has received it.
    /// Cancellation ends the call at once; the octets accepted before are still sent.
    ///
    /// - Parameter octets: The octets, without a limit on their number.
    /// - Throws: The error that ended the channel, or `CancellationError`.
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

    /// Ends a wait with the result of `body`, or with `nothing` when another attempt is worthwhile.
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

/// An asynchronous sequence of the octets from the peer of a channel. It retains the channel.
public struct ChannelOctets: AsyncSequence, Sendable {
    /// The maximum length of a piece, in octets.
    public static let maximumPiece = 16_384

    let channel: CBL2CAPChannel

    /// The iterator of the sequence.
    public struct Iterator: AsyncIteratorProtocol {
        let channel: CBL2CAPChannel

        /// Returns the next piece, or nil at the end of the channel.
        ///
        /// - Throws: The error that ended the channel, or `CancellationError`.
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

    /// Creates an iterator, which continues where the last one has stopped.
    public func makeAsyncIterator() -> Iterator { Iterator(channel: channel) }
}
