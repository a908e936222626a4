/// The accessories that an app may look for: the keys `NSAccessorySetupBluetooth…` of its `Info.plist`
/// (behaviour 16.2).
public struct SetupDeclaration: Hashable, Sendable {
    /// `NSAccessorySetupBluetoothServices`.
    public var services: [String]
    /// `NSAccessorySetupBluetoothNames`.
    public var names: [String]
    /// `NSAccessorySetupBluetoothCompanyIdentifiers`.
    public var companies: [UInt16]

    /// Creates the declaration of an app that uses AccessorySetupKit for Bluetooth.
    ///
    /// - Parameters:
    ///   - services: The services of its accessories, in capitals, as `CBUUID` prints them.
    ///   - names: The names of its accessories, or parts of them.
    ///   - companies: The company identifiers of its accessories.
    public init(services: [String] = [], names: [String] = [], companies: [UInt16] = []) {
        self.services = services
        self.names = names
        self.companies = companies
    }

    /// Creates the declaration in a property list; nil if it does not list Bluetooth. Apple documents two keys for
    /// that.
    package init?(propertyList: [String: Any]) {
        func texts(_ key: String) -> [String] { propertyList[key] as? [String] ?? [] }
        let kinds = texts("NSAccessorySetupKitSupports") + texts("NSAccessorySetupSupports")
        guard kinds.contains("Bluetooth") else { return nil }
        let companies = propertyList["NSAccessorySetupBluetoothCompanyIdentifiers"] as? [Any] ?? []
        self.init(
            services: texts("NSAccessorySetupBluetoothServices"),
            names: texts("NSAccessorySetupBluetoothNames"),
            companies: companies.compactMap { value in
                (value as? Int).flatMap { UInt16(exactly: $0) } ?? (value as? String).flatMap { UInt16($0, radix: 16) }
            }
        )
    }
}
