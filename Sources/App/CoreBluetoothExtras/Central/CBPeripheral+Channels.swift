import CoreBluetooth
import ServiceMessages

extension CBPeripheral {
    /// Opens an L2CAP channel to a PSM of the device.
    ///
    /// The channel belongs to the caller, and the delegate is not called (behaviour 15.23). Keep it: without a
    /// reference it closes (behaviour 8.7).
    ///
    /// - Parameters:
    ///   - psm: The number that the device accepts channels on.
    ///   - deadline: The time limit, by the clock of the service. Nil for none; then the call ends at the latest with
    ///     the connection (behaviour 8.12).
    /// - Returns: The channel.
    /// - Throws: `CBError`, ``ExtrasError/deadlinePassed`` or `CancellationError`.
    public func openChannel(_ psm: CBL2CAPPSM, deadline: Duration? = nil) async throws -> CBL2CAPChannel {
        let wait = Wait<CBL2CAPChannel>()
        return try await wait.value {
            limit(wait, to: deadline)
            ask(.openChannel(psm: psm)) { [self] outcome in
                switch outcome {
                case .failure(let error): wait.end(.failure(error))
                case .success(.channelOpened(_, .failure(let error))): wait.end(.failure(error.apiError))
                case .success(.channelOpened(_, .success(let channel))):
                    if wait.isOver { return refuse(channel) }
                    wait.end(.success(takeOver(channel, psm: psm)))
                case .success(let event): wait.end(.failure(event.isNoAnswer))
                }
            }
        }
    }
}
