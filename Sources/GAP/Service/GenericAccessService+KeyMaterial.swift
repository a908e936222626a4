import ATT
import BluetoothTypes
import GATT
import Security

/// The key material of the device's encrypted advertising data (Core Vol 3 Part C 12.6). Clients can read it over
/// authenticated and authorized links, but not write it.
extension GenericAccessService {
    /// Changes the key material and indicates it to the subscribed clients whose links are authenticated and
    /// authorized.
    ///
    /// Does nothing if the characteristic was omitted. Data already being advertised is not encrypted again.
    package func change(_ material: EncryptedDataKeyMaterial, on server: GATTServer) {
        guard keyMaterialHandle != nil, material != keyMaterial else { return }
        keyMaterial = material
        reader = nil
        owesIndication = true
        indicateKeyMaterial(on: server)
    }

    /// Indicates a change that is pending for lack of room. The owner of the server calls this when there is room
    /// again.
    package func indicateKeyMaterial(on server: GATTServer) {
        guard owesIndication, let keyMaterialHandle, let keyMaterial else { return }
        let clients = server.sessions.filter(\.linkSecurity.isAuthorized)
        owesIndication = !server.update(keyMaterial.octets, of: keyMaterialHandle, for: clients)
    }

    /// Answers a read for which the server has already checked authentication. As the user may take time to decide, the
    /// link is checked again afterwards.
    func answerKeyMaterial(_ request: GATTReadRequest) {
        let isContinued = request.offset > 0 && request.session === reader
        if isContinued || request.session.linkSecurity.isAuthorized { return tellKeyMaterial(request) }
        guard let authorize else { return request.respond(.failure(.insufficientAuthorization)) }
        authorize(request.session) { [weak self] isAllowed in
            guard isAllowed, let self else { return request.respond(.failure(.insufficientAuthorization)) }
            if let refusal = request.session.linkSecurity.attributeRefusal(of: .authenticated) {
                return request.respond(.failure(refusal))
            }
            reader = request.session
            tellKeyMaterial(request)
        }
    }

    private func tellKeyMaterial(_ request: GATTReadRequest) {
        guard let keyMaterial else { return request.respond(.failure(.unlikelyError)) }
        request.respond(with: keyMaterial.octets)
    }
}

extension GATTReadRequest {
    /// Responds with the requested part of a value.
    func respond(with value: PacketBuffer) {
        respond(offset > value.count ? .failure(.invalidOffset) : .success(value.suffix(after: offset)))
    }
}

extension CharacteristicDefinition {
    /// The service itself handles authorization, which may depend on the user.
    static var encryptedDataKeyMaterial: CharacteristicDefinition {
        CharacteristicDefinition(
            GATTUUID.encryptedDataKeyMaterial,
            properties: [.read, .indicate],
            permissions: AttributePermissions(read: .authenticated),
            indication: .authenticated
        )
    }
}
