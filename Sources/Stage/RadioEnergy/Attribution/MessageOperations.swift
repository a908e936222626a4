import ServiceMessages

extension LinkRequest {
    /// The operation that the request starts; nil if it needs no packets.
    var operation: EnergyOperation? {
        switch self {
        case .discoverServices, .discoverIncludedServices, .discoverCharacteristics, .discoverDescriptors: .discovery
        case .readCharacteristic, .readDescriptor: .reading
        case .writeCharacteristic, .writeWithoutResponse, .writeDescriptor: .writing
        case .setNotify: .subscribing
        case .openChannel: .channels
        case .readRSSI, .startChannelSounding, .cancelChannelSounding, .refreshServices, .readLinkInformation,
            .watchLink, .preferLink:
            nil
        }
    }
}

extension PeerEvent {
    /// The operation that the event ends a step of; nil if it ends none.
    var operation: EnergyOperation? {
        switch self {
        case .servicesDiscovered, .includedServicesDiscovered, .characteristicsDiscovered, .descriptorsDiscovered:
            .discovery
        case .valueRead, .descriptorUpdated: .reading
        case .valueWritten, .descriptorWritten, .writeCreditsReturned: .writing
        case .notifyStateChanged: .subscribing
        case .channelOpened: .channels
        case .valueNotified: .notifications
        case .connected, .connectionFailed, .disconnected, .rssiRead, .nameChanged, .servicesModified,
            .maximumWriteLengthChanged, .notificationsAuthorized, .channelSoundingMeasured,
            .channelSoundingEnded, .linkInformation:
            nil
        }
    }

    var endedOperations: Int {
        switch self {
        case .writeCreditsReturned(let count): min(max(count, 0), 256)
        case .valueNotified: 0
        default: operation == nil ? 0 : 1
        }
    }
}
