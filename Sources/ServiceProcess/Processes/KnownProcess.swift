#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// One process, and no other one that gets its number later.
enum KnownProcess {
    /// By its descriptor.
    case held(ProcessDescriptor)
    /// By the instant when it began, where the kernel has no descriptor of it. Between the look and a signal lies a moment in which the
    /// number may become that of another process.
    case numbered(Int32, beginning: String)

    /// The process of a caller; nil where it is none to be ended.
    init?(of caller: Caller, in table: ProcessTable) {
        let number = caller.process
        // 0 is one that this process cannot see, and 1 nobody's.
        guard number > 1, number != getpid() else { return nil }
        if let descriptor = caller.descriptor {
            self = .held(descriptor)
        } else if let descriptor = table.descriptor(number) {
            self = .held(descriptor)
        } else if let beginning = table.beginning(number) {
            self = .numbered(number, beginning: beginning)
        } else {
            return nil
        }
    }

    /// Whether it still runs.
    func isThere(in table: ProcessTable) -> Bool {
        switch self {
        case .held(let descriptor): descriptor.isThere
        case .numbered(let number, let beginning): table.beginning(number) == beginning
        }
    }

    /// Sends it a signal.
    func signal(_ signal: Int32, in table: ProcessTable) {
        switch self {
        case .held(let descriptor): descriptor.signal(signal)
        case .numbered(let number, _): table.signal(number, signal)
        }
    }
}
