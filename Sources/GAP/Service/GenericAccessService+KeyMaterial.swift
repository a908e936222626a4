import ATT
import BluetoothTypes
import GATT
import Security

/// The key material of the encrypted data that the device advertises (Core Vol 3 Part C 12.6). Clients get it over links that
/// are authenticated and authorized, and cannot write it.
extension GenericAccessService {
    /// Changes the key material, and indicates it to the clients that have asked for that and whose links are authenticated
    /// and authorized. Nothing happens when the characteristic is left out. What is advertised is not encrypted anew by this.
    package func change(_ material: EncryptedDataKeyMaterial, on server: GATTServer) {
        guard keyMaterialHandle != nil, material != keyMaterial else { return }
        keyMaterial = material
        reader = nil
        owesIndication = true
        indicateKeyMaterial(on: server)
    }

    /// Indicates a change for which there was no room. The owner of the server calls it when there is room again.
    package func indicateKeyMaterial(on server: GATTServer) {
        guard owesIndication, let keyMaterialHandle, let keyMaterial else { return }
        let clients = server.sessions.filter(\.security.isAuthorized)
        owesIndication = !server.update(keyMaterial.octets, of: keyMaterialHandle, for: clients)
    }

    /// The server has seen to authentication. The person may take time to decide: the link is looked at again afterwards.
    func answerKeyMaterial(_ request: GATTReadRequest) {
        let isContinued = request.offset > 0 && request.session === reader
        if isContinued || request.session.security.isAuthorized { return tellKeyMaterial(request) }
        guard let authorize else { return request.respond(.failure(.insufficientAuthorization)) }
        authorize(request.session) { [weak self] isAllowed in
            guard isAllowed, let self else { return request.respond(.failure(.insufficientAuthorization)) }
            if let refusal = request.session.security.attributeRefusal(of: .authenticated) {
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
    /// Answers with what the client wants of a value.
    func respond(with value: PacketBuffer) {
        respond(offset > value.count ? .failure(.invalidOffset) : .success(value.suffix(after: offset)))
    }
}

extension CharacteristicDefinition {
    /// Authorization is asked for by the service, since whether there is one may depend on a person.
    static var encryptedDataKeyMaterial: CharacteristicDefinition {
        CharacteristicDefinition(
            GATTUUID.encryptedDataKeyMaterial,
            properties: [.read, .indicate],
            permissions: AttributePermissions(read: .authenticated),
            indication: .authenticated
        )
    }
}
