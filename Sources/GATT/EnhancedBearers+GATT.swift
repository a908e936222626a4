import ATT

extension EnhancedBearers {
    /// Lets GATT use every enhanced bearer of the link, the client's half and the server's as far as they exist. Takes over
    /// the callbacks, and tells `onFailure` of a peer that broke the protocol on a bearer, for which the link should go
    /// (Core Vol 3 Part F 3.3.3).
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
