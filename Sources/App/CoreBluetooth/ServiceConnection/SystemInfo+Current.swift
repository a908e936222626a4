import ServiceMessages

extension SystemInfo {
    /// The system information of the current code's service, or nil if there is none.
    static var current: SystemInfo? {
        let connection = ServiceLocator.connect(otherwise: ProcessService.connection)
        guard case .success(.system(let info)) = connection.ask(.system, from: .none) else { return nil }
        return info
    }
}
