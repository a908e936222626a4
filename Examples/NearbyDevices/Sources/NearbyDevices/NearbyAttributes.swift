import ActivityKit
import Foundation

/// The content of the Live Activity. The widget extension of an app shows it.
package struct NearbyAttributes: ActivityAttributes {
    package struct ContentState: Codable, Hashable, Sendable {
        /// The number of devices found so far.
        package var count = 0
        /// The name of the latest one that has a name.
        package var latest: String?

        package init() {}
    }

    /// When the search began.
    package var start: Date
}
