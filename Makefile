# Every job of this repository. `make` alone lists them.
#
# CARGO and CARGO_FLAGS may be set from outside; OUT is where `make run` writes.

CARGO       ?= cargo
CARGO_FLAGS ?= --locked
OUT         ?= out
CONFIG      ?= configs/minilm.toml
# Queries, keys and values that `make run` computes attention of.
TENSORS     ?= examples/minilm.safetensors
# The configuration that `make load` loads with traffic.
MESH        ?= configs/mesh_4x4.toml
# The reference configurations: their output is committed in rtl_out/ and compared by a test.
GOLDENS     := tiny u280_4x8
# Of these only the manifest is committed, which has a digest of each file.
DIGESTS     := u280_8x8
# Configurations that have every form of every module with properties.
PROVED      := tiny mutate_two_stages mutate_three_stages grow_4x4 parity_3x3 pages_3x3 u280_shell
# The configuration whose area and periods `make estimate` estimates.
DEVICE      ?= configs/u280_4x8.toml
# Options of meshkv soak: how long, or how many seeds, and the first of them.
SOAK        ?= --time 600
# Seconds of `make fuzz`.
FUZZ        ?= 3600
# Options of meshkv mutate: how many mutants are drawn of all designs, and by which seed.
MUTATE      ?= --count 500
# Configurations of `make mutate`, those with short checks first.
MUTATED     := tiny mutate_two_stages mutate_three_stages
# The sweep that `make sweep` runs and reports.
SWEEP       ?= sweeps/latency_load.toml
# Folder of the page that sets the paper beside meshkv, and options of meshkv paper.
PAPER       ?= out/paper
PAPER_FLAGS ?=
# Options of python/examples/decoder.py.
DECODER     ?=
# Sections of the figures to measure; all of them when empty.
FIGURES     ?=
# Seed and number of the runs that FIGURES=lengths draws; its own when empty.
SEED        ?=
RUNS        ?=
# Text that `make spell` reads; rtl_out follows from the templates.
SPELT       := README.md CONTRIBUTING.md CHANGELOG.md Makefile docs templates src tests configs python host scripts \
               sweeps sim benches examples constraints energy hosts

NAME   := $(basename $(notdir $(CONFIG)))
MESHKV := target/release/meshkv

.DEFAULT_GOAL := help
.PHONY: help run load estimate build test verify decoder lint prove spell fmt bench paper soak mutate fuzz sweep bless tools tools-synth tools-cluster tools-ecosystem tools-decoder doc clean

help: ## List these jobs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

run: tools build ## Generate CONFIG and compute attention of TENSORS on it, outputs and pictures into OUT
	@mkdir -p $(OUT)
	$(MESHKV) generate $(CONFIG) -o $(OUT)/$(NAME) -q >/dev/null
	$(MESHKV) run $(CONFIG) --tensors $(TENSORS) --fit --query 7 --plot $(OUT) --output $(OUT)/attention.safetensors \
		> $(OUT)/report.txt
	@cat $(OUT)/report.txt
	@echo "Verilog, outputs, report and pictures are in $(OUT)/: start at $(OUT)/report.html and $(OUT)/$(NAME)/doc/$(NAME).md"

load: tools build ## Generate MESH, co-simulate its network up to saturation, report and pictures into OUT
	@mkdir -p $(OUT)
	$(MESHKV) check $(MESH)
	$(MESHKV) generate $(MESH) -o $(OUT)/$(basename $(notdir $(MESH))) -q >/dev/null
	$(MESHKV) cosim $(MESH) --sweep-load 0.05:1.0 --cycles 5000 --plot $(OUT) > $(OUT)/load.txt
	@cat $(OUT)/load.txt

estimate: tools-synth build ## Estimate what DEVICE takes on the U280, tables and floorplan into OUT; fails if it does not fit
	@mkdir -p $(OUT)
	$(MESHKV) estimate $(DEVICE) --plot $(OUT)

build: ## Build the program, optimised; manual pages and completions are in target/share
	$(CARGO) build $(CARGO_FLAGS) --release
	@mkdir -p target/share/completions
	@$(MESHKV) man target/share/man -q >/dev/null
	@for shell in bash zsh fish; do $(MESHKV) completions $$shell > target/share/completions/meshkv.$$shell; done

test: tools spell doc ## What every change must pass: spelling, formatting, lints, documentation, the fast tier of tests
	$(CARGO) fmt --check
	$(CARGO) clippy $(CARGO_FLAGS) --all-targets -- -D warnings
	CARGO="$(CARGO)" CARGO_FLAGS="$(CARGO_FLAGS)" scripts/tests.sh fast

verify: tools-synth tools-cluster tools-ecosystem tools-decoder ## All other tests: whole matrices, mutants, long lockstep, large meshes; goes on where it was stopped
	CARGO="$(CARGO)" CARGO_FLAGS="$(CARGO_FLAGS)" scripts/tests.sh verify

decoder: tools tools-decoder build ## Decode with a model of transformers, its attention on the co-simulated card; DECODER="--tokens 64 --batch 3 --seed 23"
	PYTHONPATH=python $(MESHKV) card python/examples/decoder.toml -- .tools/decoder/bin/python3 python/examples/decoder.py $(DECODER)

lint: tools ## Clippy over the Rust; Verilator, Icarus, Yosys and slang over the reference Verilog, Tcl over its constraints and scripts
	$(CARGO) clippy $(CARGO_FLAGS) --all-targets -- -D warnings
	set -e; for name in $(GOLDENS) $(DIGESTS); do $(CARGO) run $(CARGO_FLAGS) -q -- lint configs/$$name.toml; done

prove: tools build ## Prove the properties of control blocks, with either router; counterexamples as waves into OUT
	$(MESHKV) prove $(PROVED:%=configs/%.toml) --waves $(OUT)/prove

spell: ## Spelling of pages, sources, templates, tests and configurations; .codespellrc has the words that it passes
	@codespell=$$(sh scripts/tools.sh spell) && $$codespell $(SPELT)

fmt: ## Format the Rust sources
	$(CARGO) fmt

bench: tools-synth build ## Measure the figures and write them into docs/figures.md; FIGURES="latency area" for some of them, SEED and RUNS for lengths
	MESHKV_BENCH_SEED=$(SEED) MESHKV_BENCH_RUNS=$(RUNS) $(CARGO) bench $(CARGO_FLAGS) --bench figures -- $(FIGURES)

paper: tools-synth build ## Every number of the paper beside ours, as a page in PAPER; PAPER_FLAGS=--quick for samples
	$(MESHKV) paper $(PAPER_FLAGS) -o $(PAPER)

soak: tools build ## Compare model and Verilog on random fabrics; SOAK="--time 3600 --seed 500" for how many
	$(MESHKV) soak $(SOAK)

mutate: tools build ## Plant faults in the Verilog of MUTATED, to see each found; MUTATE="--count 50 --seed 7" for which; goes on where it was stopped
	$(MESHKV) mutate $(MUTATED:%=configs/%.toml) $(MUTATE)

fuzz: ## Damage input files for FUZZ seconds; each must be answered at once, in a few words
	MESHKV_FUZZ_SECONDS=$(FUZZ) $(CARGO) test $(CARGO_FLAGS) --release --test all -- --exact --nocapture cli::fuzz::every_damaged_file_is_answered_at_once_in_a_few_words

sweep: build ## Run every point of SWEEP on its engine, tables and pictures into OUT; again runs what is missing
	$(MESHKV) sweep $(SWEEP) -o $(OUT)/$(basename $(notdir $(SWEEP)))
	$(MESHKV) report $(OUT)/$(basename $(notdir $(SWEEP)))

bless: ## Write the reference output again after a wanted change; review it with git diff
	set -e; for name in $(GOLDENS); do \
		$(CARGO) run $(CARGO_FLAGS) -q -- generate configs/$$name.toml -o rtl_out/$$name --force -q >/dev/null; done
	set -e; for name in $(DIGESTS); do out=$$(mktemp -d); \
		$(CARGO) run $(CARGO_FLAGS) -q -- generate configs/$$name.toml -o $$out/$$name -q >/dev/null; \
		cp $$out/$$name/meshkv-manifest.json rtl_out/$$name/; rm -r $$out; done
	git status --short rtl_out

tools: ## Find the external tools, install what is missing
	@sh scripts/tools.sh

tools-synth:
	@sh scripts/tools.sh synth

tools-cluster:
	@sh scripts/tools.sh cluster

tools-ecosystem:
	@sh scripts/tools.sh ecosystem

tools-decoder:
	@sh scripts/tools.sh decoder

doc: ## Build the documentation of the Rust code
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc $(CARGO_FLAGS) -q --no-deps --document-private-items

clean: ## Remove what was built; installed tools in .tools stay
	$(CARGO) clean
	rm -rf $(OUT)
