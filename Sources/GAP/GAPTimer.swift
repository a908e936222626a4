import Privacy

/// The times of the Generic Access Profile (Core Vol 3 Part C Appendix A), under names in place of TGAP(…).
package enum GAPTimer {
    /// How long a device stays limited discoverable at most: TGAP(lim_adv_timeout).
    package static let limitedDiscoverable = Duration.seconds(180)
    /// How long limited discovery lasts at least: TGAP(lim_disc_scan_min).
    package static let limitedDiscovery = Duration.milliseconds(10_240)
    /// How long general discovery lasts at least: TGAP(gen_disc_scan_min).
    package static let generalDiscovery = Duration.milliseconds(10_240)
    /// How much longer a discovery lasts on the Coded PHY, whose packets are that much longer.
    package static let codedFactor = 3
    /// How long the advertiser is fast: TGAP(adv_fast_period).
    package static let advertisingFastPeriod = Duration.seconds(30)
    /// How long a private address may stay: TGAP(private_addr_int).
    package static let privateAddressInterval = DevicePrivacy.defaultInterval
    /// How long a request for connection parameters waits for its answer: TGAP(conn_param_timeout).
    package static let connectionParameters = Duration.seconds(30)
}
