public import Foundation

extension String {
    /// Creates the localized string for a key, or the key itself if the bundle has none.
    public init(localized key: String, table: String? = nil, bundle: Bundle? = nil, comment: String? = nil) {
        self = (bundle ?? .main).localizedString(forKey: key, value: key, table: table)
    }
}

extension NSDictionary {
    /// Returns the value at a path of keys through nested dictionaries.
    public func value(forKeyPath path: String) -> Any? {
        var value: Any? = self
        for key in path.split(separator: ".") {
            value = (value as? NSDictionary)?.object(forKey: String(key)) ?? (value as? [String: Any])?[String(key)]
        }
        return value
    }
}
