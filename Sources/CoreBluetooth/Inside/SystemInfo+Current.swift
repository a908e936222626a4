import BluetoothService

extension SystemInfo {
    /// What the service of the code that runs says; nil when there is none.
    static var current: SystemInfo? {
        let connection = ServiceLocator.connect(otherwise: ProcessService.connection)
        guard case .success(.system(let info)) = connection.ask(.system, from: .none) else { return nil }
        return info
    }
}
