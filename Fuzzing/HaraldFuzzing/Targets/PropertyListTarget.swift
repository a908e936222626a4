import Foundation
import ServiceProcess

extension FuzzTarget {
    /// The `Info.plist` of an app, in either format. Its author is any user who can install apps.
    static let propertyLists = FuzzTarget("property-lists", maximumLength: 4_096, seeds: propertyListSeeds) { input in
        var input = input
        guard let list = try? PropertyList.dictionary(input.rest()) else { return }
        hold(depth(of: list) <= 17, "values nested too deeply")
    }

    private static func depth(of value: Any) -> Int {
        if let list = value as? [String: Any] { return 1 + (list.values.map(depth).max() ?? 0) }
        if let list = value as? [Any] { return 1 + (list.map(depth).max() ?? 0) }
        return 0
    }

    private static var propertyListSeeds: [[UInt8]] {
        let list: [String: Any] = [
            "CFBundleIdentifier": "com.example.app", "CFBundleDisplayName": "Zoë & Co", "HaraldManaged": true,
            "HaraldLaunch": ["/opt/app", "-x"], "UIBackgroundModes": ["bluetooth-central"], "Version": 258,
        ]
        let forms: [PropertyListSerialization.PropertyListFormat] = [.xml, .binary]
        return forms.compactMap { form in
            (try? PropertyListSerialization.data(fromPropertyList: list, format: form, options: 0)).map { Array($0) }
        }
    }
}
