import LinkLayer
import Testing

@Suite struct RadioAirTimeTests {
    // Core Vol 6 Part B 2.1 and 2.2; the longest data PDUs take 2,120, 1,064, 4,542 and 17,040 microseconds (4.5.10).
    @Test(arguments: [
        (RadioPHY.le1M, 0, 80), (.le1M, 6, 128), (.le1M, 12, 176), (.le1M, 34, 352), (.le1M, 37, 376), (.le1M, 27, 296),
        (.le1M, 251, 2_088), (.le1M, 255, 2_120), (.le2M, 0, 44), (.le2M, 27, 152), (.le2M, 251, 1_048),
        (.le2M, 255, 1_064), (.codedS2, 251, 4_478), (.codedS2, 255, 4_542), (.codedS8, 251, 16_784),
        (.codedS8, 255, 17_040),
    ])
    func airTimeOfAPayload(phy: RadioPHY, payload: Int, microseconds: Int64) {
        #expect(phy.airTimeMicroseconds(octets: payload + 2) == microseconds)
        #expect(phy.airTime(octets: payload + 2) == .microseconds(microseconds))
    }
}
