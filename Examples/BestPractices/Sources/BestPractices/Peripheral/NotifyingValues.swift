import CoreBluetooth

/// Let centrals subscribe to values that change.
public enum NotifyingValues {
    /// Has a state that centrals can only read, so they read it again and again.
    public final class Worse: Lamp {
        override public func makeLight() -> CBMutableCharacteristic {
            CBMutableCharacteristic(type: Self.light, properties: .read, value: nil, permissions: .readable)
        }
    }

    /// Sends its state to the centrals that are subscribed.
    public final class Better: Lamp {
        override public func makeLight() -> CBMutableCharacteristic {
            CBMutableCharacteristic(type: Self.light, properties: [.read, .notify], value: nil, permissions: .readable)
        }
    }
}
