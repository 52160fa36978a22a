//! Rare states of the fabric: bins that count how often a run has been in each.
//!
//! A fault that shows in one of these states only is found by no run that never gets there. So the blocks of the model,
//! which equal the Verilog in every cycle, count them; those of the front of a device, which has no model, are counted by
//! its bench. Random runs print the counts, and soak steers its seeds to what is still empty.

/// Makes the bins of blocks: each has a name and a sentence.
macro_rules! rare {
    ($($block:literal: { $($bin:ident $name:literal $says:literal)* })*) => {
        /// A rare state of a block.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rare {
            $($(#[doc = $says] $bin,)*)*
        }

        /// All bins, block by block.
        pub const RARE: &[Rare] = &[$($(Rare::$bin,)*)*];

        impl Rare {
            /// Block that can be in this state.
            #[must_use]
            pub fn block(self) -> &'static str {
                match self { $($(Rare::$bin)|* => $block,)* }
            }

            /// Name of the bin.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $($(Rare::$bin => $name,)*)* }
            }

            /// The state in a sentence.
            #[must_use]
            pub fn says(self) -> &'static str {
                match self { $($(Rare::$bin => $says,)*)* }
            }
        }
    };
}

rare! {
    "request_table": {
        JoinAt1 "join_at_1" "A fetch joins a request one cycle after it was opened."
        JoinAt2 "join_at_2" "A fetch joins a request two cycles after it was opened."
        JoinAt3 "join_at_3" "A fetch joins a request three cycles after it was opened."
        JoinAt4 "join_at_4" "A fetch joins a request four cycles after it was opened."
        JoinAt5 "join_at_5" "A fetch joins a request five cycles after it was opened."
        JoinAt6 "join_at_6" "A fetch joins a request six cycles after it was opened."
        JoinAt7 "join_at_7" "A fetch joins a request seven cycles after it was opened."
        JoinLater "join_later" "A fetch joins a request eight cycles after it was opened, or later."
        JoinLast "join_last" "A fetch joins a request at the end of its window, or while the window is held open."
        JoinClosed "join_closed" "The window closes between the comparison of a fetch and its joining."
        WindowHeld "window_held" "A window could end, and is held open since the home is busy."
        TableFull "table_full" "A fetch waits since all entries of the table are open."
        RepeatJoins "repeat_joins" "A repeated fetch joins an open request."
        RepeatWaits "repeat_waits" "A request with a repeated fetch waits for older ones of its range."
        EachACopy "each_a_copy" "Without multicast, a range is sent again for the next of its requesters."
    }
    "duplicate_filter": {
        RepeatTrimmed "repeat_trimmed" "A chunk of a repeated fetch was sent to some of its tiles already."
        RepeatDropped "repeat_dropped" "A chunk of a repeated fetch was sent to all of its tiles already."
        RepeatPassed "repeat_passed" "A chunk of a repeated fetch is sent: nothing remembers that it was."
        FalsePositive "false_positive" "The Bloom filter has a chunk that no exact tag has."
        TagsFull "tags_full" "No tag is free for a chunk that is sent."
        TagsExpire "tags_expire" "Tags expire at the end of a refresh period."
    }
    "fetch_miss_queue": {
        Parked "parked" "A fetch is parked: its slice is not resident."
        RepeatForgotten "repeat_forgotten" "A repeated fetch of a slice that is not resident is dropped."
        SweepFinds "sweep_finds" "A sweep finds the slice of a parked fetch."
        SweepKeeps "sweep_keeps" "A sweep finds a fetch whose slice is still not resident."
        QueueFull "queue_full" "The queue of misses takes no more fetches."
    }
    "staging_directory": {
        LateAsker "late_asker" "A slot that was to be freed is busy again: a fetch had found it."
        AskerOnItsWay "asker_on_its_way" "A slot that is to be freed waits for fetches that may have found it."
        NextOfName "next_of_name" "A first fetch finds the spent slice of its name, and waits for the next one."
    }
    "home_agent": {
        ReadYields "read_yields" "A flit is not read since part of a flit is written."
        AheadOfMemory "ahead_of_memory" "A chunk that is due waits for memory."
    }
    "requester": {
        Joins "joins" "A head joins a range in progress."
        JoinTooLate "join_too_late" "A head does not join a range since its first flit arrives in this cycle."
        Generation1 "generation_1" "A range is fetched again while a home may remember sending it: generation 1."
        Generation2 "generation_2" "The same with generation 2."
        Generation3 "generation_3" "The same with generation 3, the last."
        GenerationsUsed "generations_used" "A range waits: all of its generations may be remembered."
        HistoryFull "history_full" "A range waits: the ring of completed ones has no room."
        SlotsBusy "slots_busy" "A range waits: all slots are in progress."
        FifoShort "fifo_short" "A range waits: the FIFO to the array has less room than it needs."
        FifoFull "fifo_full" "Every place of the FIFO to the array is reserved."
        Retried "retried" "A fetch is repeated after its time-out."
        LateFlit "late_flit" "A flit arrives while a repeat of its fetch is due."
        DuplicateOver "duplicate_over" "A flit arrives of a range that is complete."
        DuplicateBehind "duplicate_behind" "A flit arrives again of a range that is in progress."
        FlitAhead "flit_ahead" "A flit arrives ahead of one that its range awaits."
    }
    "filler": {
        FillsFull "fills_full" "The queue of slices to be read is full."
        SlotAwaited "slot_awaited" "A slice waits for a slot of the staging memory."
        NameAwaited "name_awaited" "A slice waits since another of its name has a slot."
        BurstsUsed "bursts_used" "A burst waits: all IDs are in flight."
        PortAwaited "port_awaited" "A burst waits for room at the memory port."
        BurstsOvertake "bursts_overtake" "A burst of a slice ends before one that was requested earlier."
        TokenAwaited "token_awaited" "A slice waits since the last new token is not written."
        MemoryFailed "memory_failed" "Memory reports an error."
        MemorySilent "memory_silent" "Memory does not answer in time."
    }
    "memory_port": {
        RequestsFull "requests_full" "The queue of a tile is full."
        TilesCompete "tiles_compete" "Several tiles of a port request bursts."
    }
    "tile": {
        AsksFull "asks_full" "The prefetcher's queue is full."
        JobsKept "jobs_kept" "A job is kept while queries come."
        WordWaits "word_waits" "A word of the bus waits for room in a tile."
    }
    "column_controller": {
        DescriptorsFull "descriptors_full" "The queue of descriptors is full."
        BusFull "bus_full" "A word waits for a credit of the bus."
        RowsFull "rows_full" "Slices are told while queries come, as many as tiles keep."
        BarrierWaits "barrier_waits" "A column waits for others at the end of a step."
    }
    "device": {
        Access "access" "A register that is not there is accessed."
        StartBusy "start_busy" "A run is started during a run."
        Select "select" "A counter that is not there is selected."
        DescLayer "desc_layer" "A descriptor has no such layer."
        DescPrefix "desc_prefix" "A descriptor has no such cache."
        DescSegments "desc_segments" "A descriptor has no segments."
        DescRows "desc_rows" "A descriptor has a token beyond its segment."
        DescStreams "desc_streams" "A descriptor has no streams."
        DescMapping "desc_mapping" "A descriptor has no such mapping."
        DescMixed "desc_mixed" "A descriptor has another layer than the first of its run."
        DescClosed "desc_closed" "A descriptor has a stream that an earlier one has closed."
        DescFull "desc_full" "The queue of descriptors is full."
        DescAppend "desc_append" "A descriptor appends where it must not."
        StartEmpty "start_empty" "A run has no descriptor."
        StartOpen "start_open" "A run does not close a stream."
        StartQueries "start_queries" "A run has queries of more streams than there are."
        StartUnloaded "start_unloaded" "A run has a stream whose queries were not loaded."
        StartList "start_list" "A list has a descriptor that is refused."
        StartTokens "start_tokens" "A run has tokens of more caches than there are."
        Argument "argument" "An argument is misaligned."
        MemoryError "memory" "A read of external memory is answered by an error."
        MemoryTimeout "memory_timeout" "A read of external memory is not answered."
        MemoryBesideQueries "memory_beside_queries" "External memory fails while queries are read."
        MemoryBesideOutputs "memory_beside_outputs" "External memory fails when outputs have been written."
        QueryRead "query_read_0" "A read of queries is answered by an error."
        TokenRead "query_read_1" "A read of new tokens is answered by an error."
        ListRead "list_read" "A read of the list is answered by an error."
        OutputWrite "output_write" "A write of outputs is answered by an error."
        TokenWrite "token_write" "A write of a new token is answered by an error."
        ReadSilent "io_timeout_0" "A read of queries is not answered."
        WriteSilent "io_timeout_1" "A write of outputs is not answered."
        ListSilent "io_timeout_2" "A read of the list is not answered."
        TokenSilent "io_timeout_3" "A read of new tokens is not answered."
        TokenTimeout "token_timeout" "A write of a new token is not answered."
        Watchdog "watchdog" "Nothing moves for as long as the watchdog waits."
        SoftReset "reset_0" "A soft reset cuts off a run."
        ComputeReset "reset_2" "What computes is reset alone during a run."
        OddFirstRow "odd_first_row" "The first token of a descriptor is an odd one of its segment."
        ListOfBursts "list_of_bursts" "A list is longer than a burst."
    }
    "swap_unit": {
        Swapped "swapped" "Two homes exchange their places."
        SwappedAgain "swapped_again" "A place of the last exchange is in the next one as well."
        SwappedBack "swapped_back" "Two homes exchange their places back."
        NotSwapped "not_swapped" "The loads are even, and no homes are exchanged."
    }
}

/// How often each rare state was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached([u64; RARE.len()]);

impl Default for Reached {
    fn default() -> Reached {
        Reached([0; RARE.len()])
    }
}

impl Reached {
    /// Counts a state.
    pub fn count(&mut self, rare: Rare) {
        self.0[rare as usize] += 1;
    }

    /// Counts a state if the block is in it.
    pub fn count_if(&mut self, is: bool, rare: Rare) {
        self.0[rare as usize] += u64::from(is);
    }

    /// Adds what another run, or part of this one, has reached.
    pub fn add(&mut self, other: &Reached) {
        self.0.iter_mut().zip(other.0).for_each(|(all, count)| *all += count);
    }

    /// Times that a state was reached.
    #[must_use]
    pub fn of(&self, rare: Rare) -> u64 {
        self.0[rare as usize]
    }

    /// All bins with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (Rare, u64)> + '_ {
        RARE.iter().map(|&rare| (rare, self.of(rare)))
    }

    /// Bins without a count.
    #[must_use]
    pub fn empty(&self) -> Vec<Rare> {
        self.iter().filter(|(_, count)| *count == 0).map(|(rare, _)| rare).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_bin_has_a_place_and_a_name_of_its_own() {
        for (at, rare) in RARE.iter().enumerate() {
            assert_eq!(*rare as usize, at);
            assert!(rare.says().ends_with('.') && !rare.block().is_empty());
        }
        let names: BTreeSet<_> = RARE.iter().map(|rare| rare.name()).collect();
        assert_eq!(names.len(), RARE.len());
    }

    #[test]
    fn counts_of_parts_add_up() {
        let (mut all, mut part) = (Reached::default(), Reached::default());
        part.count(Rare::TableFull);
        part.count_if(false, Rare::Parked);
        all.add(&part);
        all.add(&part);
        assert_eq!((all.of(Rare::TableFull), all.of(Rare::Parked)), (2, 0));
        assert_eq!(all.empty().len(), RARE.len() - 1);
    }
}
