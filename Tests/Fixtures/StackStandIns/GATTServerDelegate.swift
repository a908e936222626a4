import GATT

/// By default, delegates in tests do nothing when a client subscribes, or when updates fit again.
extension GATTServerDelegate {
    package func server(
        _ server: GATTServer,
        session: GATTServerSession,
        didConfigure handle: UInt16,
        from old: ClientConfiguration,
        to new: ClientConfiguration
    ) {}

    package func server(_ server: GATTServer, isReadyToUpdate session: GATTServerSession) {}
}
