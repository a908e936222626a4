/// Writes a message with a format of the C kind.
public func os_log(
    _ message: StaticString,
    dso: UnsafeRawPointer? = nil,
    log: OSLog = .default,
    type: OSLogType = .default,
    _ arguments: any CVarArg...
) {
    log.write(type) { FormattedMessage(format: "\(message)", arguments: arguments).text }
}

/// Writes a message with a format of the C kind.
public func os_log(
    _ type: OSLogType,
    dso: UnsafeRawPointer? = nil,
    log: OSLog = .default,
    _ message: StaticString,
    _ arguments: any CVarArg...
) {
    log.write(type) { FormattedMessage(format: "\(message)", arguments: arguments).text }
}

/// Writes a message.
@_disfavoredOverload
public func os_log(_ message: OSLogMessage) {
    OSLog.default.write(.default) { message.text }
}

/// Writes a message.
@_disfavoredOverload
public func os_log(_ type: OSLogType, log: OSLog = .default, _ message: OSLogMessage) {
    log.write(type) { message.text }
}
