import Foundation
import ServiceMessages
import Synchronization

/// A central's request to read or write the value of a published characteristic, which the app answers.
///
/// Answer with ``CBPeripheralManager/respond(to:withResult:)``, once for each callback of the delegate
/// (behaviour 7.33). Without an answer the central gives up the link after 30 s (behaviour 7.37).
///
/// Properties may be read and set from any thread.
open class CBATTRequest: NSObject, @unchecked Sendable {
    // Safe: all mutable state is in a mutex.
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

    /// The central that made the request.
    open var central: CBCentral { sender }

    /// The characteristic to be read or written: the object that was published.
    open var characteristic: CBCharacteristic { target }

    /// The offset, in octets, at which the read or write begins. Answer an offset past the end of the value with
    /// `invalidOffset` (behaviour 7.31).
    open var offset: Int { position }

    /// The octets to be written or, for a read, nil until the app sets it to the octets from ``offset`` on
    /// (behaviour 7.31).
    open var value: Data? {
        get { contents.withLock { $0 } }
        set { contents.withLock { $0 = newValue } }
    }

    /// The class, central, characteristic, offset and value.
    open override var description: String {
        "<\(nameAndAddress), Central = \(central), Characteristic = \(characteristic), Offset = \(offset), "
            + "Value = \(value.octetText)>"
    }
}

extension CBATTRequest: _CVarArgObject {
    /// The description as an argument for `%@`.
    public var _cVarArgObject: any CVarArg { NSString(string: description) }
    /// The description in the layout of a variadic argument.
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

/// The state that the requests of one callback share: they have one answer (behaviours 7.33, 7.35).
final class Transaction: Sendable {
    let id: UInt64
    let isRead: Bool
    /// Whether the central waits for a response. False for write commands (behaviour 7.36).
    let needsResponse: Bool
    /// The connection of the app, which may release its requests from any thread.
    private let connection: (any ServiceConnection)?
    private let isAnswered = Atomic(false)

    init(id: UInt64, isRead: Bool, needsResponse: Bool, of connection: (any ServiceConnection)?) {
        self.id = id
        self.isRead = isRead
        self.needsResponse = needsResponse
        self.connection = connection
    }

    deinit {
        if needsResponse, !isAnswered.load(ordering: .relaxed) {
            Misuse.report(
                "A request of a central was released without respond(to:withResult:); the central gets no response and "
                    + "gives up the link after 30 s",
                by: connection
            )
        }
    }

    /// Marks the transaction as answered. Returns false if it already was.
    func answer() -> Bool {
        !isAnswered.exchange(true, ordering: .relaxed)
    }
}
