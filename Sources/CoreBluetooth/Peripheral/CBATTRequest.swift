import BluetoothService
import Foundation
import Synchronization

/// A read or write of a central that the app answers.
open class CBATTRequest: NSObject, @unchecked Sendable {
    // Safe: what changes is in a mutex.
    private let contents: Mutex<Data?>
    private let target: CBMutableCharacteristic
    private let sender: CBCentral
    private let position: Int
    let transaction: Transaction

    init(
        _ transaction: Transaction,
        central: CBCentral,
        characteristic: CBMutableCharacteristic,
        offset: Int,
        value: Data?
    ) {
        self.transaction = transaction
        sender = central
        target = characteristic
        position = offset
        contents = Mutex(value)
        super.init()
    }

    /// Who asks.
    open var central: CBCentral { sender }

    /// What is read or written: the object that was published.
    open var characteristic: CBCharacteristic { target }

    /// Where in the value the read or write begins. Refuse one past the end with `invalidOffset`.
    open var offset: Int { position }

    /// What is written; for a read nil, until the app sets the octets from ``offset`` on.
    open var value: Data? {
        get { contents.withLock { $0 } }
        set { contents.withLock { $0 = newValue } }
    }

    /// Class, central, characteristic, offset and value.
    open override var description: String {
        "<\(nameAndAddress), Central = \(central), Characteristic = \(characteristic), Offset = \(offset), "
            + "Value = \(value.octetText)>"
    }
}

/// What the requests of one callback have in common: they are answered together, and once (behaviours 7.33, 7.35).
final class Transaction: Sendable {
    let id: UInt64
    let isRead: Bool
    /// False for write commands, whose answer goes nowhere (behaviour 7.36).
    let needsResponse: Bool
    private let isAnswered = Atomic(false)

    init(id: UInt64, isRead: Bool, needsResponse: Bool) {
        self.id = id
        self.isRead = isRead
        self.needsResponse = needsResponse
    }

    deinit {
        if needsResponse, !isAnswered.load(ordering: .relaxed) {
            Misuse.report(
                "A request of a central was released without respond(to:withResult:); the central waits in vain and gives "
                    + "the link up after 30 s"
            )
        }
    }

    /// Says whether this is the first answer.
    func answer() -> Bool {
        !isAnswered.exchange(true, ordering: .relaxed)
    }
}
