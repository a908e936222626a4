import Logging

/// Formats the log events of a service as lines.
struct ServiceLogHandler: LogHandler {
    var logLevel = Logger.Level.notice
    var metadata = Logger.Metadata()
    var metadataProvider: Logger.MetadataProvider?

    private let form: ServiceLogForm
    private let write: @Sendable (_ line: String, _ isError: Bool) -> Void

    init(_ form: ServiceLogForm, write: @escaping @Sendable (_ line: String, _ isError: Bool) -> Void) {
        self.form = form
        self.write = write
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let details = metadata.merging(event.metadata ?? [:]) { $1 }.map { " \($0)=\($1)" }.sorted().joined()
        write(form.line(event.level, "\(event.message)\(details)"), event.level >= .error)
    }
}
