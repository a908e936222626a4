import BluetoothTypes
import Foundation

/// A report of an app's side about what the service cannot see, for advice to the app's developer.
///
/// Reports are made while something listens for advice only.
public enum AppNote: Hashable, Sendable {
    /// A write without response to this peer was dropped, because there was no room (behaviour 5.13).
    case writeWithoutRoom(UUID)
    /// A value was updated again before the callback that there is room (behaviour 7.43).
    case updateWithoutRoom
    /// The manager was used, and the app has never read its state.
    case stateUnread
    /// The delegate of a restored manager does not implement `willRestoreState` (behaviour 10.8).
    case restorationIgnored
    /// A callback took this long, in milliseconds, while the next one waited.
    case slowCallback(milliseconds: UInt32)
}
