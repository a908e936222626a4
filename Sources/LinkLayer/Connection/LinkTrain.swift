/// The periodic advertising train from which a link was made (Core Vol 4 Part E 7.7.65.10).
struct LinkTrain: Hashable {
    /// As central: the advertising set; 0xFF for none.
    var set: UInt8 = 0xFF
    /// As peripheral: the synchronization; 0xFFFF for none.
    var sync: UInt16 = 0xFFFF

    static let none = LinkTrain()
}
