import BluetoothTypes
import GATT

// MARK: - Restoration

extension PeerLink {
    /// Replaces the attachment of an ended process by a new one, and drops the writes that the process had queued.
    func renew(_ user: Attachment) -> Attachment {
        commands.removeAll { $0.user === user }
        let new = user.renewed()
        replace(user, by: new)
        return new
    }

    /// The peer's state for a manager that is connected to it.
    func restored(for user: Attachment, _ info: PeerInfo) -> RestoredPeer {
        RestoredPeer(info: info, maximumWriteWithoutResponse: maximumCommandLength, services: services(for: user))
    }

    /// The services that a manager has discovered (behaviour 10.9).
    private func services(for user: Attachment) -> [RestoredService] {
        (database.services ?? []).visible.filter { user.knows($0.handle) }.map { service in
            let characteristics = (database.characteristics(of: service.handle) ?? []).filter { user.knows($0.value) }
            return RestoredService(
                service: service,
                includedServices: (database.includedServices(of: service.handle) ?? []).visible.filter {
                    user.knows($0.handle)
                },
                characteristics: characteristics.map { restored($0, for: user) }
            )
        }
    }

    private func restored(_ found: DiscoveredCharacteristic, for user: Attachment) -> RestoredCharacteristic {
        RestoredCharacteristic(
            characteristic: RemoteCharacteristic(found, value: database.values[found.value]),
            isNotifying: subscriptions[found.value]?.subscribers.contains(user.key) ?? false,
            descriptors: database.descriptors(of: found.value) ?? []
        )
    }
}
