import BluetoothTypes
import GATT

// MARK: - Restoration

extension PeerLink {
    /// Puts another use in the place of one whose process is gone; what that one had queued is given up.
    func renew(_ user: Attachment) -> Attachment {
        commands.removeAll { $0.user === user }
        let new = user.renewed()
        replace(user, by: new)
        return new
    }

    /// The peer as a manager finds it that is connected to it.
    func restored(for user: Attachment, _ info: PeerInfo) -> RestoredPeer {
        RestoredPeer(info: info, maximumWriteWithoutResponse: maximumCommandLength, services: services(for: user))
    }

    /// What a manager has found of the peer (behaviour 10.9).
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

    private func restored(_ found: GATT.RemoteCharacteristic, for user: Attachment) -> RestoredCharacteristic {
        RestoredCharacteristic(
            characteristic: RemoteCharacteristic(found, value: database.values[found.value]),
            isNotifying: subscriptions[found.value]?.subscribers.contains(user.key) ?? false,
            descriptors: database.descriptors(of: found.value) ?? []
        )
    }
}
