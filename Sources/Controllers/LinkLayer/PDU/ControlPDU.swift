import BluetoothTypes

/// The opcode of a control PDU (Core Vol 6 Part B 2.4.2).
struct ControlOpcode: WireValue {
    var rawValue: UInt8

    static let connectionUpdateInd = ControlOpcode(rawValue: 0x00)
    static let channelMapInd = ControlOpcode(rawValue: 0x01)
    static let terminateInd = ControlOpcode(rawValue: 0x02)
    static let encReq = ControlOpcode(rawValue: 0x03)
    static let encRsp = ControlOpcode(rawValue: 0x04)
    static let startEncReq = ControlOpcode(rawValue: 0x05)
    static let startEncRsp = ControlOpcode(rawValue: 0x06)
    static let unknownRsp = ControlOpcode(rawValue: 0x07)
    static let featureReq = ControlOpcode(rawValue: 0x08)
    static let featureRsp = ControlOpcode(rawValue: 0x09)
    static let pauseEncReq = ControlOpcode(rawValue: 0x0A)
    static let pauseEncRsp = ControlOpcode(rawValue: 0x0B)
    static let versionInd = ControlOpcode(rawValue: 0x0C)
    static let rejectInd = ControlOpcode(rawValue: 0x0D)
    static let peripheralFeatureReq = ControlOpcode(rawValue: 0x0E)
    static let connectionParamReq = ControlOpcode(rawValue: 0x0F)
    static let connectionParamRsp = ControlOpcode(rawValue: 0x10)
    static let rejectExtInd = ControlOpcode(rawValue: 0x11)
    static let pingReq = ControlOpcode(rawValue: 0x12)
    static let pingRsp = ControlOpcode(rawValue: 0x13)
    static let lengthReq = ControlOpcode(rawValue: 0x14)
    static let lengthRsp = ControlOpcode(rawValue: 0x15)
    static let phyReq = ControlOpcode(rawValue: 0x16)
    static let phyRsp = ControlOpcode(rawValue: 0x17)
    static let phyUpdateInd = ControlOpcode(rawValue: 0x18)
    static let minUsedChannelsInd = ControlOpcode(rawValue: 0x19)
    static let periodicSyncInd = ControlOpcode(rawValue: 0x1C)
    static let clockAccuracyReq = ControlOpcode(rawValue: 0x1D)
    static let clockAccuracyRsp = ControlOpcode(rawValue: 0x1E)
    static let subrateReq = ControlOpcode(rawValue: 0x26)
    static let subrateInd = ControlOpcode(rawValue: 0x27)
    static let periodicSyncResponsesInd = ControlOpcode(rawValue: 0x2A)
    static let soundingSecRsp = ControlOpcode(rawValue: 0x2D)
    static let soundingCapabilitiesReq = ControlOpcode(rawValue: 0x2E)
    static let soundingCapabilitiesRsp = ControlOpcode(rawValue: 0x2F)
    static let soundingConfigReq = ControlOpcode(rawValue: 0x30)
    static let soundingConfigRsp = ControlOpcode(rawValue: 0x31)
    static let soundingReq = ControlOpcode(rawValue: 0x32)
    static let soundingRsp = ControlOpcode(rawValue: 0x33)
    static let soundingInd = ControlOpcode(rawValue: 0x34)
    static let soundingTerminateReq = ControlOpcode(rawValue: 0x35)
    static let soundingFAEReq = ControlOpcode(rawValue: 0x36)
    static let soundingFAERsp = ControlOpcode(rawValue: 0x37)
    static let soundingSecReq = ControlOpcode(rawValue: 0x39)
    static let soundingTerminateRsp = ControlOpcode(rawValue: 0x3A)
}

/// A control PDU that this link layer implements.
enum ControlPDU: Hashable {
    /// The length of the longest control PDU, LL_CS_FAE_RSP, in octets, including its opcode.
    static let maximumOctets = 73

    case connectionUpdate(ConnectionUpdateIndication)
    case channelMap(ChannelMapIndication)
    case terminate(ErrorIndication)
    case encryptionRequest(EncryptionRequest)
    case encryptionResponse(EncryptionResponse)
    case startEncryptionRequest
    case startEncryptionResponse
    case unknown(UnknownResponse)
    case featureRequest(FeatureExchange)
    case featureResponse(FeatureExchange)
    case pauseEncryptionRequest
    case pauseEncryptionResponse
    case version(VersionIndication)
    case reject(ErrorIndication)
    case peripheralFeatureRequest(FeatureExchange)
    case connectionParameterRequest(ConnectionParameterRequest)
    case connectionParameterResponse(ConnectionParameterRequest)
    case rejectExtended(RejectExtendedIndication)
    case pingRequest
    case pingResponse
    case lengthRequest(LengthExchange)
    case lengthResponse(LengthExchange)
    case phyRequest(PHYPreferences)
    case phyResponse(PHYPreferences)
    case phyUpdate(PHYUpdateIndication)
    case minimumUsedChannels(MinimumUsedChannels)
    case clockAccuracyRequest(ClockAccuracyExchange)
    case clockAccuracyResponse(ClockAccuracyExchange)
    case periodicSync(PeriodicSyncIndication)
    case subrateRequest(SubrateRequest)
    case subrateIndication(SubrateIndication)
    case soundingSecurityRequest(SoundingSecurityExchange)
    case soundingSecurityResponse(SoundingSecurityExchange)
    case soundingCapabilitiesRequest(SoundingCapabilityExchange)
    case soundingCapabilitiesResponse(SoundingCapabilityExchange)
    case soundingConfigurationRequest(SoundingConfigurationRequest)
    case soundingConfigurationResponse(SoundingConfigurationResponse)
    case soundingErrorTableRequest
    case soundingErrorTableResponse(SoundingErrorTable)
    case soundingRequest(SoundingRequest)
    case soundingResponse(SoundingResponse)
    case soundingIndication(SoundingIndication)
    case soundingTerminateRequest(SoundingTermination)
    case soundingTerminateResponse(SoundingTermination)

    /// Parses a control PDU: its opcode, followed by its data.
    ///
    /// - Throws: ``PacketError`` if the opcode is unknown, or the data do not match it.
    init(reading bytes: PacketBuffer) throws(PacketError) {
        guard let number = bytes.first else { throw PacketError(.truncated(needed: 1, available: 0), at: "Opcode") }
        let data = bytes.suffix(after: 1)
        switch ControlOpcode(rawValue: number) {
        case .connectionUpdateInd: self = .connectionUpdate(try .init(reading: data))
        case .channelMapInd: self = .channelMap(try .init(reading: data))
        case .terminateInd: self = .terminate(try .init(reading: data))
        case .encReq: self = .encryptionRequest(try .init(reading: data))
        case .encRsp: self = .encryptionResponse(try .init(reading: data))
        case .startEncReq: self = try Self.startEncryptionRequest.empty(data)
        case .startEncRsp: self = try Self.startEncryptionResponse.empty(data)
        case .unknownRsp: self = .unknown(try .init(reading: data))
        case .featureReq: self = .featureRequest(try .init(reading: data))
        case .featureRsp: self = .featureResponse(try .init(reading: data))
        case .pauseEncReq: self = try Self.pauseEncryptionRequest.empty(data)
        case .pauseEncRsp: self = try Self.pauseEncryptionResponse.empty(data)
        case .versionInd: self = .version(try .init(reading: data))
        case .rejectInd: self = .reject(try .init(reading: data))
        case .peripheralFeatureReq: self = .peripheralFeatureRequest(try .init(reading: data))
        case .connectionParamReq: self = .connectionParameterRequest(try .init(reading: data))
        case .connectionParamRsp: self = .connectionParameterResponse(try .init(reading: data))
        case .rejectExtInd: self = .rejectExtended(try .init(reading: data))
        case .pingReq: self = try Self.pingRequest.empty(data)
        case .pingRsp: self = try Self.pingResponse.empty(data)
        case .lengthReq: self = .lengthRequest(try .init(reading: data))
        case .lengthRsp: self = .lengthResponse(try .init(reading: data))
        case .phyReq: self = .phyRequest(try .init(reading: data))
        case .phyRsp: self = .phyResponse(try .init(reading: data))
        case .phyUpdateInd: self = .phyUpdate(try .init(reading: data))
        case .minUsedChannelsInd: self = .minimumUsedChannels(try .init(reading: data))
        case .clockAccuracyReq: self = .clockAccuracyRequest(try .init(reading: data))
        case .clockAccuracyRsp: self = .clockAccuracyResponse(try .init(reading: data))
        case .periodicSyncInd, .periodicSyncResponsesInd: self = try .periodicSync(data, opcode: number)
        case .subrateReq: self = .subrateRequest(try .init(reading: data))
        case .subrateInd: self = .subrateIndication(try .init(reading: data))
        default: self = try .sounding(data, opcode: ControlOpcode(rawValue: number))
        }
    }

    /// Parses a PDU of Channel Sounding.
    private static func sounding(_ data: PacketBuffer, opcode: ControlOpcode) throws(PacketError) -> ControlPDU {
        switch opcode {
        case .soundingSecReq: .soundingSecurityRequest(try .init(reading: data))
        case .soundingSecRsp: .soundingSecurityResponse(try .init(reading: data))
        case .soundingCapabilitiesReq: .soundingCapabilitiesRequest(try .init(reading: data))
        case .soundingCapabilitiesRsp: .soundingCapabilitiesResponse(try .init(reading: data))
        case .soundingConfigReq: .soundingConfigurationRequest(try .init(reading: data))
        case .soundingConfigRsp: .soundingConfigurationResponse(try .init(reading: data))
        case .soundingFAEReq: try Self.soundingErrorTableRequest.empty(data)
        case .soundingFAERsp: .soundingErrorTableResponse(try .init(reading: data))
        case .soundingReq: .soundingRequest(try .init(reading: data))
        case .soundingRsp: .soundingResponse(try .init(reading: data))
        case .soundingInd: .soundingIndication(try .init(reading: data))
        case .soundingTerminateReq: .soundingTerminateRequest(try .init(reading: data))
        case .soundingTerminateRsp: .soundingTerminateResponse(try .init(reading: data))
        default: throw PacketError(.value(UInt64(opcode.rawValue)), at: "Opcode")
        }
    }

    /// Parses either of the two periodic sync indications, which differ in their length.
    private static func periodicSync(_ data: PacketBuffer, opcode: UInt8) throws(PacketError) -> ControlPDU {
        let pdu = ControlPDU.periodicSync(try .init(reading: data))
        guard pdu.opcode.rawValue == opcode else { throw PacketError(.length(data.count), at: "Data") }
        return pdu
    }

    var opcode: ControlOpcode {
        switch self {
        case .connectionUpdate: .connectionUpdateInd
        case .channelMap: .channelMapInd
        case .terminate: .terminateInd
        case .encryptionRequest: .encReq
        case .encryptionResponse: .encRsp
        case .startEncryptionRequest: .startEncReq
        case .startEncryptionResponse: .startEncRsp
        case .unknown: .unknownRsp
        case .featureRequest: .featureReq
        case .featureResponse: .featureRsp
        case .pauseEncryptionRequest: .pauseEncReq
        case .pauseEncryptionResponse: .pauseEncRsp
        case .version: .versionInd
        case .reject: .rejectInd
        case .peripheralFeatureRequest: .peripheralFeatureReq
        case .connectionParameterRequest: .connectionParamReq
        case .connectionParameterResponse: .connectionParamRsp
        case .rejectExtended: .rejectExtInd
        case .pingRequest: .pingReq
        case .pingResponse: .pingRsp
        case .lengthRequest: .lengthReq
        case .lengthResponse: .lengthRsp
        case .phyRequest: .phyReq
        case .phyResponse: .phyRsp
        case .phyUpdate: .phyUpdateInd
        case .minimumUsedChannels: .minUsedChannelsInd
        case .clockAccuracyRequest: .clockAccuracyReq
        case .clockAccuracyResponse: .clockAccuracyRsp
        case .periodicSync(let body): body.responses == nil ? .periodicSyncInd : .periodicSyncResponsesInd
        case .subrateRequest: .subrateReq
        case .subrateIndication: .subrateInd
        default: soundingOpcode
        }
    }

    /// The opcode of a PDU of Channel Sounding.
    private var soundingOpcode: ControlOpcode {
        switch self {
        case .soundingSecurityRequest: .soundingSecReq
        case .soundingSecurityResponse: .soundingSecRsp
        case .soundingCapabilitiesRequest: .soundingCapabilitiesReq
        case .soundingCapabilitiesResponse: .soundingCapabilitiesRsp
        case .soundingConfigurationRequest: .soundingConfigReq
        case .soundingConfigurationResponse: .soundingConfigRsp
        case .soundingErrorTableRequest: .soundingFAEReq
        case .soundingErrorTableResponse: .soundingFAERsp
        case .soundingRequest: .soundingReq
        case .soundingResponse: .soundingRsp
        case .soundingIndication: .soundingInd
        case .soundingTerminateRequest: .soundingTerminateReq
        case .soundingTerminateResponse: .soundingTerminateRsp
        default: .unknownRsp
        }
    }

    /// The data of a PDU of Channel Sounding; nil if there are none.
    private var soundingBody: (any PacketFields)? {
        switch self {
        case .soundingSecurityRequest(let body), .soundingSecurityResponse(let body): body
        case .soundingCapabilitiesRequest(let body), .soundingCapabilitiesResponse(let body): body
        case .soundingConfigurationRequest(let body): body
        case .soundingConfigurationResponse(let body): body
        case .soundingErrorTableResponse(let body): body
        case .soundingRequest(let body): body
        case .soundingResponse(let body): body
        case .soundingIndication(let body): body
        case .soundingTerminateRequest(let body), .soundingTerminateResponse(let body): body
        default: nil
        }
    }

    /// Returns the opcode followed by the data.
    func encoded() -> PacketBuffer {
        var buffer = PacketBuffer(headroom: DataHeader.size, capacity: 27)
        buffer.append(opcode.rawValue)
        body?.write(to: &buffer)
        return buffer
    }

    /// The data after the opcode; nil if there are none.
    var body: (any PacketFields)? {
        switch self {
        case .connectionUpdate(let body): body
        case .channelMap(let body): body
        case .terminate(let body), .reject(let body): body
        case .encryptionRequest(let body): body
        case .encryptionResponse(let body): body
        case .startEncryptionRequest, .startEncryptionResponse: nil
        case .pauseEncryptionRequest, .pauseEncryptionResponse: nil
        case .unknown(let body): body
        case .featureRequest(let body), .featureResponse(let body), .peripheralFeatureRequest(let body): body
        case .version(let body): body
        case .connectionParameterRequest(let body), .connectionParameterResponse(let body): body
        case .rejectExtended(let body): body
        case .pingRequest, .pingResponse: nil
        case .lengthRequest(let body), .lengthResponse(let body): body
        case .phyRequest(let body), .phyResponse(let body): body
        case .phyUpdate(let body): body
        case .minimumUsedChannels(let body): body
        case .clockAccuracyRequest(let body), .clockAccuracyResponse(let body): body
        case .periodicSync(let body): body
        case .subrateRequest(let body): body
        case .subrateIndication(let body): body
        default: soundingBody
        }
    }

    private func empty(_ data: PacketBuffer) throws(PacketError) -> ControlPDU {
        if data.isEmpty { return self }
        throw PacketError(.trailing(data.count), at: "Data")
    }
}
