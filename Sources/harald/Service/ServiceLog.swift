import Logging

/// The log of a service: what its manager, or the person at the terminal, wants to know.
enum ServiceLog {
    static let logger: Logger = {
        var logger = Logger(label: "harald.service")
        logger.logLevel = .notice
        return logger
    }()
}
