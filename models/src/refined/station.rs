//! One class at one router: the queues that its headers meet on the way to an output link.
//!
//! Messages for an output come over all inputs. Their headers queue for the output's virtual channel, which one
//! message holds from its grant until its tail has crossed; the flits behind queue for the link, which other real-time
//! classes share as they come and go ([`SharedQueue`]), as long as nothing further on holds it up. Where the output
//! buffer is full the tail cannot cross ([`Station::until_room`]). How the tail passes is told in `passage`.
//! All times are in cells of the lattice, all rates per cell.

mod back_pressure;
mod passage;

use std::rc::Rc;

use super::ablation::{Step, without};
use super::grid::{Grid, Transform, is_spent, product};
use super::in_buffer::InBuffer;
use super::interruptions::Interruptions;
use super::law::Law;
use super::queue::{Queue, Time};
use super::shared_queue::{OnLattice, Services, SharedQueue, SharingChain};

/// The environment of a class on an output link: delays by other classes, and the share of its traffic that contends.
#[derive(Clone)]
pub(super) struct LinkEnvironment {
    /// The other real-time classes while the class keeps the link busy; none where they are strictly higher.
    pub(super) company: Option<SharingChain>,
    /// `f`: share of the class's own messages for the output that come over other inputs.
    pub(super) contending: f64,
    /// `K` while the message is in step with its arrival: its own input brings nothing else.
    pub(super) in_step: Interruptions,
    /// `K` while it lags behind.
    pub(super) lagging: Interruptions,
    /// `v`: what a message waits for that finds none of its class.
    pub(super) set_up: Law,
    /// Delay of the tail of such a message by what it finds or what comes, where the two exclude each other.
    pub(super) alone: Option<Transform>,
    /// `v_l`: what it waits for behind another of its class, where the link is not a [`SharedQueue`].
    pub(super) left_behind: Law,
    /// What has come on the link while the message was kept from it by a gap, by the flits already sent.
    pub(super) fresh: Vec<Law>,
    /// `h`: probability that others hold the link.
    pub(super) seen: f64,
}

/// Shape of a message and of the router, in cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// `M`
    pub(super) message: f64,
    /// `b`
    pub(super) buffer: f64,
    /// Cycles by which a header takes longer through a router than a body flit, `P - 3`.
    pub(super) header: f64,
    /// Cycle in which a crossbar output idles between two messages; none where arbitration is not a stage.
    pub(super) idle: f64,
    /// Cycles of credit between a slot that is freed and the flit that takes it.
    pub(super) credit: f64,
}

impl Shape {
    /// Whether a message is longer than a buffer.
    pub(super) fn is_short(&self) -> bool {
        self.buffer < self.message
    }

    /// Flits of a message that its buffer does not hold.
    pub(super) fn rest(&self) -> f64 {
        (self.message - self.buffer).max(0.0)
    }
}

/// The gaps inside the messages that arrive: of those that found their interface free (0) and of others (1).
pub(super) struct ArrivalGaps {
    /// `G_0`, `G_1`: over the whole message.
    pub(super) gaps: [Law; 2],
    /// `(G_r - b)+`: over the flits that the buffer does not hold, as far as a full buffer does not hide them.
    pub(super) held: [Law; 2],
    /// Waits in the buffer of messages that found their interface idle, and busy.
    pub(super) in_buffer: InBuffer,
    /// Whether gaps are few and long, so that one counts wherever in the message it is looked for.
    pub(super) bursty: bool,
}

/// A class at an output.
pub(super) struct Station<'s> {
    grid: &'s Grid,
    shape: Shape,
    environment: &'s LinkEnvironment,
    /// Rate of the class's messages that contend for the output.
    pub(super) rate: f64,
    /// Messages that can be ahead at the crossbar: one over each other input.
    ahead: f64,
    /// Other inputs, infinitely many where `ahead` tells enough.
    inputs: f64,
    /// The others while the class keeps the link busy; none for higher classes.
    company: Option<OnLattice>,
    /// How much longer a message holds the virtual channel because links further on hold it up.
    held_up: &'s Law,
    /// Whether they block its link, too: an ejection link is never blocked.
    link_is_held: bool,
    /// `i`: the idle cycle, as far as it is seen.
    idle: Law,
    /// `C * i`: flits with what interrupts them, and the idle cycle.
    service: Time,
    set_up: Time,
    left_behind: Time,
    /// `K^(M / 2)` and `K^(M - b)`: what interrupts half of a message, and what its buffer does not hold.
    half_way: Law,
    interrupted_rest: Law,
    /// `v * K^(M / 2)`: by which time half of a message has gone that found none of its class.
    behind_set_up: Law,
    /// Flits of a step on the way through what is ahead, and the transform of their completion.
    step: f64,
    step_completion: Transform,
}

/// Waits at a station, from which the next round starts.
#[derive(Clone)]
pub(super) struct Waits {
    /// `w`: for the virtual channel.
    pub(super) grant: Law,
    /// `V`: for the link.
    pub(super) link: Law,
}

/// Delays of a class at an output, after a round.
pub(super) struct OutputDelays {
    pub(super) waits: Waits,
    /// `x`: how much longer than a lone one the tail takes to cross.
    pub(super) blocked: Law,
    /// The part of it before the grant.
    pub(super) granted: Law,
    /// Wait for the link behind the own class only.
    pub(super) own: Law,
    /// The queue at the link, where others share it.
    pub(super) shared: Option<Rc<SharedQueue>>,
}

/// Services of messages that find none of their class at an output: they depend on how messages arrive, not on waits.
pub(super) struct FirstServices<'s> {
    /// `F = M + 1 + hole(0)`
    channel: Time,
    /// `F = C + i + hole(v) + v`
    link: FirstOnLink<'s>,
}

/// The same for the link: a law where others share it, else a time for which links further on may stall it.
enum FirstOnLink<'s> {
    Shared(&'s OnLattice, Law),
    Alone(Time),
}

/// Both queues of a round, before the tail is looked at.
pub(super) struct BothQueues<'s> {
    pub(super) waits: Waits,
    link: LinkQueue<'s>,
}

/// The queue for the link.
enum LinkQueue<'s> {
    /// Others share it.
    Shared(SharedQueue),
    /// With the time that a later message holds the link.
    Alone(Queue<'s>, Time),
}

impl LinkQueue<'_> {
    /// `V'`: the part of the wait behind the own class.
    fn own(&self, grid: &Grid) -> Law {
        match self {
            Self::Shared(queue) => queue.work(grid),
            Self::Alone(queue, _) => queue.work(grid),
        }
    }

    /// Wait, flits and what interrupts them.
    fn sojourn(&self, grid: &Grid) -> Law {
        match self {
            Self::Shared(queue) => queue.sojourn(grid),
            Self::Alone(queue, held) => grid.law(product(&queue.wait_transform(), &held.transform)),
        }
    }
}

/// A load of one or more: no steady state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Overload {
    pub(super) load: f64,
    pub(super) place: Place,
}

/// Where a class saturates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The interface and the input channel behind it.
    Source,
    /// The virtual channel of an output.
    Crossbar,
    /// The link itself.
    Link,
    /// A network channel.
    Channel,
    /// An ejection link, where there are several routers.
    Ejection,
}

/// Steps in which a message ahead is looked at.
const STEPS_OF_A_MESSAGE: f64 = 8.0;

impl<'s> Station<'s> {
    pub(super) fn new(
        grid: &'s Grid,
        shape: Shape,
        environment: &'s LinkEnvironment,
        rate: f64,
        ahead: f64,
        held_up: &'s Law,
    ) -> Self {
        let m = shape.message;
        let compound = |flits: f64| environment.lagging.over(grid, flits);
        let interruptions = |flits: f64| if flits > 0.0 { grid.law(compound(flits)) } else { Law::zero() };
        let completion = |flits: f64| product(&grid.delay(flits), &compound(flits));
        let half_way = grid.law(compound(m / 2.0));
        let whole = completion(m);
        let idle = Law::constant(shape.idle).sometimes(1.0 - environment.seen);
        let step = (m / STEPS_OF_A_MESSAGE).ceil().max(1.0);
        Self {
            grid,
            shape,
            environment,
            rate,
            ahead,
            inputs: f64::INFINITY,
            company: environment.company.map(|company| OnLattice::new(grid, company, m)),
            held_up,
            service: Time::of(grid, &grid.sum(&grid.law(whole), &idle)),
            idle,
            set_up: Time::of(grid, &environment.set_up),
            left_behind: Time::of(grid, &environment.left_behind),
            behind_set_up: grid.sum(&environment.set_up, &half_way),
            half_way,
            link_is_held: true,
            interrupted_rest: interruptions(shape.rest()),
            step,
            step_completion: completion(step),
        }
    }

    /// The same with so many other inputs.
    pub(super) fn with_other_inputs(self, inputs: f64) -> Self {
        Self { inputs, ..self }
    }

    /// The same with a link that nothing further on holds up.
    pub(super) fn with_free_link(self) -> Self {
        Self { link_is_held: false, ..self }
    }

    /// The waits before anything is known of them.
    pub(super) fn start(&self) -> Waits {
        Waits { grant: Law::zero(), link: self.environment.set_up.clone() }
    }

    /// `hole(y)`: how much longer than its flits a message occupies a place that it reaches `y` late.
    ///
    /// A gap inside the message is hidden by its lag and by the header's longer way. On a link a gap that the own
    /// input's other messages for the same output make is hidden by nothing, if there is a lag at all: they pass
    /// the link instead.
    fn hole(&self, arriving: &ArrivalGaps, y: &Law, on_link: bool) -> Law {
        let Self { grid, shape, environment, .. } = self;
        let hole = |lag: &Law, i: usize| {
            let gap = &arriving.gaps[i];
            let hidden = grid.excess(gap, &lag.plus(shape.header));
            let bare = if on_link && !without(Step::BareGaps) {
                (1.0 - environment.contending) * lag.positive()
            } else {
                0.0
            };
            let mut hole =
                if bare > 1e-12 { Law::mixture(&[(1.0 - bare, &hidden), (bare, gap)]) } else { hidden };
            if shape.is_short() {
                let held = &arriving.held[i];
                hole = if arriving.bursty { hole.max_in_step(held) } else { hole.max(held) };
            }
            hole
        };
        let InBuffer { idle: free, waits } = &arriving.in_buffer;
        let of =
            |i: usize| if waits[i].positive() > 0.0 { hole(&grid.sum(&waits[i], y), i) } else { hole(y, i) };
        if *free > 1.0 - 1e-12 {
            return of(0);
        }
        Law::mixture(&[(*free, &of(0)), (1.0 - free, &of(1))])
    }

    /// One round: the two queues and the back-pressure.
    pub(super) fn round(&self, arriving: &ArrivalGaps, now: &Waits) -> Result<OutputDelays, Overload> {
        let queues = self.queues(arriving, &self.first_services(arriving), now)?;
        Ok(self.back_pressure(queues))
    }

    /// The two queues.
    pub(super) fn queues(
        &self,
        arriving: &ArrivalGaps,
        first: &FirstServices<'_>,
        now: &Waits,
    ) -> Result<BothQueues<'_>, Overload> {
        // what gives up says so by the work done, whatever the load
        if is_spent() {
            return Err(Overload { load: f64::INFINITY, place: Place::Link });
        }
        let grant = self.virtual_channel(arriving, &first.channel, now)?;
        let (wait, link) = self.link(arriving, &first.link, now)?;
        Ok(BothQueues { waits: Waits { grant, link: wait }, link })
    }

    /// How the tail crosses behind the two queues.
    pub(super) fn back_pressure(&self, queues: BothQueues<'_>) -> OutputDelays {
        let Self { grid, shape, .. } = self;
        let (m, b) = (shape.message, shape.buffer);
        let BothQueues { waits: Waits { grant, link }, link: queue } = queues;
        let (own, sojourn) = (queue.own(grid), queue.sojourn(grid));
        // back-pressure on the header (max-plus): where the buffer is full, the greater of both, of the longest waits
        // for the virtual channel and of the time until room: both are long when much is ahead
        let full = self.until_room(&sojourn, b);
        let (room, full) = (1.0 - full.positive(), full.given_positive());
        let (short, long) = grant.at_quantile(room);
        let in_step = Law::mixture(&[(room, &short), (1.0 - room, &long.max_in_step(&full))]);
        // what interrupts best effort on the link does not stop the crossbar: the part of its wait that is named
        // arbitration takes both as independent (our approximation)
        let granted = if self.environment.alone.is_none() {
            Law::mixture(&[(room, &short), (1.0 - room, &long.max(&full))])
        } else {
            in_step.clone()
        };
        // the tail crosses when the flit b places ahead has left: one of its own message, (V + K^(M - b) - b)+, or one
        // of a message before it, (V' - M - (b - M) C / M)+
        let behind = if shape.is_short() {
            grid.sum(&link, &self.interrupted_rest).less(b)
        } else {
            // by the work found where the buffer holds one message; where it holds more, V' is mostly time in which
            // others hold the link, and flits decide (our approximation)
            if b < 2.0 * m || without(Step::FlitsAhead) {
                own.less(m + (b - m) * self.service.mean / m)
            } else {
                self.until_room(&sojourn, b - m).less(m)
            }
        };
        let blocked = in_step.max_in_step(&behind);
        let shared = match queue {
            LinkQueue::Shared(queue) => Some(Rc::new(queue)),
            LinkQueue::Alone(..) => None,
        };
        OutputDelays { waits: Waits { grant, link }, blocked, granted, own, shared }
    }

    /// Time for which a message without gaps holds the virtual channel.
    fn holding_time(&self) -> f64 {
        self.shape.message + self.shape.idle
    }

    /// `law`, in bursts no more than once per input: a message that is blocked for long blocks its input, so that of
    /// each input one message waits.
    fn once_per_input(&self, arriving: &ArrivalGaps, law: Law) -> Law {
        if arriving.bursty && !without(Step::OncePerInput) {
            law.met_once(self.rate / self.inputs, self.holding_time())
        } else {
            law
        }
    }

    /// A service that lasts at least as long as links further on hold it up.
    fn stalled_service(&self, arriving: &ArrivalGaps, law: Law, least: &Law) -> Time {
        let law = if self.held_up.positive() > 0.0 { law.max_in_step(least) } else { law };
        Time::of(self.grid, &self.once_per_input(arriving, law))
    }

    /// What does not depend on waits at the output.
    pub(super) fn first_services(&self, arriving: &ArrivalGaps) -> FirstServices<'_> {
        let Self { grid, environment, held_up, .. } = self;
        let held = self.holding_time();
        let stalled = held_up.plus(held);
        let channel = self.hole(arriving, &Law::zero(), false).plus(held);
        let hole = Time::of(grid, &self.hole(arriving, &self.behind_set_up, true));
        let time = self.service.and(&hole).and(&self.set_up);
        let link = if let Some(company) = self.company(arriving) {
            FirstOnLink::Shared(company, grid.law(time.transform))
        } else if self.link_stalls() {
            let least = grid.sum(&stalled, &environment.set_up);
            FirstOnLink::Alone(self.stalled_service(arriving, grid.law(time.transform), &least))
        } else if arriving.bursty {
            let law = self.once_per_input(arriving, grid.law(time.transform));
            FirstOnLink::Alone(Time::of(grid, &law))
        } else {
            FirstOnLink::Alone(time)
        };
        FirstServices { channel: self.stalled_service(arriving, channel, &stalled), link }
    }

    /// Whether links further on block the link.
    fn link_stalls(&self) -> bool {
        self.link_is_held && self.held_up.positive() > 0.0
    }

    /// The others, where they share the link with the class.
    fn company(&self, arriving: &ArrivalGaps) -> Option<&OnLattice> {
        self.company.as_ref().filter(|_| !self.link_stalls() && !arriving.bursty)
    }

    /// Wait for the virtual channel: `B = M + 1 + hole(w | w > 0)`, first services `F`.
    fn virtual_channel(&self, arriving: &ArrivalGaps, first: &Time, now: &Waits) -> Result<Law, Overload> {
        let Self { grid, rate, ahead, .. } = self;
        let held = self.holding_time();
        let later = self.hole(arriving, &now.grant.given_positive(), false).plus(held);
        let later = self.stalled_service(arriving, later, &self.held_up.plus(held));
        let grant = Queue::new(grid, *rate, &later, first, &Time::of(grid, &Law::zero()))
            .ok_or(Overload { load: rate * later.mean, place: Place::Crossbar })?
            .wait(grid);
        let longest = ahead * later.mean;
        Ok(if longest < grid.cells() as f64 { grant.min(&Law::constant(longest)) } else { grant })
    }

    /// Wait for the link and its queue: `B = C + i + hole(V | V > 0) + v_l`, first services `F`, set-up `v`.
    fn link(
        &self,
        arriving: &ArrivalGaps,
        first: &FirstOnLink<'_>,
        now: &Waits,
    ) -> Result<(Law, LinkQueue<'_>), Overload> {
        let Self { grid, rate, held_up, .. } = self;
        let over = |load| Overload { load, place: Place::Link };
        // what came before a gap, on average in half of the message, hides it too
        let behind_wait = grid.sum(&now.link.given_positive(), &self.half_way);
        let hole = self.hole(arriving, &behind_wait, true);
        let first = match first {
            FirstOnLink::Shared(company, first) => {
                let services = Services { company, on_top: &grid.sum(&hole, &self.idle), first };
                let queue = SharedQueue::new(grid, *rate, &services)
                    .ok_or_else(|| over(rate * services.long_run()))?;
                return Ok((queue.wait(grid, &self.set_up), LinkQueue::Shared(queue)));
            }
            FirstOnLink::Alone(first) => first,
        };
        let held = self.service.and(&Time::of(grid, &hole));
        let later = held.and(&self.left_behind);
        let later = if self.link_stalls() {
            let stalled = held_up.plus(self.holding_time());
            self.stalled_service(arriving, grid.law(later.transform), &stalled)
        } else if arriving.bursty {
            Time::of(grid, &self.once_per_input(arriving, grid.law(later.transform)))
        } else {
            later
        };
        let queue =
            Queue::new(grid, *rate, &later, first, &self.set_up).ok_or_else(|| over(rate * later.mean))?;
        Ok((queue.wait(grid), LinkQueue::Alone(queue, held)))
    }
}
