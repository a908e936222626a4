import AccessorySetupKit
import CoreBluetooth
import Testing

/// The values of the API.
@Suite struct DescriptorTests {
    @Test("behaviour 16.4: a descriptor keeps its traits, and a company of 0 is none")
    func descriptorsKeepTraits() {
        let descriptor = ASDiscoveryDescriptor()
        #expect(descriptor.bluetoothServiceUUID == nil)
        #expect(descriptor.bluetoothCompanyIdentifier == ASBluetoothCompanyIdentifier(0))
        descriptor.bluetoothServiceUUID = CBUUID(string: "180D")
        descriptor.bluetoothServiceDataBlob = Data([1, 0])
        descriptor.bluetoothServiceDataMask = Data([0xFF, 0])
        descriptor.bluetoothNameSubstringCompareOptions = .caseInsensitive
        descriptor.bluetoothRange = .immediate
        descriptor.supportedOptions = [.bluetoothPairingLE, .bluetoothHID]
        #expect(descriptor.bluetoothServiceUUID == CBUUID(string: "180D"))
        #expect(descriptor.bluetoothServiceDataBlob == Data([1, 0]))
        #expect(descriptor.bluetoothServiceDataMask == Data([0xFF, 0]))
        #expect(descriptor.bluetoothNameSubstringCompareOptions == .caseInsensitive)
        #expect(descriptor.bluetoothRange == .immediate)
        #expect(descriptor.supportedOptions.rawValue == 10)
    }

    @Test func errorsCastFromFoundation() throws {
        let error = NSError(domain: ASErrorDomain, code: 700) as any Error
        #expect((error as? ASError)?.code == .userCancelled)
        do {
            throw ASError(.pickerAlreadyActive)
        } catch ASError.pickerAlreadyActive {
        }
        #expect(ASError(.invalidRequest).errorCode == 450)
    }
}
