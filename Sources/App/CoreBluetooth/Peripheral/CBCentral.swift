import Foundation
import ServiceMessages
import Synchronization

/// A remote central that uses what this device publishes.
///
/// For one central a manager gives the same object as long as the app holds it. Centrals are not reported when they
/// connect (behaviour 7.41), but with their subscriptions and requests.
///
/// Properties may be read from any thread.
open class CBCentral: CBPeer, @unchecked Sendable {
    // Safe: all mutable state is in a mutex.
    private let length: Mutex<Int>

    init(_ info: CentralInfo) {
        length = Mutex(info.maximumUpdateLength)
        super.init(identifier: info.identifier)
    }

    /// The longest value of a notification or indication, in octets: the MTU less 3. Longer values are cut for this
    /// central (behaviour 7.44).
    open var maximumUpdateValueLength: Int { length.withLock { $0 } }

    final func setMaximumUpdateValueLength(_ new: Int) {
        length.withLock { $0 = new }
    }

    override func value(named name: String) -> Any?? {
        switch name {
        case "maximumUpdateValueLength": maximumUpdateValueLength
        default: super.value(named: name)
        }
    }

    /// The class, identifier and ATT MTU.
    open override var description: String {
        "<\(nameAndAddress), identifier = \(identifier.uuidString), MTU = \(maximumUpdateValueLength + 3)>"
    }
}
