/// Where a person switches Bluetooth on and off.
public enum PowerSwitch: Hashable, Sendable {
    /// In the settings: what is kept of apps that do not run is given up (behaviour 10.16).
    case settings
    /// In Control Centre: apps see the radio off, and what is kept of them stays (behaviours 1.17, 10.15).
    case controlCentre
}
