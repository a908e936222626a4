import HCI

/// How a link handles periodic advertising trains that its peer transfers (Core Vol 4 Part E 7.8.91).
struct SyncTransferRules: Hashable {
    var mode = LESyncTransferMode.ignore
    var skip: UInt16 = 0
    var timeout: UInt16 = 0
}
