import ATT
import BluetoothTypes
import GATT
import HCI
import SMP
import ServiceMessages
import Testing

@testable import BluetoothService

/// The layer and code that an error carries as its cause.
@Suite struct ErrorCauseTests {
    @Test(
        "behaviour 15.10: the end or failure of a connection carries the controller's reason, as a code and in words",
        arguments: [
            .connectionTimeout, .linkLayerResponseTimeout, .remoteUserTerminated, .remoteLowResources, .remotePowerOff,
            .connectionFailedToBeEstablished, .pinOrKeyMissing, .connectionLimitExceeded, .memoryCapacityExceeded,
            .rejectedForLimitedResources, .invalidParameters,
        ] as [HCIStatus]
    )
    func causesOfTheController(status: HCIStatus) {
        let errors = [
            ServiceError(disconnection: status), ServiceError(disconnection: status, wasConnected: false),
            ServiceError(connecting: status),
        ]
        for error in errors {
            #expect(error.cause == ServiceError.Cause(.hci, status.rawValue))
            #expect(error.reason == "the controller reported \(status)")
        }
    }

    @Test(
        "behaviour 15.10: an error response of the peer's attribute server is included unchanged, and nothing if there was none"
    )
    func causesOfTheAttributeProtocol() {
        let response = ATTErrorResponse(ATTErrorCode(rawValue: 0x91), to: .readRequest, at: 3)
        for error in [ServiceError(ATTBearerError.response(response)), ServiceError(GATTError.att(response))] {
            #expect(error.code == .att(ATTStatus(rawValue: 0x91)))
            #expect(error.cause == ServiceError.Cause(.att, 0x91))
            #expect(error.reason != nil)
        }
        for error in [GATTError.bearer(.queueFull), .valueTooLong(600), .noSigningKey, .queueFull, .databaseOutOfSync] {
            #expect(ServiceError(error).cause == nil)
            #expect(ServiceError(error).reason != nil)
        }
    }

    @Test(
        "behaviour 15.9: a request that waited for security fails with the reason why there is none, or else with the refusal",
        arguments: [
            (.pairing(.refusedByPeer(.confirmValueFailed)), .init(.smp, 0x04)),
            (.pairing(.refused(.passkeyEntryFailed)), .init(.smp, 0x01)), (.peerLostKey, .init(.hci, 0x06)),
            (.encryptionTimedOut, nil), (.refusedByPerson, nil), (.pairing(.timedOut), nil),
        ] as [(SecurityError, ServiceError.Cause?)]
    )
    func causesOfMissingSecurity(security: SecurityError, cause: ServiceError.Cause?) {
        #expect(ServiceError(security).cause == cause)
        let refusal = ATTErrorResponse(.insufficientAuthentication, to: .readRequest, at: 3)
        let error = ServiceError(GATTError.notSecured(.att(refusal), because: UnderlyingError(security)))
        #expect(error.code == .att(ATTStatus(rawValue: 0x05)))
        #expect(error.cause == cause ?? ServiceError.Cause(.att, 0x05))
        #expect(error.reason == "\(security)")
    }

    @Test(
        "behaviours 6.6, 15.9: a pairing that times out counts as missing encryption, and the error carries the refusal"
    )
    func aPairingThatTimesOut() throws {
        let pair = try ConnectedPair()
        _ = try pair.connected()
        let link = try #require(pair.phone.system.links.all.first)
        let refusal = ATTErrorResponse(.insufficientAuthentication, to: .readRequest, at: 3)
        let security = UnderlyingError(SecurityError.pairing(.timedOut))
        let error = link.attributes.serviceError(GATTError.notSecured(.att(refusal), because: security))
        #expect(error.code == .att(ATTStatus(rawValue: 0x0F)))
        #expect(error.cause == ServiceError.Cause(.att, 0x05))
    }
}
