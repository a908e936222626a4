import Logging

/// The destination of the events that the modules of the host stack report. The component that assembles the stack
/// provides it: the service forwards events to its observers, a program that uses the stack directly writes them to a
/// log.
package struct StackEventSink {
    private let wants: (StackModule) -> Bool
    private let receive: (any StackEvent) -> Void

    /// - Parameters:
    ///   - wants: Returns whether events of a module are wanted at present.
    ///   - receive: Receives each event.
    package init(wants: @escaping (StackModule) -> Bool, receive: @escaping (any StackEvent) -> Void) {
        (self.wants, self.receive) = (wants, receive)
    }

    package static func log(_ logger: Logger) -> StackEventSink {
        StackEventSink(wants: { _ in true }, receive: { logger.write($0) })
    }

    /// Reports an event. The event is not constructed unless its module's events are wanted.
    package func report<Event: StackEvent>(_ event: @autoclosure () -> Event) {
        guard wants(Event.module) else { return }
        receive(event())
    }
}

extension Logger {
    /// Writes an event of the stack at the level of its weight.
    package func write(_ event: any StackEvent) {
        let level = event.weight.level
        guard level >= logLevel else { return }
        let details = event.details.mapValues { MetadataValue.string($0) }
        log(level: level, "\(event)", metadata: details.isEmpty ? nil : details)
    }
}

extension EventWeight {
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
