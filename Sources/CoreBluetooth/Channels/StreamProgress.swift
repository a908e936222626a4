import Foundation

/// How a channel has ended.
enum ChannelEnd {
    /// Whoever ended it (behaviour 8.8).
    case inOrder
    case failed(any Error)
}

/// How far one stream of a channel has come, and what its delegate is to be told next: that it is open, then each time that it has
/// been used that it can be used again, and its end, as the streams of sockets do (behaviour 8.6).
struct StreamProgress {
    private enum Phase {
        case notOpen
        /// Whether the delegate knows that it is open, and that it can be used.
        case open(isTold: Bool, isReadinessTold: Bool)
        case ended
        /// It was used after its end; whether the delegate knows.
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

    /// It was read or written: the delegate is told when that is possible again.
    mutating func used() {
        if case .open(let isTold, _) = phase { phase = .open(isTold: isTold, isReadinessTold: false) }
    }

    /// It was used when that was of no use any more.
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

    /// - Parameter end: How the channel has ended, for this stream: nil as long as there is something to be read.
    func status(_ end: ChannelEnd?) -> Stream.Status {
        switch (phase, end) {
        case (.notOpen, _): .notOpen
        case (.closed, _): .closed
        case (.failed, _), (.open, .failed): .error
        case (.ended, _), (.open, .inOrder): .atEnd
        case (.open, nil): .open
        }
    }

    /// What the delegate is to be told now; nil when it knows everything.
    ///
    /// - Parameters:
    ///   - isReady: Whether there is something to be read, or room for something to be written.
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
