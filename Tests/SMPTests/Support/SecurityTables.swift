/// The effect of each event in each situation of ``SecurityMachineTests``, and the resulting state. Events that are not
/// listed have no effect. Situations with the same rows share a heading.
enum SecurityTables {
    /// As central, which is the initiator.
    static let central = """
        new
        now | idle
        wanted, wanted more, pair | may we -> pairing, #9
        wish | may we -> pairing, wish
        off | changed -> idle
        forgotten | stop, end link, fail: forgotten -> ended
        link lost | stop -> ended
        bonded
        now | idle
        wanted, wanted more | encrypt with bond -> encrypting, pending bond, #9
        pair | may we -> pairing, #9
        wish | encrypt with bond -> encrypting, pending bond, wish
        off | changed -> idle
        forgotten | stop, end link, fail: forgotten -> ended
        link lost | stop -> ended
        encrypting
        now | encrypting, pending bond, #1
        wanted, wanted more, pair | -> encrypting, pending bond, #1, #9
        on, refreshed | changed, #1 done -> idle, encrypted, proven
        off | changed -> encrypting, #1
        no key | #1 no key, fail: no key -> idle, lost key
        no answer | #1 no answer, fail: no answer -> idle
        failed | #1 failed, fail: failed -> idle
        cancel | #1 cancelled -> encrypting, pending bond
        forgotten | stop, end link, #1 forgotten, fail: forgotten -> ended
        link lost | stop, #1 link lost, fail: link lost -> ended
        encrypting for more
        now | encrypting, pending bond, #3
        wanted, wanted more, pair | -> encrypting, pending bond, #3, #9
        on, refreshed | changed, may we -> pairing, encrypted, proven, #3
        off | changed -> encrypting, #3
        no key | #3 no key, fail: no key -> idle, lost key
        no answer | #3 no answer, fail: no answer -> idle
        failed | #3 failed, fail: failed -> idle
        cancel | #3 cancelled -> encrypting, pending bond
        forgotten | stop, end link, #3 forgotten, fail: forgotten -> ended
        link lost | stop, #3 link lost, fail: link lost -> ended
        wish is met
        now | encrypting, pending bond, wish
        wanted, wanted more, pair | -> encrypting, pending bond, wish, #9
        on, refreshed | changed -> idle, encrypted, proven
        off | changed -> encrypting, wish
        no key | fail: no key -> idle, lost key
        no answer | fail: no answer -> idle
        failed | fail: failed -> idle
        cancel | -> encrypting, pending bond
        forgotten | stop, end link, fail: forgotten -> ended
        link lost | stop, fail: link lost -> ended
        lost key
        now | idle, lost key
        wanted, wanted more | encrypt with bond -> encrypting, pending bond, lost key, #9
        pair | may we -> pairing, lost key, #9
        off | changed -> idle, lost key
        forgotten | stop, end link, fail: forgotten -> ended, lost key
        link lost | stop -> ended, lost key
        asking
        now | pairing, #1
        wanted, wanted more, pair | -> pairing, #1, #9
        request | refuse: unspecified, stop, close, #1 unspecified, fail: unspecified -> idle
        refusal | stop, close, #1 peer: busy, fail: peer: busy -> idle
        rubbish | refuse: unsupported, stop, close, #1 unsupported, fail: unsupported -> idle
        may | send Pairing Request, start -> pairing, #1
        may not | #1 not allowed, fail: not allowed -> idle
        off | changed, refuse: unspecified, stop, close, #1 unspecified, fail: unspecified -> idle
        timeout | close, #1 timed out, fail: timed out -> idle, dead
        cancel | refuse: unspecified, stop, close, #1 cancelled, fail: cancelled -> idle
        forgotten | stop, close, stop, end link, #1 forgotten, fail: forgotten -> ended
        link lost | stop, stop, close, #1 link lost, fail: link lost -> ended
        requesting
        now | pairing, #1
        wanted, wanted more, pair | -> pairing, #1, #9
        request | refuse: unspecified, stop, close, #1 unspecified, fail: unspecified -> idle
        refusal | stop, close, #1 peer: busy, fail: peer: busy -> idle
        rubbish | refuse: unsupported, stop, close, #1 unsupported, fail: unsupported -> idle
        off | changed, refuse: unspecified, stop, close, #1 unspecified, fail: unspecified -> idle
        timeout | close, #1 timed out, fail: timed out -> idle, dead
        cancel | refuse: unspecified, stop, close, #1 cancelled, fail: cancelled -> idle
        forgotten | stop, close, stop, end link, #1 forgotten, fail: forgotten -> ended
        link lost | stop, stop, close, #1 link lost, fail: link lost -> ended
        agreed
        now | pairing, pending, #1
        wanted, wanted more, pair | -> pairing, pending, #1, #9
        request | refuse: unspecified, stop, close, #1 unspecified, fail: unspecified -> idle, pending
        refusal | stop, close, #1 peer: busy, fail: peer: busy -> idle, pending
        rubbish | refuse: unsupported, stop, close, #1 unsupported, fail: unsupported -> idle, pending
        on, refreshed | changed, start -> pairing, encrypted, tentative, #1
        off | changed, refuse: unspecified, stop, close, #1 unspecified, fail: unspecified -> idle
        no key, no answer, failed | stop, close, #1 not encrypted, fail: not encrypted -> idle
        timeout | close, #1 timed out, fail: timed out -> idle, dead, pending
        cancel | refuse: unspecified, stop, close, #1 cancelled, fail: cancelled -> idle, pending
        forgotten | stop, close, stop, end link, #1 forgotten, fail: forgotten -> ended
        link lost | stop, stop, close, #1 link lost, fail: link lost -> ended
        tentative
        now | pairing, encrypted, tentative, #1
        wanted | #9 done -> pairing, encrypted, tentative, #1
        wanted more, pair | -> pairing, encrypted, tentative, #1, #9
        request | start, refuse: unspecified, stop, close, stop, end link, #1 unspecified, fail: unspecified -> ended
        refusal | stop, close, stop, end link, #1 peer: busy, fail: peer: busy -> ended
        rubbish | refuse: unsupported, stop, close, stop, end link, #1 unsupported, fail: unsupported -> ended
        off | changed, refuse: unspecified, stop, close, #1 unspecified, fail: unspecified -> idle
        timeout | close, stop, end link, #1 timed out, fail: timed out -> ended, dead
        cancel | refuse: unspecified, stop, close, stop, end link, #1 cancelled, fail: cancelled -> ended
        forgotten | stop, close, stop, end link, #1 forgotten, fail: forgotten -> ended
        link lost | stop, stop, close, #1 link lost, fail: link lost -> ended
        storing
        now | storing, encrypted, tentative, #1
        wanted | #9 done -> storing, encrypted, tentative, #1
        wanted more, pair | -> storing, encrypted, tentative, #1, #9
        off | changed -> storing, #1
        kept | #1 done -> idle, encrypted, proven
        not kept | refuse: rejected, stop, end link, #1 keys refused, fail: keys refused -> ended
        cancel | #1 cancelled -> storing, encrypted, tentative
        forgotten | stop, end link, #1 forgotten, fail: forgotten -> ended
        link lost | stop, #1 link lost, fail: link lost -> ended
        secured / proven
        now | idle, encrypted, proven
        wanted | #9 done -> idle, encrypted, proven
        wanted more, pair | may we -> pairing, encrypted, proven, #9
        off | changed -> idle
        forgotten | stop, end link, fail: forgotten -> ended
        link lost | stop -> ended
        secured for the link
        now | idle, encrypted, proven, link keys
        wanted | #9 done -> idle, encrypted, proven, link keys
        wanted more, pair | may we -> pairing, encrypted, proven, link keys, #9
        off | changed -> idle, link keys
        forgotten | stop, end link, fail: forgotten -> ended
        link lost | stop -> ended
        again
        now | pairing, encrypted, proven, #2
        wanted | #9 done -> pairing, encrypted, proven, #2
        wanted more, pair | -> pairing, encrypted, proven, #2, #9
        request | refuse: unspecified, stop, close, #2 unspecified, fail: unspecified -> idle, encrypted, proven
        refusal | stop, close, #2 peer: busy, fail: peer: busy -> idle, encrypted, proven
        rubbish | refuse: unsupported, stop, close, #2 unsupported, fail: unsupported -> idle, encrypted, proven
        off | changed, refuse: unspecified, stop, close, #2 unspecified, fail: unspecified -> idle
        timeout | close, #2 timed out, fail: timed out -> idle, dead, encrypted, proven
        cancel | refuse: unspecified, stop, close, #2 cancelled, fail: cancelled -> idle, encrypted, proven
        forgotten | stop, close, stop, end link, #2 forgotten, fail: forgotten -> ended
        link lost | stop, stop, close, #2 link lost, fail: link lost -> ended
        tentative again
        now | pairing, encrypted, tentative, #2
        wanted | #9 done -> pairing, encrypted, tentative, #2
        wanted more, pair | -> pairing, encrypted, tentative, #2, #9
        request | start, refuse: unspecified, stop, close, stop, end link, #2 unspecified, fail: unspecified -> ended
        refusal | stop, close, stop, end link, #2 peer: busy, fail: peer: busy -> ended
        rubbish | refuse: unsupported, stop, close, stop, end link, #2 unsupported, fail: unsupported -> ended
        off | changed, refuse: unspecified, stop, close, #2 unspecified, fail: unspecified -> idle
        timeout | close, stop, end link, #2 timed out, fail: timed out -> ended, dead
        cancel | refuse: unspecified, stop, close, stop, end link, #2 cancelled, fail: cancelled -> ended
        forgotten | stop, close, stop, end link, #2 forgotten, fail: forgotten -> ended
        link lost | stop, stop, close, #2 link lost, fail: link lost -> ended
        dead
        now | idle, dead
        wanted, wanted more, pair | #9 timed out, fail: timed out -> idle, dead
        off | changed -> idle, dead
        forgotten | stop, end link, fail: forgotten -> ended, dead
        link lost | stop -> ended, dead
        ended
        now | ended
        wanted, wanted more, pair | #9 link lost -> ended
        """

    /// As peripheral, which is the responder.
    static let peripheral = """
        new / bonded
        now | idle
        wanted, wanted more, pair | send Security Request, start -> waits for the central, #9
        request | may we -> pairing
        off | changed -> idle
        forgotten | stop, end link, fail: forgotten -> ended
        link lost | stop -> ended
        given
        now | idle, pending bond
        wanted, wanted more, pair | send Security Request, start -> waits for the central, pending bond, #9
        request | may we -> pairing, pending bond
        on, refreshed | changed -> idle, encrypted, proven
        off | changed -> idle
        no key, no answer, failed | -> idle
        forgotten | stop, end link, fail: forgotten -> ended
        link lost | stop -> ended
        waiting
        now | waits for the central, #1
        wanted, wanted more, pair | -> waits for the central, #1, #9
        request | may we -> pairing, #1
        refusal | stop, #1 peer: busy, fail: peer: busy -> idle
        off | changed -> waits for the central, #1
        timeout | #1 timed out, fail: timed out -> idle
        cancel | stop, #1 cancelled -> idle
        forgotten | stop, end link, #1 forgotten, fail: forgotten -> ended
        link lost | stop, #1 link lost, fail: link lost -> ended
        waiting, given
        now | waits for the central, pending bond, #1
        wanted, wanted more, pair | -> waits for the central, pending bond, #1, #9
        request | may we -> pairing, pending bond, #1
        refusal | stop, #1 peer: busy, fail: peer: busy -> idle, pending bond
        on, refreshed | changed, #1 done, stop -> idle, encrypted, proven
        off | changed -> waits for the central, #1
        no key, no answer, failed | -> waits for the central, #1
        timeout | #1 timed out, fail: timed out -> idle, pending bond
        cancel | stop, #1 cancelled -> idle, pending bond
        forgotten | stop, end link, #1 forgotten, fail: forgotten -> ended
        link lost | stop, #1 link lost, fail: link lost -> ended
        waiting for more, given
        now | waits for the central, pending bond, #3
        wanted, wanted more, pair | -> waits for the central, pending bond, #3, #9
        request | may we -> pairing, pending bond, #3
        refusal | stop, #3 peer: busy, fail: peer: busy -> idle, pending bond
        on, refreshed | changed -> waits for the central, encrypted, proven, #3
        off | changed -> waits for the central, #3
        no key, no answer, failed | -> waits for the central, #3
        timeout | #3 timed out, fail: timed out -> idle, pending bond
        cancel | stop, #3 cancelled -> idle, pending bond
        forgotten | stop, end link, #3 forgotten, fail: forgotten -> ended
        link lost | stop, #3 link lost, fail: link lost -> ended
        asking
        now | pairing
        wanted, wanted more, pair | -> pairing, #9
        request, wish | refuse: unspecified, stop, close, fail: unspecified -> idle
        refusal | stop, close, fail: peer: busy -> idle
        rubbish | refuse: unsupported, stop, close, fail: unsupported -> idle
        may | send Pairing Response, start -> pairing
        may not | refuse: repeated, stop, close, fail: not allowed -> idle
        off | changed, refuse: unspecified, stop, close, fail: unspecified -> idle
        timeout | close, fail: timed out -> idle, dead
        cancel | refuse: unspecified, stop, close, fail: cancelled -> idle
        forgotten | stop, close, stop, end link, fail: forgotten -> ended
        link lost | stop, stop, close, fail: link lost -> ended
        impostor
        now | pairing
        wanted, wanted more, pair | -> pairing, #9
        request, wish | refuse: unspecified, stop, close, fail: unspecified -> idle
        refusal | stop, close, fail: peer: busy -> idle
        rubbish | refuse: unsupported, stop, close, fail: unsupported -> idle
        yes | close, send Pairing Response, start -> pairing
        no | refuse: unspecified, stop, close, fail: person refused -> idle
        off | changed, refuse: unspecified, stop, close, fail: unspecified -> idle
        timeout | close, fail: timed out -> idle, dead
        cancel | refuse: unspecified, stop, close, fail: cancelled -> idle
        forgotten | stop, close, stop, end link, fail: forgotten -> ended
        link lost | stop, stop, close, fail: link lost -> ended
        impostor, given
        now | pairing, pending bond
        wanted, wanted more, pair | -> pairing, pending bond, #9
        request, wish | refuse: unspecified, stop, close, fail: unspecified -> idle, pending bond
        refusal | stop, close, fail: peer: busy -> idle, pending bond
        rubbish | refuse: unsupported, stop, close, fail: unsupported -> idle, pending bond
        yes | close, send Pairing Response, start -> pairing, pending bond
        no | refuse: unspecified, stop, close, fail: person refused -> idle, pending bond
        on, refreshed | stop, close, changed -> idle, encrypted, proven
        off | changed, refuse: unspecified, stop, close, fail: unspecified -> idle
        no key, no answer, failed | -> pairing
        timeout | close, fail: timed out -> idle, dead, pending bond
        cancel | refuse: unspecified, stop, close, fail: cancelled -> idle, pending bond
        forgotten | stop, close, stop, end link, fail: forgotten -> ended
        link lost | stop, stop, close, fail: link lost -> ended
        impostor for more, given
        now | pairing, pending bond, #3
        wanted, wanted more, pair | -> pairing, pending bond, #3, #9
        request, wish | refuse: unspecified, stop, close, #3 unspecified, fail: unspecified -> idle, pending bond
        refusal | stop, close, #3 peer: busy, fail: peer: busy -> idle, pending bond
        rubbish | refuse: unsupported, stop, close, #3 unsupported, fail: unsupported -> idle, pending bond
        yes | close, send Pairing Response, start -> pairing, pending bond, #3
        no | refuse: unspecified, stop, close, #3 person refused, fail: person refused -> idle, pending bond
        on, refreshed | stop, close, changed, send Security Request, start -> waits for the central, encrypted, proven, #3
        off | changed, refuse: unspecified, stop, close, #3 unspecified, fail: unspecified -> idle
        no key, no answer, failed | -> pairing, #3
        timeout | close, #3 timed out, fail: timed out -> idle, dead, pending bond
        cancel | refuse: unspecified, stop, close, #3 cancelled, fail: cancelled -> idle, pending bond
        forgotten | stop, close, stop, end link, #3 forgotten, fail: forgotten -> ended
        link lost | stop, stop, close, #3 link lost, fail: link lost -> ended
        agreed
        now | pairing, pending
        wanted, wanted more, pair | -> pairing, pending, #9
        request, wish | refuse: unspecified, stop, close, fail: unspecified -> idle, pending
        refusal | stop, close, fail: peer: busy -> idle, pending
        rubbish | refuse: unsupported, stop, close, fail: unsupported -> idle, pending
        on, refreshed | changed, start, send key, send address -> pairing, encrypted, tentative
        off | changed, refuse: unspecified, stop, close, fail: unspecified -> idle
        no key, no answer, failed | stop, close, fail: not encrypted -> idle
        timeout | close, fail: timed out -> idle, dead, pending
        cancel | refuse: unspecified, stop, close, fail: cancelled -> idle, pending
        forgotten | stop, close, stop, end link, fail: forgotten -> ended
        link lost | stop, stop, close, fail: link lost -> ended
        tentative / tentative again
        now | pairing, encrypted, tentative
        wanted | #9 done -> pairing, encrypted, tentative
        wanted more, pair | -> pairing, encrypted, tentative, #9
        request, wish | start, refuse: unspecified, stop, close, stop, end link, fail: unspecified -> ended
        refusal | stop, close, stop, end link, fail: peer: busy -> ended
        rubbish | refuse: unsupported, stop, close, stop, end link, fail: unsupported -> ended
        off | changed, refuse: unspecified, stop, close, fail: unspecified -> idle
        timeout | close, stop, end link, fail: timed out -> ended, dead
        cancel | refuse: unspecified, stop, close, stop, end link, fail: cancelled -> ended
        forgotten | stop, close, stop, end link, fail: forgotten -> ended
        link lost | stop, stop, close, fail: link lost -> ended
        storing
        now | storing, encrypted, tentative
        wanted | #9 done -> storing, encrypted, tentative
        wanted more, pair | -> storing, encrypted, tentative, #9
        request | may we -> storing, and pairing, encrypted, tentative
        off | changed -> storing
        kept | -> idle, encrypted, proven
        not kept | refuse: rejected, stop, end link, fail: keys refused -> ended
        forgotten | stop, end link, fail: forgotten -> ended
        link lost | stop, fail: link lost -> ended
        secured
        now | idle, encrypted, proven
        wanted | #9 done -> idle, encrypted, proven
        wanted more, pair | send Security Request, start -> waits for the central, encrypted, proven, #9
        request | may we -> pairing, encrypted, proven
        off | changed -> idle
        forgotten | stop, end link, fail: forgotten -> ended
        link lost | stop -> ended
        secured for the link
        now | idle, encrypted, proven, link keys
        wanted | #9 done -> idle, encrypted, proven, link keys
        wanted more, pair | send Security Request, start -> waits for the central, encrypted, proven, link keys, #9
        request | may we -> pairing, encrypted, proven, link keys
        off | changed -> idle, link keys
        forgotten | stop, end link, fail: forgotten -> ended
        link lost | stop -> ended
        dead
        now | idle, dead
        wanted, wanted more, pair | #9 timed out, fail: timed out -> idle, dead
        off | changed -> idle, dead
        forgotten | stop, end link, fail: forgotten -> ended, dead
        link lost | stop -> ended, dead
        ended
        now | ended
        wanted, wanted more, pair | #9 link lost -> ended
        """
}
