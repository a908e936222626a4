import Security

/// The timers of the Generic Access Profile (Core Vol 3 Part C Appendix A), named after TGAP(…).
package enum GAPTimer {
    /// The maximum time in limited discoverable mode: TGAP(lim_adv_timeout).
    package static let limitedDiscoverable = Duration.seconds(180)
    /// The minimum duration of limited discovery: TGAP(lim_disc_scan_min).
    package static let limitedDiscovery = Duration.milliseconds(10_240)
    /// The minimum duration of general discovery: TGAP(gen_disc_scan_min).
    package static let generalDiscovery = Duration.milliseconds(10_240)
    /// The factor by which discovery lasts longer on the Coded PHY, whose packets are longer.
    package static let codedFactor = 3
    /// The duration of the fast advertising phase: TGAP(adv_fast_period).
    package static let advertisingFastPeriod = Duration.seconds(30)
    /// The maximum lifetime of a private address: TGAP(private_addr_int).
    package static let privateAddressInterval = DevicePrivacy.defaultInterval
    /// The time-out for connection parameter requests: TGAP(conn_param_timeout).
    package static let connectionParameters = Duration.seconds(30)
}
