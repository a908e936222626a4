import AccessorySetupKit
import CoreBluetooth

/// The belt that the user has set up.
final class Belts: NSObject {
    private let session = ASAccessorySession()
    private let queue = DispatchQueue(label: "belts")
    private var belt: ASAccessory?
    private(set) var events: [String] = []

    func start() {
        session.activate(on: queue) { [weak self] in self?.handle($0) }
    }

    private func handle(_ event: ASAccessoryEvent) {
        switch event.eventType {
        case .activated: belt = session.accessories.first
        case .accessoryAdded:
            belt = event.accessory
            events.append("added \(belt?.displayName ?? "")")
        default: break
        }
    }
}
