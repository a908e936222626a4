import BluetoothTypes
import HCI
import HCIHost
import Testing

/// The texts of errors in logs.
@Suite struct ErrorTextTests {
    @Test("the error of a closed transport is a clause, without the names of types and cases")
    func transportErrors() {
        let expected: [(HCITransportError, String)] = [
            (.closedByPeer, "the transport to the controller has closed: the other end closed it"),
            (.failed(reason: "the link was reset"), "the transport to the controller has closed: the link was reset"),
            (.unreachable(address: "tcp:::1:9", reason: "refused"), "cannot reach the controller tcp:::1:9: refused"),
            (
                .malformed(PacketError(.length(3), at: "packet type")),
                "the transport to the controller has closed: the other end sent octets that are not an HCI packet: "
                    + "packet type: invalid length 3"
            ),
        ]
        for (error, text) in expected { #expect("\(HCIHostError.transport(error))" == text) }
        #expect("\(HCITransportError.unreachable(address: "usb", reason: "busy"))" == "cannot reach usb: busy")
    }
}
