/// Logs a message with a C-style format.
public func os_log(
    _ message: StaticString,
    dso: UnsafeRawPointer? = nil,
    log: OSLog = .default,
    type: OSLogType = .default,
    _ arguments: any CVarArg...
) {
    log.write(type) { FormattedMessage(format: "\(message)", arguments: arguments).text }
}

/// Logs a message with a C-style format, at a level.
public func os_log(
    _ type: OSLogType,
    dso: UnsafeRawPointer? = nil,
    log: OSLog = .default,
    _ message: StaticString,
    _ arguments: any CVarArg...
) {
    log.write(type) { FormattedMessage(format: "\(message)", arguments: arguments).text }
}

/// Logs a message at the level `default`.
@_disfavoredOverload
public func os_log(_ message: OSLogMessage) {
    OSLog.default.write(.default) { message.text }
}

/// Logs a message at a level.
@_disfavoredOverload
public func os_log(_ type: OSLogType, log: OSLog = .default, _ message: OSLogMessage) {
    log.write(type) { message.text }
}
