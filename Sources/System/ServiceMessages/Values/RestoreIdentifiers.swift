/// The restore identifiers of the managers that an app is launched for (behaviour 10.6).
public struct RestoreIdentifiers: Hashable, Sendable {
    /// The identifiers of central managers.
    public var centrals: [String]
    /// The identifiers of peripheral managers.
    public var peripherals: [String]

    /// Creates the identifiers of both roles. By default there are none.
    ///
    /// - Parameters:
    ///   - centrals: The restore identifiers of central managers.
    ///   - peripherals: The restore identifiers of peripheral managers.
    public init(centrals: [String] = [], peripherals: [String] = []) {
        self.centrals = centrals
        self.peripherals = peripherals
    }
}
