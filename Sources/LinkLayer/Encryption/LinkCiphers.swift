import BluetoothTypes
import Cryptography

/// The ciphers of a link, one for each direction; without one, PDUs go in the clear. The two change at different steps
/// of the encryption procedures (Core Vol 6 Part B 5.1.3).
struct LinkCiphers {
    private let isCentral: Bool
    private(set) var transmit: PacketCipher?
    private(set) var receive: PacketCipher?

    init(isCentral: Bool) {
        self.isCentral = isCentral
    }

    /// The number of octets that encryption adds to sent payloads.
    var sealOctets: Int { transmit == nil ? 0 : CCM.codeLength }
    /// The number of octets that encryption adds to received payloads.
    var openOctets: Int { receive == nil ? 0 : CCM.codeLength }

    /// Encrypts transmissions with a session from now on; nil to stop encrypting.
    mutating func encrypt(with session: EncryptionSession?) {
        transmit = session.map { PacketCipher($0, isFromCentral: isCentral) }
    }

    /// Decrypts received PDUs with a session from now on; nil to stop decrypting.
    mutating func decrypt(with session: EncryptionSession?) {
        receive = session.map { PacketCipher($0, isFromCentral: !isCentral) }
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
