import ServiceMessages

/// The component that controls the processes of apps, on behalf of the user's tools. Used on the loop only.
package protocol AppControl: AnyObject {
    /// The names of the apps that can be launched, as of the last ``findApps(_:)``.
    var installedApps: [String] { get }
    /// Searches for apps that can be launched. Calls `completion` once, on the loop, even if the search times out.
    func findApps(_ completion: @escaping () -> Void)
    /// Launches an app in the foreground. Calls `completion` once, on the loop.
    ///
    /// - Parameter owner: The user ID to run it as. Nil for the user of the service.
    func launch(_ name: String, of owner: UInt32?, completion: @escaping (Result<Void, ServiceError>) -> Void)
    /// Ends the process of an app. The service is notified of the end too. Calls `completion` once, on the loop.
    func end(_ app: AppIdentity, _ end: AppEnd, completion: @escaping (Result<Void, ServiceError>) -> Void)
}
