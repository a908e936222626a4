import CoreBluetooth
import ServiceMessages
import Synchronization

extension CBPeripheral {
    /// Starts a Channel Sounding session, and returns a stream of the distances to the device in metres (behaviour
    /// 17.3).
    ///
    /// A failure in place of a distance is that of one procedure, after which others follow (behaviour 17.5). The
    /// session ends with the stream. The stream ends with the session and with the connection: with their error, such
    /// as `CBError.operationNotSupported` without a controller that can measure, or
    /// `CBError.channelSoundingConfigurationFailed` for a device that is not paired (behaviour 17.2).
    ///
    /// The service has one session at a time (behaviour 17.2). Another one fails.
    public func distances() -> EventStream<Result<Double, any Error>> {
        let (stream, source) = EventStream<Result<Double, any Error>>.make()
        guard state == .connected else {
            source.finish(ServiceError(.notConnected, reason: "the peripheral is not connected").apiError)
            return stream
        }
        // The service would end this session too, since it tells sessions apart by their managers.
        guard !asynchronous.isMeasuring.exchange(true, ordering: .relaxed) else {
            let reason = "another distance measurement is running"
            source.finish(ServiceError(.channelSoundingConfigurationFailed, reason: reason).apiError)
            return stream
        }
        let isOver = Atomic(false)
        let registration = updates.add { update in
            switch update {
            case .event(.channelSoundingMeasured(let result)):
                source.send(result.mapError { error -> any Error in error.apiError })
            case .event(.channelSoundingEnded(let error)):
                isOver.store(true, ordering: .relaxed)
                source.finish(error?.apiError)
            case .disconnected(let end): source.finish(end.error ?? ServiceError(.notConnected).apiError)
            case .connected, .connectionFailed, .servicesModified, .event: break
            }
        }
        source.onEnd { [self] in
            updates.remove(registration)
            asynchronous.isMeasuring.store(false, ordering: .relaxed)
            if !isOver.load(ordering: .relaxed) { sendCommand(.cancelChannelSounding) }
        }
        startChannelSoundingSession(CBChannelSoundingSessionConfiguration(role: .initiator))
        return stream
    }
}
