import Logging

/// Where the rooms of the host stack tell what happens there. Whoever puts the stack together hands one down: the service to
/// its observers, who stands on the stack alone to a log.
package struct HappeningSink {
    private let wants: (StackRoom) -> Bool
    private let take: (any StackHappening) -> Void

    /// - Parameters:
    ///   - wants: Whether somebody wants to know what happens in a room at this moment.
    ///   - take: Takes it.
    package init(wants: @escaping (StackRoom) -> Bool, take: @escaping (any StackHappening) -> Void) {
        self.wants = wants
        self.take = take
    }

    /// To a log, and nowhere else.
    package static func log(_ logger: Logger) -> HappeningSink {
        HappeningSink(wants: { _ in true }, take: { logger.write($0) })
    }

    /// Tells that something has happened, which is not even put together where nobody wants to know.
    package func tell<Happening: StackHappening>(_ happening: @autoclosure () -> Happening) {
        guard wants(Happening.room) else { return }
        take(happening())
    }
}

extension Logger {
    /// Writes what has happened in the stack, in words.
    package func write(_ happening: any StackHappening) {
        let level = happening.weight.level
        guard level >= logLevel else { return }
        let details = happening.details.mapValues { MetadataValue.string($0) }
        log(level: level, "\(happening)", metadata: details.isEmpty ? nil : details)
    }
}

extension HappeningWeight {
    /// The level of its line in a log.
    package var level: Logger.Level {
        switch self {
        case .detail: .debug
        case .information: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        }
    }
}
