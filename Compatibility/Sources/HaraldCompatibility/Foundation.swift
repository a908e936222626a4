public import Foundation

extension String {
    /// The text for a key, in the user's language if the bundle has it.
    public init(localized key: String, table: String? = nil, bundle: Bundle? = nil, comment: String? = nil) {
        self = (bundle ?? .main).localizedString(forKey: key, value: key, table: table)
    }
}

extension NSDictionary {
    /// What is found by a path of keys, from dictionary to dictionary.
    public func value(forKeyPath path: String) -> Any? {
        var value: Any? = self
        for key in path.split(separator: ".") {
            value = (value as? NSDictionary)?.object(forKey: String(key)) ?? (value as? [String: Any])?[String(key)]
        }
        return value
    }
}
