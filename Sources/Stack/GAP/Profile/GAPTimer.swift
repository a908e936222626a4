import Security

/// The timers of the Generic Access Profile (Core Vol 3 Part C Appendix A), named after TGAP(…).
package enum GAPTimer {
    /// The duration of the fast advertising phase: TGAP(adv_fast_period).
    package static let advertisingFastPeriod = Duration.seconds(30)
    /// The maximum lifetime of a private address: TGAP(private_addr_int).
    package static let privateAddressInterval = DevicePrivacy.defaultInterval
    /// The time-out for connection parameter requests: TGAP(conn_param_timeout).
    package static let connectionParameters = Duration.seconds(30)
}
