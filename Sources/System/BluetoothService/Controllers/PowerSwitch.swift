/// The control with which the user switches Bluetooth on and off.
public enum PowerSwitch: Hashable, Sendable {
    /// The settings. The preserved state of apps that are not running is discarded (behaviour 10.16).
    case settings
    /// Control Centre. Apps see the radio off, and preserved state stays (behaviours 1.17, 10.15).
    case controlCentre
}
