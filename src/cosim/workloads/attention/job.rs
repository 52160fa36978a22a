//! An attention job: queries of one position and the next ones, over tokens of one layer. Streams share all
//! tokens, or each has a cache of its own, after a prefix that they may share.

use super::error::{fitting, lengths_fit, JobError};
use super::own::{self, Own};
use crate::config::KvFormat;
use crate::cosim::hash::mix;
use crate::cosim::memory::{Image, Shape};
use crate::cosim::workloads::decode::step;
use crate::cosim::workloads::decode::{Workload, WorkloadError};
use crate::design::{Descriptor, Design, Mapping, Sharing};
use crate::model::datapath::numbers::{element, fp16};
use crate::model::datapath::tensors::Tensors;
use crate::model::datapath::{HeadScales, Sink};
use half::f16;
use std::ops::Range;

/// Contents of memory where a new token is not written yet: 64 bits.
const BLANK: u64 = 0xa5a5_a5a5_a5a5_a5a5;

/// Attention of some query positions of a layer's tensors on a design.
#[derive(Debug, Clone)]
pub struct Job<'a> {
    /// The design that runs it.
    pub design: &'a Design,
    /// Queries, keys, values.
    pub tensors: &'a Tensors,
    /// The first query position; stream b has position + b.
    pub position: usize,
    /// Streams.
    pub streams: u32,
    /// Each stream's own cache; none if all streams share all tokens of the tensors.
    pub own: Option<Vec<Own>>,
    /// Tokens, in whole segments, that streams with own caches have in common: they are in cache 0.
    pub prefix: u32,
    /// Attended tokens of streams that share all: the last of them if the model has a sliding window.
    pub rows: Range<u32>,
    /// Assignment of heads to tiles: a descriptor each, with an equal part of the segments.
    pub mappings: Vec<Mapping>,
    /// Receivers of a slice.
    pub sharing: Sharing,
    /// Roots return partial results, l, m and o in FP32, instead of outputs.
    pub partials: bool,
}

impl<'a> Job<'a> {
    /// Attention of `streams` queries from `position` on.
    ///
    /// # Errors
    /// If tensors and design do not fit.
    pub fn new(
        design: &'a Design,
        tensors: &'a Tensors,
        (position, streams): (usize, u32),
        mapping: Mapping,
        sharing: Sharing,
    ) -> Result<Job<'a>, JobError> {
        fitting(design, tensors, (position, streams))?;
        let (mappings, tokens) = (vec![mapping], tensors.tokens as u32);
        let rows = tokens - design.model.kind().attended(tokens)..tokens;
        let (own, prefix, partials) = (None, 0, false);
        let job = Job { design, tensors, position, streams, own, prefix, rows, mappings, sharing, partials };
        job.descriptors()?;
        Ok(job)
    }

    /// Attention of a query for each of `lengths`, from `position` on. Stream b has a cache of its own with the
    /// next `lengths[b]` tokens of the tensors.
    ///
    /// # Errors
    /// If tensors and design do not fit, or a stream has too many tokens or none.
    pub fn ragged(
        design: &'a Design,
        tensors: &'a Tensors,
        position: usize,
        lengths: &[u32],
        mapping: Mapping,
        sharing: Sharing,
    ) -> Result<Job<'a>, JobError> {
        let streams = lengths.len() as u32;
        lengths_fit(design, (lengths, 0))?;
        fitting(design, tensors, (position, streams))?;
        let asked = lengths.iter().copied().map(u64::from).sum();
        if asked > tensors.tokens as u64 {
            return Err(JobError::Tokens { asked, there: tensors.tokens });
        }
        let mut end = 0;
        let own = (0..).zip(lengths).map(|(cache, tokens)| {
            end += tokens;
            Own { cache, tokens: end - tokens..end, query: position + cache as usize, append: false }
        });
        let job = Job::of_caches(design, tensors, (own.collect(), 0), mapping, sharing);
        Ok(Job { position, ..job })
    }

    /// Attention of streams with these caches after a common prefix of so many tokens, in whole segments. All of it must
    /// fit: this function does not check it.
    pub(in crate::cosim) fn of_caches(
        design: &'a Design,
        tensors: &'a Tensors,
        (own, prefix): (Vec<Own>, u32),
        mapping: Mapping,
        sharing: Sharing,
    ) -> Job<'a> {
        let (rows, mappings, partials) = (0..tensors.tokens as u32, vec![mapping], false);
        let (streams, own) = (own.len() as u32, Some(own));
        Job { design, tensors, position: 0, streams, own, prefix, rows, mappings, sharing, partials }
    }

    /// The job in which the first `prefix` tokens of all streams are one prefix, which is read once from the cache of stream
    /// 0. The tensors must have the same tokens there ([`Tensors::share_prefix`]).
    ///
    /// # Errors
    /// As [`lengths_fit`].
    pub fn with_prefix(self, prefix: u32) -> Result<Job<'a>, JobError> {
        lengths_fit(self.design, (&self.lengths().unwrap_or_default(), prefix))?;
        Ok(Job { prefix, ..self })
    }

    /// The job in which the last token of each stream's own cache is new: the run brings its K and V.
    #[must_use]
    pub fn appending(mut self) -> Job<'a> {
        self.own.iter_mut().flatten().for_each(|own| own.append = true);
        self
    }

    /// Divides the segments among descriptors of these mappings, in this order.
    ///
    /// # Panics
    /// If there is none.
    pub fn mapped(self, mappings: &[Mapping]) -> Job<'a> {
        assert!(!mappings.is_empty(), "a job has a descriptor");
        Job { mappings: mappings.to_vec(), ..self }
    }

    /// The job of a card that has only these of its tokens: it returns partial results.
    ///
    /// # Panics
    /// If there are none, or the job does not have them.
    #[must_use]
    pub fn part(&self, rows: Range<u32>) -> Job<'a> {
        assert!(!rows.is_empty() && self.rows.start <= rows.start && rows.end <= self.rows.end, "{rows:?}");
        Job { rows, partials: true, ..self.clone() }
    }

    /// Divides the tokens into so many ranges, as even as they go.
    pub fn ranges(&self, parts: u32) -> Vec<Range<u32>> {
        let tokens = u64::from(self.rows.end - self.rows.start);
        let bound = |at: u32| self.rows.start + (tokens * u64::from(at) / u64::from(parts)) as u32;
        (0..parts).map(|at| bound(at)..bound(at + 1)).collect()
    }

    /// Outputs of the job: one a head and stream.
    pub fn outputs(&self) -> usize {
        (self.design.model.heads * self.streams) as usize
    }

    /// The descriptors of the step, on layer 0 of the design. The last one closes the streams.
    ///
    /// # Errors
    /// If the design cannot hold it.
    pub fn descriptors(&self) -> Result<Vec<Descriptor>, WorkloadError> {
        let load = Workload {
            tokens: self.tensors.tokens as u32,
            batch: self.streams,
            prefix: 0,
            mapping: self.mappings[0],
            sharing: self.sharing,
            segments: None,
            layers: 1,
            stride: 1,
            append: false,
        };
        let tokens = self.design.placement.segment_tokens;
        let wholes = match &self.own {
            // Streams share all whole segments; the rest is one more descriptor for all of them.
            None => {
                let made = step(self.design, &load)?.descriptors;
                let (first, last) = (self.rows.start / tokens, (self.rows.end - 1) / tokens);
                vec![Descriptor {
                    first,
                    count: last + 1 - first,
                    first_row: self.rows.start % tokens,
                    last_row: (self.rows.end - 1) % tokens,
                    streams: self.streams,
                    step: true,
                    ..made[0]
                }]
            }
            Some(own) => self.of_own(own),
        };
        Ok(wholes.iter().flat_map(|whole| divided(whole, &self.mappings, tokens)).collect())
    }

    /// The descriptors of streams with own caches: the common prefix for all, then each stream's segments.
    fn of_own(&self, own: &[Own]) -> Vec<Descriptor> {
        let segment = self.design.placement.segment_tokens;
        let of = |tokens: Range<u32>| Descriptor {
            prefix: 0,
            layer: 0,
            first: tokens.start / segment,
            stride: 1,
            count: (tokens.end - 1) / segment + 1 - tokens.start / segment,
            first_row: tokens.start % segment,
            last_row: (tokens.end - 1) % segment,
            stream: 0,
            streams: self.streams,
            mapping: self.mappings[0],
            sharing: self.sharing,
            close: false,
            step: false,
            append: false,
        };
        let of_stream = |(stream, own): (u32, &Own)| {
            let from = (self.attended(stream).start - own.tokens.start).max(self.prefix);
            Descriptor {
                prefix: own.cache,
                stream,
                streams: 1,
                close: true,
                step: stream + 1 == self.streams,
                append: own.append,
                ..of(from..own.tokens.len() as u32)
            }
        };
        let common = (self.prefix > 0).then(|| of(0..self.prefix));
        common.into_iter().chain((0..).zip(own).map(of_stream)).collect()
    }

    /// Tokens in each stream's own cache; none if all streams share all tokens.
    pub fn lengths(&self) -> Option<Vec<u32>> {
        Some(self.own.as_ref()?.iter().map(|own| own.tokens.len() as u32).collect())
    }

    /// Tokens of the tensors in the cache of a stream, the common prefix included.
    pub fn cache(&self, stream: u32) -> Range<u32> {
        match &self.own {
            None => 0..self.tensors.tokens as u32,
            Some(own) => own[stream as usize].tokens.clone(),
        }
    }

    /// Tokens of the tensors that a stream attends to: the last of its cache if the model has a sliding window.
    pub fn attended(&self, stream: u32) -> Range<u32> {
        if self.own.is_none() {
            return self.rows.clone();
        }
        let Range { start, end } = self.cache(stream);
        end - self.design.model.kind().attended(end - start)..end
    }

    /// Tokens that the stream with the most attends to.
    pub fn longest(&self) -> u32 {
        (0..self.streams).map(|stream| self.attended(stream).len() as u32).max().unwrap_or(0)
    }

    /// The query of a head and stream.
    pub fn query(&self, head: u32, stream: u32) -> &[u16] {
        let own = self.own.as_ref().map(|own| own[stream as usize].query);
        self.tensors.query(head as usize, own.unwrap_or(self.position + stream as usize))
    }

    /// Keys and values of some tokens, of the KV head that a query head attends with.
    pub fn kv(&self, head: u32, tokens: Range<u32>) -> (&[u16], &[u16]) {
        let (head, dim) = (head as usize, self.tensors.head_dim);
        let rows = tokens.start as usize * dim..tokens.end as usize * dim;
        (&self.tensors.keys(head)[rows.clone()], &self.tensors.values(head)[rows])
    }

    /// Scales of a head: those of the design, or its own. Its sink, where the layer has some.
    pub fn scales(&self, head: u32) -> HeadScales {
        let [k, v] = self.tensors.scales(head as usize);
        let scales = HeadScales::of(self.design, (k, v)).expect("the tensors' factors were checked");
        HeadScales { sink: self.sink(head).and_then(Sink::new), ..scales }
    }

    /// Sink of a head, as a logit to base e; none where the layer has none.
    pub fn sink(&self, head: u32) -> Option<f32> {
        self.tensors.sink(head as usize).filter(|_| self.design.model.sinks)
    }

    /// What goes in before the queries, in its order: the number of its groups, and a word a head. Scales, then sinks, as far as
    /// the design has them.
    pub fn words_before_queries(&self) -> Vec<(u32, Vec<u64>)> {
        let (design, mut all) = (self.design, Vec::new());
        let of_heads = |word: &dyn Fn(HeadScales) -> u64| {
            (0..design.model.heads).map(|head| word(self.scales(head))).collect()
        };
        if design.pe.is_scaled() {
            all.push((design.bus.scale_group(), of_heads(&|scales| scales.word())));
        }
        if design.has_sinks() {
            all.push((design.bus.sink_group(), of_heads(&|scales| Sink::word(scales.sink))));
        }
        all
    }

    /// Scales of some tokens, of the KV head that a query head attends with; none where the design has none.
    pub fn token_scales(&self, head: u32, tokens: Range<u32>) -> Option<Vec<[u16; 2]>> {
        own::token_scales(
            self.design,
            self.tensors,
            head as usize,
            tokens.start as usize..tokens.end as usize,
        )
    }

    /// Factors of the keys and of the values of some tokens: those of the head times those of the token.
    pub fn factors(&self, head: u32, tokens: Range<u32>) -> Vec<[f64; 2]> {
        let of_head = self.tensors.scales(head as usize).map(f64::from);
        match self.token_scales(head, tokens.clone()) {
            None => vec![of_head; tokens.len()],
            Some(scales) => {
                let of = |scales: &[u16; 2]| [0, 1].map(|at| fp16::to_f64(scales[at]) * of_head[at]);
                scales.iter().map(of).collect()
            }
        }
    }

    /// K and V of a token of a KV head, for a run that brings it; zeros where the tensors have no numbers.
    pub fn new_token(&self, kv_head: u32, token: u32) -> [Vec<u16>; 2] {
        if self.tensors.is_blank() {
            return [(); 2].map(|()| vec![0; self.tensors.head_dim]);
        }
        let model = &self.design.model;
        let (k, v) = self.kv(kv_head * model.group_heads(), token..token + 1);
        [k.to_vec(), v.to_vec()]
    }

    /// K and V of a token of a KV head as a host has them, in FP16: where the device quantises, numbers that become those of
    /// [`Job::new_token`] by their factors, each off by as much as rounding forgives, or by scales of their own.
    pub fn raw_token(&self, kv_head: u32, token: u32) -> [Vec<u16>; 2] {
        let stored = self.new_token(kv_head, token);
        if !self.design.quantises() {
            return stored;
        }
        let head = kv_head * self.design.model.group_heads();
        if let Some(scales) = self.token_scales(head, token..token + 1) {
            let [k, v] = stored;
            let format = self.design.pe.format;
            return [element::row_of(format, &k, scales[0][0]), element::row_of(format, &v, scales[0][1])];
        }
        let factors = self.tensors.scales(head as usize);
        let mut at = u64::from(token) << 32 | u64::from(kv_head);
        let mut raw = |(row, factor): (Vec<u16>, f32)| {
            let number = |bits: u16| {
                at = mix(at);
                let off = (at % 2048) as f64 / 2048.0 - 0.5;
                let element = match self.design.pe.format {
                    KvFormat::Int8 => fp16::to_f64(bits) + 0.8 * off,
                    _ => fp16::to_f64(bits) * (1.0 + off / 64.0),
                };
                f16::from_f64(element * f64::from(factor)).to_bits()
            };
            row.into_iter().map(number).collect()
        };
        let [k, v] = stored;
        [raw((k, factors[0])), raw((v, factors[1]))]
    }

    /// New tokens: the number under which the run has each, and the token. The number is that of its cache, or, where caches
    /// outnumber streams, of its stream.
    pub fn appended(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let pages = self.design.pages.is_some();
        let all = (0..).zip(self.own.iter().flatten()).filter(|(_, own)| own.append);
        all.map(move |(stream, own)| (if pages { stream } else { own.cache }, own.tokens.end - 1))
    }

    /// Contents of the external memory before the run: as [`Job::image`], with other bytes in place of new tokens.
    pub fn given(&self) -> Image {
        let (design, shape, mut image) = (self.design, Shape::of(self.design), self.image());
        let segment = design.placement.segment_tokens;
        let words = vec![BLANK; design.token_words()];
        for own in self.own.iter().flatten().filter(|own| own.append) {
            let last = own.tokens.len() as u32 - 1;
            for g in 0..design.model.kv_heads {
                let number = design.slice_number(own.cache, 0, last / segment, g);
                for (address, bytes) in design.token_places(number, last % segment, &words) {
                    image.write_slices(&shape, address, &bytes);
                }
            }
        }
        image
    }

    /// Contents of the external memory: all tokens, or the segments with those of a part.
    pub fn image(&self) -> Image {
        let tokens = self.design.placement.segment_tokens;
        // A shared cache is that of stream 0.
        let caches = if self.own.is_some() { self.streams } else { 1 };
        let of_stream = |stream: u32| {
            let cache = self.own.as_ref().map_or(0, |own| own[stream as usize].cache);
            let common = if cache == 0 { 0 } else { self.prefix };
            own::slices(self.design, self.tensors, cache, &self.cache(stream), common)
        };
        let of_part = |(segment, _): &(u32, _)| {
            let first = segment * tokens;
            !self.partials || first < self.rows.end && first + tokens > self.rows.start
        };
        let slices = (0..caches).flat_map(of_stream).filter(of_part);
        Image::Slices(slices.map(|(_, (number, bytes))| (number, bytes)).collect())
    }
}

/// Divides a descriptor into one for each mapping, fewer if it has fewer segments.
fn divided(whole: &Descriptor, mappings: &[Mapping], segment_tokens: u32) -> Vec<Descriptor> {
    let bound = |at: usize| (u64::from(whole.count) * at as u64 / mappings.len() as u64) as u32;
    let part = |(at, mapping): (usize, &Mapping)| {
        let (from, to) = (bound(at), bound(at + 1));
        let ends = to == whole.count;
        Descriptor {
            first: whole.first + from * whole.stride,
            count: to - from,
            first_row: if from == 0 { whole.first_row } else { 0 },
            last_row: if ends { whole.last_row } else { segment_tokens - 1 },
            mapping: *mapping,
            close: ends && whole.close,
            step: ends && whole.step,
            append: ends && whole.append,
            ..*whole
        }
    };
    mappings.iter().enumerate().map(part).filter(|part| part.count > 0).collect()
}
