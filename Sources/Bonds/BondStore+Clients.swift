import GATT

extension BondStore: GATTClientStore {
    /// Applies `change` to the client records of all peers (Core Vol 3 Part G 2.5.2, 7.1).
    ///
    /// If saving fails, no information is lost: a record identifies its database, and the record of an older database
    /// is updated when its client reconnects.
    package func updateRecords(_ change: (inout ClientRecord) -> Void) {
        updateAll { bond in
            guard var record = bond.record else { return }
            change(&record)
            bond.record = record
        }
    }
}
