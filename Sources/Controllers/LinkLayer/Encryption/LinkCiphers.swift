import BluetoothTypes
import Cryptography

/// The ciphers of a link, one for each direction; without one, PDUs go in the clear. The two change at different steps
/// of the encryption procedures (Core Vol 6 Part B 5.1.3).
struct LinkCiphers {
    private let isCentral: Bool
    private(set) var transmit: PacketCipher?
    private(set) var receive: PacketCipher?
    /// Whether transmissions are encrypted. Stored because each packet asks, and looking at a cipher would copy it.
    private(set) var encrypts = false
    /// Whether received PDUs are decrypted.
    private(set) var decrypts = false
    /// The last session of each direction. None is used twice, because its packet counter would start over.
    private var last: (transmit: EncryptionSession?, receive: EncryptionSession?)

    init(isCentral: Bool) {
        self.isCentral = isCentral
    }

    /// The number of octets that encryption adds to sent payloads.
    var sealOctets: Int { encrypts ? CCM.codeLength : 0 }
    /// The number of octets that encryption adds to received payloads.
    var openOctets: Int { decrypts ? CCM.codeLength : 0 }

    /// Encrypts transmissions with a session from now on; nil to stop encrypting.
    mutating func encrypt(with session: EncryptionSession?) {
        assert(session == nil || session != last.transmit, "a session is used twice to encrypt")
        last.transmit = session ?? last.transmit
        transmit = session.map { PacketCipher($0, isFromCentral: isCentral) }
        encrypts = session != nil
    }

    /// Decrypts received PDUs with a session from now on; nil to stop decrypting.
    mutating func decrypt(with session: EncryptionSession?) {
        assert(session == nil || session != last.receive, "a session is used twice to decrypt")
        last.receive = session ?? last.receive
        receive = session.map { PacketCipher($0, isFromCentral: !isCentral) }
        decrypts = session != nil
    }

    /// Encrypts a new payload; nil if the packet counter is exhausted or the link is not encrypted.
    mutating func seal(_ payload: PacketBuffer, header: UInt8) -> PacketBuffer? {
        transmit?.seal(payload, header: header)
    }

    /// Decrypts a new payload; nil if it is forged (AB-L08) or the link is not encrypted.
    mutating func open(_ payload: PacketBuffer, header: UInt8) -> PacketBuffer? {
        receive?.open(payload, header: header)
    }
}
