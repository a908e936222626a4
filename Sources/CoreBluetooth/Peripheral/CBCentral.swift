import BluetoothService
import Foundation
import Synchronization

/// A central that is connected to this device and has used what it publishes.
open class CBCentral: CBPeer, @unchecked Sendable {
    // Safe: what changes is in a mutex.
    private let length: Mutex<Int>

    init(_ info: CentralInfo) {
        length = Mutex(info.maximumUpdateLength)
        super.init(identifier: info.identifier)
    }

    /// The most octets of one notification or indication.
    open var maximumUpdateValueLength: Int { length.withLock { $0 } }

    final func setMaximumUpdateValueLength(_ new: Int) {
        length.withLock { $0 = new }
    }

    /// Class, identifier and ATT MTU.
    open override var description: String {
        "<\(nameAndAddress), identifier = \(identifier.uuidString), MTU = \(maximumUpdateValueLength + 3)>"
    }
}
