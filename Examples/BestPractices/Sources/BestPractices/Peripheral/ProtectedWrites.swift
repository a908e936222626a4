import CoreBluetooth

/// Protect what not everybody in range may do.
public enum ProtectedWrites {
    /// Is switched by every device in range.
    public final class Worse: Lamp {
        override public func makeToggle() -> CBMutableCharacteristic {
            CBMutableCharacteristic(type: Self.toggle, properties: .write, value: nil, permissions: .writeable)
        }
    }

    /// Is switched by paired devices.
    public final class Better: Lamp {
        override public func makeToggle() -> CBMutableCharacteristic {
            CBMutableCharacteristic(
                type: Self.toggle,
                properties: .write,
                value: nil,
                permissions: .writeEncryptionRequired
            )
        }
    }
}
