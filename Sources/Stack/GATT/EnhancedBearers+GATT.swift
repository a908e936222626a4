import ATT

extension EnhancedBearers {
    /// Connects the enhanced bearers of the link to GATT: to the client and to the server session, as far as they
    /// exist.
    ///
    /// Replaces `onOpen` and `onClose`.
    ///
    /// - Parameter onFailure: Called when the peer violated the protocol on a bearer, after which the link should be
    ///   disconnected (Core Vol 3 Part F 3.3.3).
    package func serve(
        client: GATTClient?,
        session: GATTServerSession?,
        onFailure: @escaping (ATTBearerClosure) -> Void = { _ in }
    ) {
        onOpen = { [weak client, weak session] bearer in
            client?.add(bearer)
            if session?.add(bearer) == false { bearer.close() }
        }
        onClose = { [weak client, weak session] bearer, closure in
            client?.remove(bearer)
            session?.remove(bearer)
            if closure.isFailure { onFailure(closure) }
        }
    }
}
