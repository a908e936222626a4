import GATT

extension BondStore: GATTClientStore {
    /// Applies `change` to what each peer has chosen as a client (Core Vol 3 Part G 2.5.2, 7.1).
    ///
    /// When it cannot be saved nothing is lost: a record says which database it is for, and one that belongs to an older
    /// one is brought up to date when its client comes back.
    package func updateRecords(_ change: (inout ClientRecord) -> Void) {
        updateAll { bond in
            guard var record = bond.record else { return }
            change(&record)
            bond.record = record
        }
    }
}
