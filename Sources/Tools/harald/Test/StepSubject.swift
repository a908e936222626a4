import Accessories
import BluetoothTypes
import CoreBluetooth
import CoreBluetoothExtras

/// The device that steps test.
struct StepSubject: Sendable {
    /// Finds the device within some seconds.
    let find: @Sendable (DeviceClient, Double) async throws(ToolError) -> FoundDevice
    /// The accessory whose IDs the steps may use; nil for a device that only its table describes.
    var accessory: Accessory?
    /// Changes a value of the accessory. Returns whether there is such a characteristic. Nil for a real device.
    var set: (@Sendable (String, [UInt8]) -> Bool)?
    /// Begins or ends a fault of the accessory. Nil for a real device.
    var fault: (@Sendable (DeviceFault, _ begins: Bool) -> Void)?
    /// The time since the beginning, by the clock of the device.
    let now: @Sendable () -> Duration
    /// The number of lines of the story so far.
    var storyLength: @Sendable () -> Int = { 0 }

    /// A device in range that fits what the user has named.
    static func inRange(_ selector: DeviceSelector) -> StepSubject {
        let start = ContinuousClock.now
        return StepSubject(
            find: { client, seconds async throws(ToolError) in try await client.find(selector, seconds: seconds) },
            now: { ContinuousClock.now - start }
        )
    }

    func handle(of reference: String, in listing: AttributeListing) -> Result<UInt16, StepFailure> {
        if let place = accessory?.place(of: reference) { return handle(of: place, reference, in: listing) }
        guard let selector = CharacteristicSelector(argument: reference) else {
            return .failure(StepFailure("\(reference.quotedName) names no characteristic"))
        }
        let fitting = listing.services.flatMap { service in
            service.characteristics.filter { selector.fits($0, in: service) }
        }
        if fitting.count == 1 { return .success(fitting[0].handle) }
        let all = listing.services.flatMap(\.characteristics).map { nameOf($0.uuid) }
        let has = all.isEmpty ? "it has none" : "it has \(all.joined(separator: ", "))"
        let problem = fitting.isEmpty ? "names no characteristic of the device" : "names several characteristics"
        return .failure(StepFailure("\(reference.quotedName) \(problem); \(has)"))
    }

    private func handle(
        of place: Accessory.Place,
        _ reference: String,
        in listing: AttributeListing
    ) -> Result<UInt16, StepFailure> {
        let services = listing.services.filter { $0.uuid.attributeForm == place.service.attributeForm }
            .sorted { $0.handle < $1.handle }
        let service = place.serviceNumber < services.count ? services[place.serviceNumber] : nil
        let characteristics = (service?.characteristics ?? [])
            .filter { $0.uuid.attributeForm == place.characteristic.attributeForm }.sorted { $0.handle < $1.handle }
        guard place.characteristicNumber < characteristics.count else {
            return .failure(StepFailure("the device does not publish \(reference.quotedName)"))
        }
        return .success(characteristics[place.characteristicNumber].handle)
    }
}

/// The reason why a step failed.
struct StepFailure: Error, Hashable, Sendable {
    let text: String

    init(_ text: String) {
        self.text = text
    }
}
