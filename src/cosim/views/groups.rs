//! Groups of a view: the hops of a flit's way, the tiles at its ends, the periphery, the host's
//! side, then all other routers.

use super::hierarchy::{Hierarchy, Signal};
use super::meaning::{Meaning, STATES};
use super::way::{way, Focus, Hop};
use crate::design::{Design, Mesh, NodeId, Port};

/// A signal with its name in the view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Short name.
    pub name: String,
    /// The signal of the file.
    pub signal: Signal,
    /// The meaning of its values.
    pub meaning: Meaning,
}

/// Signals under one heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The heading.
    pub name: String,
    /// True if it is open at first.
    pub open: bool,
    /// Its signals, at least one.
    pub lines: Vec<Line>,
}

/// The wanted signals of one scope: name in the view, name in the scope, meaning.
type Wanted = (String, String, Meaning);

/// The groups of the signals that the file has.
pub fn groups(hierarchy: &Hierarchy, design: &Design, focus: Focus) -> Vec<Group> {
    let mesh = design.mesh;
    let found = Finder { hierarchy, mesh };
    let hops = way(mesh, focus);
    let mut all = vec![found.clocks()];
    let first = hops.first().map(|hop| hop.router);
    let last = hops.last().map(|hop| hop.router);
    all.extend(first.into_iter().flat_map(|tile| found.sender(tile)));
    for (number, hop) in (1..).zip(&hops) {
        all.push(found.hop(number, hop));
    }
    all.extend(last.into_iter().flat_map(|tile| found.receiver(tile)));
    all.extend(found.columns());
    all.extend(found.host());
    let others = mesh.nodes().filter(|&tile| hops.iter().all(|hop| hop.router != tile));
    all.extend(others.map(|tile| found.router(tile)));
    all.retain(|group| !group.lines.is_empty());
    all
}

fn plain(names: &[(&str, &str)]) -> Vec<Wanted> {
    names.iter().map(|&(name, signal)| (name.to_owned(), signal.to_owned(), Meaning::Number)).collect()
}

/// The signals of `module` whose values have names.
fn states(module: &str) -> Vec<Wanted> {
    let of_module = STATES.iter().filter(|states| states.module == module);
    of_module.map(|s| ("state".to_owned(), s.register.to_owned(), Meaning::State(s))).collect()
}

struct Finder<'a> {
    hierarchy: &'a Hierarchy,
    mesh: Mesh,
}

impl Finder<'_> {
    /// The shortest scope whose name ends with one of `ends`, at a dot, below `above`.
    fn scope(&self, above: &str, ends: &[&str]) -> Option<String> {
        let is = |scope: &str| {
            let below = scope.strip_prefix(above)?;
            ends.iter().any(|end| below == *end || below.ends_with(&format!(".{end}"))).then_some(())
        };
        let scopes = self.hierarchy.scopes().filter(|scope| is(scope).is_some());
        scopes.min_by_key(|scope| scope.len()).map(str::to_owned)
    }

    fn lines(&self, scope: Option<&str>, wanted: &[Wanted]) -> Vec<Line> {
        let line = |(name, signal, meaning): &Wanted| {
            let signal = self.hierarchy.signal(scope?, signal)?.clone();
            Some(Line { name: name.clone(), signal, meaning: *meaning })
        };
        wanted.iter().filter_map(line).collect()
    }

    fn place(&self, tile: NodeId) -> String {
        let (x, y) = self.mesh.coords(tile);
        format!("({x}, {y})")
    }

    fn router_scope(&self, tile: NodeId) -> Option<String> {
        let (x, y) = self.mesh.coords(tile);
        let piece = format!("tile_{x}_{y}.");
        self.scope(&piece, &["u_router"])
            .or_else(|| self.scope("", &[&format!("gen_row[{y}].gen_col[{x}].u_router")]))
    }

    fn tile_scope(&self, tile: NodeId, block: &str) -> Option<String> {
        let (x, y) = self.mesh.coords(tile);
        let whole = format!("gen_tile[{}].u_tile", tile.index());
        let transport = format!("u_meshkv_transport.{block}");
        let short = block.strip_prefix("u_transport.").map(|short| format!("u_meshkv_transport.{short}"));
        let ends = [
            format!("{whole}.{block}"),
            transport,
            format!("u_meshkv_tile.{block}"),
            short.unwrap_or_default(),
        ];
        let ends: Vec<&str> = ends.iter().map(String::as_str).filter(|end| !end.is_empty()).collect();
        self.scope(&format!("tile_{x}_{y}."), &ends).or_else(|| self.scope("", &ends[..1]))
    }

    fn group(&self, name: String, open: bool, lines: Vec<Line>) -> Group {
        Group { name, open, lines }
    }

    fn clocks(&self) -> Group {
        let top = self.hierarchy.scopes().min_by_key(|scope| scope.len()).map(str::to_owned);
        let wanted =
            plain(&[("clock", "clk"), ("clock of PaD", "pe_clk"), ("clock", "ap_clk"), ("reset", "rst")]);
        self.group("clocks".to_owned(), true, self.lines(top.as_deref(), &wanted))
    }

    fn hop(&self, number: usize, hop: &Hop) -> Group {
        let (from, to) = (hop.from, hop.to);
        let side = |port: Port| if port == Port::Local { "its tile" } else { port.name() };
        let name =
            format!("hop {number}: router {}, from {} to {}", self.place(hop.router), side(from), side(to));
        let scope = self.router_scope(hop.router);
        let mut wanted = entering(from);
        let (i, o) = (from.letter(), to.letter());
        wanted.extend(plain(&[
            ("buffer: channels with flits", &format!("occupied_{i}")),
            ("buffer: channels that are full", &format!("full_{i}")),
        ]));
        wanted.push(("allocator: granted outputs".to_owned(), format!("grant_{i}"), Meaning::Outputs));
        wanted.push(("allocator: sent class".to_owned(), format!("send_vc_{o}"), Meaning::Class));
        wanted.push((
            "allocator: outputs without credit".to_owned(),
            "blocked_q".to_owned(),
            Meaning::Outputs,
        ));
        wanted.extend(leaving(to));
        self.group(name, true, self.lines(scope.as_deref(), &wanted))
    }

    fn router(&self, tile: NodeId) -> Group {
        let scope = self.router_scope(tile);
        let ports = |prefix: &str, word: &str| {
            let class = |port: Port| {
                (
                    format!("{word} {}: class", port.name()),
                    format!("{prefix}_{}_valid", port.letter()),
                    Meaning::Class,
                )
            };
            Port::ALL.map(class)
        };
        let wanted: Vec<Wanted> = ports("rx", "in").into_iter().chain(ports("tx", "out")).collect();
        self.group(format!("router {}", self.place(tile)), false, self.lines(scope.as_deref(), &wanted))
    }

    /// Blocks of a tile, each with a heading: the block, its scope below the tile, its signals.
    fn blocks(&self, tile: NodeId, blocks: &[(&str, &str, Vec<Wanted>)]) -> Vec<Group> {
        let group = |(name, block, wanted): &(&str, &str, Vec<Wanted>)| {
            let lines = self.lines(self.tile_scope(tile, block).as_deref(), wanted);
            self.group(format!("tile {}: {name}", self.place(tile)), true, lines)
        };
        blocks.iter().map(group).collect()
    }

    /// The tile where the way begins: its home streams the slice.
    fn sender(&self, tile: NodeId) -> Vec<Group> {
        self.blocks(
            tile,
            &[
                (
                    "filler",
                    "u_filler",
                    plain(&[
                        ("a slice is ordered", "s_valid"),
                        ("its tag", "s_tag"),
                        ("read request", "req_valid"),
                        ("read beat", "rsp_valid"),
                        ("a slot is published", "publish_valid"),
                        ("its slot", "publish_slot"),
                    ]),
                ),
                (
                    "home agent",
                    "u_transport.u_home",
                    plain(&[
                        ("fetch from the network", "fetch_valid"),
                        ("its key", "fetch_key"),
                        ("fetch of its own tile", "own_fetch_valid"),
                        ("waits for its slice", "waits"),
                        ("request opened", "event_open"),
                        ("request merged", "event_merge"),
                        ("request parked", "event_park"),
                        ("streamer is busy", "streamer_busy"),
                        ("KV flit ready", "m_valid"),
                        ("its key", "m_key"),
                        ("its position in the slice", "m_index"),
                        ("its destinations", "m_dest"),
                    ]),
                ),
                ("port to the router", "u_transport.u_port", tile_port()),
            ],
        )
    }

    /// The tile where the way ends: its requester takes the slice, its PaD computes.
    fn receiver(&self, tile: NodeId) -> Vec<Group> {
        let mut all = self.blocks(
            tile,
            &[
                ("port from the router", "u_transport.u_port", tile_port()),
                (
                    "prefetcher",
                    "u_prefetcher",
                    plain(&[
                        ("a slice is asked for", "s_valid"),
                        ("its tag", "s_tag"),
                        ("fetch ordered", "cmd_valid"),
                        ("job for PaD", "job_valid"),
                    ]),
                ),
                (
                    "requester",
                    "u_transport.u_requester",
                    plain(&[
                        ("fetch ordered", "cmd_valid"),
                        ("fetch sent", "fetch_valid"),
                        ("its key", "fetch_key"),
                        ("entries in use", "busy_q"),
                        ("flit arrived", "rx_valid"),
                        ("its position in the slice", "rx_index"),
                        ("flit for PaD", "kv_valid"),
                        ("PaD takes it", "kv_ready"),
                        ("its tag", "kv_tag"),
                        ("duplicate dropped", "event_duplicate"),
                        ("fetch sent again", "event_retry"),
                    ]),
                ),
            ],
        );
        let pad = self.scope("", &[&format!("gen_pad[{}].u_pad", tile.index())]);
        let pad = pad.or_else(|| {
            let (x, y) = self.mesh.coords(tile);
            self.scope(&format!("tile_{x}_{y}."), &["u_meshkv_pad", "u_pad"])
        });
        let mut wanted = plain(&[
            ("job waits", "waits"),
            ("a slice passes", "run_q"),
            ("KV flit", "kv_valid"),
            ("PaD takes it", "kv_ready"),
            ("it is of V", "value"),
            ("partial result", "part_valid"),
        ]);
        wanted.splice(2..2, renamed("results", states("meshkv_pad")));
        let mut lines = self.lines(pad.as_deref(), &wanted);
        let loader = pad.map(|pad| format!("{pad}.u_loader"));
        lines.extend(self.lines(loader.as_deref(), &renamed("weights", states("meshkv_weight_loader"))));
        all.push(self.group(format!("tile {}: PaD", self.place(tile)), true, lines));
        all
    }

    /// The controller and the reduce root of each column, and the unit that swaps homes.
    fn columns(&self) -> Vec<Group> {
        let mut all = Vec::new();
        for x in 0..self.mesh.cols() {
            let scope = self.scope("", &[&format!("gen_column[{x}].u_controller")]);
            let mut wanted = states("meshkv_column_controller");
            wanted.extend(plain(&[
                ("descriptor", "desc_valid"),
                ("word on the bus", "bus_valid"),
                ("all is done", "idle"),
            ]));
            let mut lines = self.lines(scope.as_deref(), &wanted);
            let root = self.mesh.node(x, 0).and_then(|tile| {
                let whole = format!("gen_pad[{}].gen_root.u_root.u_root", tile.index());
                self.scope("", &[&whole])
                    .or_else(|| self.scope(&format!("tile_{x}_0."), &["u_meshkv_column_root.u_root"]))
            });
            let mut wanted = renamed("root", states("meshkv_reduce_root"));
            wanted.extend(plain(&[("root: PART flit", "root_valid"), ("root: output", "out_valid")]));
            lines.extend(self.lines(root.as_deref(), &wanted));
            all.push(self.group(format!("column {x}: controller and root"), x == 0, lines));
        }
        let swap = self.scope("", &["u_swap"]);
        all.push(self.group(
            "swaps of homes".to_owned(),
            false,
            self.lines(swap.as_deref(), &states("meshkv_swap_unit")),
        ));
        all
    }

    /// Registers, descriptors and runs of the device.
    fn host(&self) -> Vec<Group> {
        let mut all = Vec::new();
        let below = |name: &str| self.scope("", &[&format!("u_front.{name}")]);
        let parts: [(&str, &str, Vec<Wanted>); 3] = [
            (
                "host: registers",
                "u_control",
                [
                    states("meshkv_control_registers"),
                    plain(&[
                        ("write address", "s_axi_control_awvalid"),
                        ("its address", "s_axi_control_awaddr"),
                        ("written data", "s_axi_control_wdata"),
                        ("read address", "s_axi_control_arvalid"),
                        ("its address", "s_axi_control_araddr"),
                        ("read data", "s_axi_control_rdata"),
                        ("interrupt", "interrupt"),
                    ]),
                ]
                .concat(),
            ),
            ("host: queue of descriptors", "u_queue", states("meshkv_descriptor_queue")),
            (
                "host: run",
                "u_run",
                [
                    states("meshkv_run_control"),
                    plain(&[
                        ("a run is under way", "run_busy"),
                        ("a run is over", "over"),
                        ("cycles of the run", "cycles"),
                        ("failure", "fail_valid"),
                        ("its cause", "fail_cause"),
                    ]),
                ]
                .concat(),
            ),
        ];
        for (name, block, wanted) in parts {
            all.push(self.group(name.to_owned(), true, self.lines(below(block).as_deref(), &wanted)));
        }
        all
    }
}

/// Signals by which a flit enters a router.
fn entering(port: Port) -> Vec<Wanted> {
    let p = port.letter();
    let mut all = vec![("in: class".to_owned(), format!("rx_{p}_valid"), Meaning::Class)];
    all.extend(plain(&[
        ("in: head", &format!("rx_{p}_head")),
        ("in: destination", &format!("rx_{p}_dest")),
        ("in: data", &format!("rx_{p}_data")),
    ]));
    all.push(("in: credit back".to_owned(), format!("rx_{p}_credit"), Meaning::Class));
    all
}

/// Signals by which a flit leaves a router.
fn leaving(port: Port) -> Vec<Wanted> {
    let p = port.letter();
    let mut all = vec![("out: class".to_owned(), format!("tx_{p}_valid"), Meaning::Class)];
    all.extend(plain(&[
        ("out: head", &format!("tx_{p}_head")),
        ("out: destination", &format!("tx_{p}_dest")),
        ("out: data", &format!("tx_{p}_data")),
    ]));
    all.push(("out: credit back".to_owned(), format!("tx_{p}_credit"), Meaning::Class));
    all
}

/// Signals between a tile and its router.
fn tile_port() -> Vec<Wanted> {
    let mut all = vec![("to the router: class".to_owned(), "tx_valid".to_owned(), Meaning::Class)];
    all.extend(plain(&[("to the router: head", "tx_head"), ("to the router: destination", "tx_dest")]));
    all.push(("from the router: class".to_owned(), "rx_valid".to_owned(), Meaning::Class));
    all.extend(plain(&[("from the router: head", "rx_head")]));
    all
}

/// The same signals, each named after the part that they belong to.
fn renamed(part: &str, wanted: Vec<Wanted>) -> Vec<Wanted> {
    wanted.into_iter().map(|(name, signal, meaning)| (format!("{part}: {name}"), signal, meaning)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn design() -> Design {
        let mut config = Config::default();
        (config.mesh.cols, config.mesh.rows) = (3, 2);
        Design::from_config("small", &config).unwrap()
    }

    /// A file with one router, and a piece of the fabric with another.
    fn file() -> Hierarchy {
        let mut file = Hierarchy::default();
        let router = "TOP.meshkv_mesh.gen_row[0].gen_col[0].u_router";
        file.add(router, "rx_l_valid [3:0]", 4);
        file.add(router, "tx_e_head [22:0]", 23);
        file.add(router, "rx_n_valid [3:0]", 4);
        file.add("tile_2_1.meshkv_wrapper.u_piece.u_meshkv_tile.u_transport.u_port", "rx_valid [3:0]", 4);
        file.add("tile_0_1.meshkv_wrapper.u_piece.u_router", "rx_l_valid [3:0]", 4);
        file.add("u_periphery.meshkv_wrapper.u_piece.gen_column[1].u_controller", "state_q [2:0]", 3);
        file.add("TOP.meshkv_wrapper.u_piece.u_top.u_front.u_control", "state_q [2:0]", 3);
        file
    }

    #[test]
    fn a_view_has_what_the_file_has_in_the_order_of_a_flits_way() {
        let all = groups(&file(), &design(), Focus::Corners);
        let names: Vec<_> = all.iter().map(|group| (group.name.as_str(), group.open)).collect();
        assert_eq!(
            names,
            [
                ("hop 1: router (0, 0), from its tile to east", true),
                ("tile (2, 1): port from the router", true),
                ("column 1: controller and root", false),
                ("host: registers", true),
                ("router (0, 1)", false),
            ]
        );
        let first: Vec<_> =
            all[0].lines.iter().map(|line| (line.name.as_str(), line.signal.range.as_str())).collect();
        assert_eq!(first, [("in: class", "[3:0]"), ("out: head", "[22:0]")]);
        assert_eq!(all[0].lines[0].meaning, Meaning::Class);
        assert!(matches!(all[2].lines[0].meaning, Meaning::State(_)));
    }

    #[test]
    fn the_way_ends_at_the_place_of_a_difference() {
        let design = design();
        let tile = design.mesh.node(0, 0).unwrap();
        let all = groups(&file(), &design, Focus::Tile(tile));
        assert_eq!(all[0].name, "tile (2, 1): port to the router");
        assert_eq!(all[1].name, "hop 4: router (0, 0), from north to its tile");
    }
}
