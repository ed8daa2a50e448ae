//! Load that a stream of frames puts on a link, headers included, and the load up to which no frame is late:
//! §6.1.

/// How frames are cut into messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameLayout {
    /// `M`: flits of a message, header included.
    pub message_flits: f64,
    /// Header flits of each message.
    pub header_flits: f64,
}

impl FrameLayout {
    /// `M` less the header: flits of a frame that a message carries.
    pub fn payload_flits(&self) -> f64 {
        self.message_flits - self.header_flits
    }

    /// `h`: flits on a link for each flit of the stream's nominal rate; above 1, since every message has a header.
    /// `frame_flits` and `messages` are means of a frame, `nominal_flits` is what the nominal rate brings in an
    /// interval.
    ///
    /// ```
    /// use flitwise_models::mediaworm::FrameLayout;
    ///
    /// let framing = FrameLayout { message_flits: 20.0, header_flits: 1.0 };
    /// let messages = 4166.5 / framing.payload_flits() + 0.5;
    /// // 4 Mbps over 33 ms in flits of 32 bits
    /// assert_eq!(format!("{:.4}", framing.overhead(4166.5, messages, 4125.0)), "1.0633");
    /// ```
    pub fn overhead(&self, frame_flits: f64, messages: f64, nominal_flits: f64) -> f64 {
        // h = (E F + E N) flit_bits / (T stream rate)
        (frame_flits + self.header_flits * messages) / nominal_flits
    }
}

/// Largest nominal real-time load at which a link carries every flit in time, `1 / h`; proven as an upper bound: beyond
/// it the link is offered more than it carries.
pub fn jitter_free_bound(overhead: f64) -> f64 {
    1.0 / overhead
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mediaworm::assert_near;

    #[test]
    fn headers_take_what_the_chapter_says() {
        for (message_flits, overhead) in [(20.0, 1.0633), (40.0, 1.0361), (10.0, 1.1224), (5.0, 1.2627)] {
            let framing = FrameLayout { message_flits, header_flits: 1.0 };
            let messages = 4166.5 / framing.payload_flits() + 0.5;
            assert_near(framing.overhead(4166.5, messages, 4125.0), overhead, 5e-5);
        }
        assert_near(jitter_free_bound(1.0633), 0.940, 1e-3);
    }
}
