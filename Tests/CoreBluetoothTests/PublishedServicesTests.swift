import BluetoothService
import Testing

@testable import CoreBluetooth

/// What the service calls what an app publishes.
@Suite struct PublishedServicesTests {
    private static let types = ["180D", "180F", "F00D0000-0000-4861-7261-6C6420303031"]

    private func service(_ uuid: String) -> CBMutableService {
        let service = CBMutableService(type: CBUUID(string: uuid), primary: true)
        service.characteristics = ["2A37", "2A38", "2A38"].map {
            CBMutableCharacteristic(type: CBUUID(string: $0), properties: .read, value: nil, permissions: .readable)
        }
        return service
    }

    private func ids(_ service: LocalService) -> [LocalAttributeID] { [service.id] + service.characteristics.map(\.id) }

    @Test func aRelaunchedAppCallsEverythingAsBeforeInWhicheverOrder() {
        var (before, after) = (PublishedServices(), PublishedServices())
        let first = Self.types.map { ids(before.add(service($0))) }
        let second = Self.types.reversed().map { ids(after.add(service($0))) }
        #expect(first == second.reversed())
        #expect(Set(first.joined()).count == 12)
        #expect(!first.joined().contains(LocalAttributeID(0)))
    }

    /// Late events may still name the old one.
    @Test func whatIsPublishedAgainIsAnotherOne() {
        var published = PublishedServices()
        var all: Set<LocalAttributeID> = []
        for _ in 0..<10 {
            let service = service("180D")
            all.formUnion(ids(published.add(service)))
            _ = published.remove(service)
        }
        #expect(all.count == 40)
    }

    /// The service knows nobody by it, and refuses.
    @Test func aServiceThatIsNotPublishedIsIncludedAsNone() {
        var published = PublishedServices()
        let outer = service("180D")
        outer.includedServices = [service("180F")]
        #expect(published.add(outer).includedServices == [LocalAttributeID(0)])
    }
}
