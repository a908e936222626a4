import Foundation

/// How a channel has ended.
enum ChannelEnd {
    /// Closed, by either side (behaviour 8.8).
    case inOrder
    case failed(any Error)
}

/// The state machine of one stream of a channel, which determines the events of its delegate.
///
/// The events are those of the streams of a socket (behaviour 8.6): that the stream is open, then each time that it was
/// used that it can be used again, and its end.
struct StreamProgress {
    private enum Phase {
        case notOpen
        /// Whether the delegate was told that the stream is open, and that it can be used.
        case open(isTold: Bool, isReadinessTold: Bool)
        case ended
        /// The stream was used after its end, or failed. Whether the delegate was told.
        case failed(any Error, isTold: Bool)
        case closed
    }

    private var phase = Phase.notOpen

    mutating func open() {
        if case .notOpen = phase { phase = .open(isTold: false, isReadinessTold: false) }
    }

    mutating func close() {
        phase = .closed
    }

    /// Records that the stream was read or written. The delegate is told when that is possible again.
    mutating func used() {
        if case .open(let isTold, _) = phase { phase = .open(isTold: isTold, isReadinessTold: false) }
    }

    mutating func failed(_ error: any Error) {
        switch phase {
        case .open, .ended: phase = .failed(error, isTold: false)
        case .notOpen, .failed, .closed: break
        }
    }

    var isOpen: Bool {
        switch phase {
        case .open, .ended, .failed: true
        case .notOpen, .closed: false
        }
    }

    var isClosed: Bool {
        if case .closed = phase { true } else { false }
    }

    var error: (any Error)? {
        if case .failed(let error, _) = phase { error } else { nil }
    }

    /// Returns the status of the stream.
    ///
    /// - Parameter end: How the channel has ended, for this stream. Nil as long as there is something to read.
    func status(_ end: ChannelEnd?) -> Stream.Status {
        switch (phase, end) {
        case (.notOpen, _): .notOpen
        case (.closed, _): .closed
        case (.failed, _), (.open, .failed): .error
        case (.ended, _), (.open, .inOrder): .atEnd
        case (.open, nil): .open
        }
    }

    /// Returns the next event for the delegate, or nil if it was told everything.
    ///
    /// - Parameters:
    ///   - ready: The event for a stream that can be used.
    ///   - isReady: Whether there is something to read, or room for writing.
    ///   - end: How the channel has ended, for this stream.
    mutating func next(_ ready: Stream.Event, isReady: Bool, end: ChannelEnd?) -> Stream.Event? {
        switch (phase, end) {
        case (.open(isTold: false, let isReadinessTold), _):
            phase = .open(isTold: true, isReadinessTold: isReadinessTold)
            return .openCompleted
        case (.open(isTold: true, _), .failed(let error)):
            phase = .failed(error, isTold: true)
            return .errorOccurred
        case (.open(isTold: true, _), .inOrder):
            phase = .ended
            return .endEncountered
        case (.open(isTold: true, isReadinessTold: false), nil) where isReady:
            phase = .open(isTold: true, isReadinessTold: true)
            return ready
        case (.failed(let error, isTold: false), _):
            phase = .failed(error, isTold: true)
            return .errorOccurred
        default: return nil
        }
    }
}
