"""Puts monitors into emitted Verilog: `monitors.py SITES FILE...` changes the files in place.

A monitor tells the first X that it sees at its place once `bench.monitored` is 1. There is one for each register that a
reset clears, each condition of a clocked block that has a reset or writes a memory, each index of a memory, and each port
that shakes hands. SITES gets a line for each: its number, its kind, file and line, and its text.
"""

import re
import sys

import pyslang
from pyslang import parsing, syntax

RESETS = {"rst", "s_rst", "m_rst", "pe_rst", "core_rst"}
HANDSHAKE = re.compile(r"(^|_)(valid|ready|credit|grant|request|sent|wr_en|rd_en)(_[a-z])?$|^event_")
CHECK = """if ({x} === 1'bx && {since} && !xm_seen[own]) begin
            xm_seen[own] = 1;
            $display("UNKNOWN %0d in period %0d, %m", site, bench.period);
        end"""


def check(what, since="bench.monitored"):
    return CHECK.replace("{x}", what).replace("{since}", since)


# An address may come through stages without a reset: it has a value once they have been passed.
HELPERS = (
    "\n    reg [LAST:0] xm_seen = 0;\n"
    + f"    task xm_t(input is, input integer site, input integer own);\n        {check('is')}\n    endtask\n"
    + f"    task xm_a(input is, input integer site, input integer own);\n        {check('is', 'bench.passed')}\n    endtask\n"
    # A function may not call a task.
    + "    function xm_c(input is, input integer site, input integer own);\n"
    + f"        begin xm_c = is; {check('is')} end\n    endfunction\n"
    + "    function [31:0] xm_i(input [31:0] is, input integer site, input integer own);\n"
    + f"        begin xm_i = is; {check('(^is)', 'bench.passed')} end\n    endfunction\n"
)


class File:
    def __init__(self, path, sites):
        self.path, self.sites, self.own = path, sites, 0
        self.text = open(path, encoding="utf-8").read()
        options = parsing.PreprocessorOptions()
        # The checks of a simulation are not hardware.
        options.predefines = ["SYNTHESIS"]
        bag = pyslang.Bag()
        bag.preprocessorOptions = options
        manager = pyslang.SourceManager()
        self.tree = syntax.SyntaxTree.fromText(self.text, manager, path, path, bag)
        self.root = self.tree.root
        self.inserted = []

    def range(self, node):
        return node.sourceRange.start.offset, node.sourceRange.end.offset

    def of(self, node):
        start, end = self.range(node)
        return self.text[start:end]

    def nodes(self, node, *kinds):
        found = []

        def visit(inner):
            if isinstance(inner, kinds):
                found.append(inner)

        node.visit(visit)
        return found

    def site(self, kind, node):
        start, end = self.range(node)
        text = re.sub(r"\s+", " ", self.text[start:end])
        line = self.text.count("\n", 0, start) + 1
        self.sites.append((kind, f"{self.path.rsplit('/', 1)[-1]}:{line}", text))
        self.own += 1
        return f"{len(self.sites) - 1}, {self.own - 1}"

    def put(self, offset, text):
        self.inserted.append((offset, len(self.inserted), text))

    def around(self, node, before, after):
        start, end = self.range(node)
        self.put(start, before)
        self.put(end, after)

    # What is declared.

    def read_names(self):
        self.memories, self.variables = set(), set()
        for declared in self.nodes(self.root, syntax.DataDeclarationSyntax):
            integer = str(declared.type).strip() == "integer"
            for one in declared.declarators:
                name = getattr(one, "name", None)
                if name is not None and integer:
                    self.variables.add(name.value)
                elif name is not None and len(one.dimensions) > 0:
                    self.memories.add(name.value)
        # What no clock writes is a table of constants: logic, whose result is data.
        written = set()
        for assigned in self.nodes(self.root, syntax.BinaryExpressionSyntax):
            if assigned.kind == syntax.SyntaxKind.NonblockingAssignmentExpression:
                written |= {one.identifier.value for one in self.nodes(assigned.left, syntax.IdentifierSelectNameSyntax)}
        self.memories &= written
        self.ports = {}
        for port in self.nodes(self.root, syntax.ImplicitAnsiPortSyntax):
            self.ports[port.declarator.name.value] = port

    def names(self, node):
        return set(re.findall(r"(?<!['\w])[A-Za-z_]\w*", self.of(node)))

    # Clocked blocks.

    def statement(self, node, block):
        """Monitors of a statement of a clocked block; `block` says what is known of it."""
        if isinstance(node, syntax.BlockStatementSyntax):
            for item in node.items:
                self.statement(item, block)
        elif isinstance(node, syntax.ConditionalStatementSyntax):
            self.conditional(node, block)
        elif isinstance(node, syntax.ForLoopStatementSyntax):
            self.statement(node.statement, block)
        elif isinstance(node, syntax.CaseStatementSyntax):
            self.condition(node.expr, block, "^", node)
            for item in node.items:
                self.statement(item.clause, block)
        elif isinstance(node, syntax.ExpressionStatementSyntax):
            self.indices(node)

    def conditional(self, node, block):
        if self.of(node.predicate).strip() in RESETS:
            self.cleared(node)
        else:
            self.condition(node.predicate, block, "|", node)
            self.statement(node.statement, block)
        if node.elseClause is not None:
            self.statement(node.elseClause.clause, block)

    def condition(self, node, block, reduction, whole):
        names = self.names(node) - self.variables - block["constants"]
        writes = any(self.memory(select) for select in self.nodes(whole, syntax.IdentifierSelectNameSyntax))
        if names and (block["reset"] or writes):
            number = self.site("condition", node)
            if reduction == "|":
                self.around(node, "xm_c(|(", f"), {number})")
            else:
                self.around(whole, f"begin xm_t(^({self.of(node)}), {number}); ", " end")

    def cleared(self, node):
        """Registers that a reset clears have a value whenever it is low."""
        checks = ""
        loops = {}
        for loop in self.nodes(node.statement, syntax.ForLoopStatementSyntax):
            header = self.text[self.range(loop)[0] : self.range(loop.statement)[0]]
            for assigned in self.nodes(loop.statement, syntax.BinaryExpressionSyntax):
                loops[self.range(assigned)] = header
        for assigned in self.nodes(node.statement, syntax.BinaryExpressionSyntax):
            if assigned.kind != syntax.SyntaxKind.NonblockingAssignmentExpression:
                continue
            header = loops.get(self.range(assigned), "")
            left = self.of(assigned.left)
            if left in self.memories:
                continue
            checks += f"{header} xm_t(^({left}), {self.site('register', assigned.left)}); "
        if checks:
            self.around(node, f"begin if (!({self.of(node.predicate)})) begin {checks}end ", " end")

    def memory(self, select):
        return select.identifier.value in self.memories

    def indices(self, node):
        for select in self.nodes(node, syntax.IdentifierSelectNameSyntax):
            if self.memory(select):
                index = select.selectors[0].selector
                if self.names(index) - self.variables - self.constants:
                    self.around(index, "xm_i(", f", {self.site('index', index)})")

    # The rest of a module.

    def clock(self, name):
        """The clock of a port or of logic, and the condition that its reset is low."""
        for prefix in [name[:2] if name[:2] in ("s_", "m_") else "", "", "pe_", "ap_"]:
            if prefix + "clk" in self.ports:
                reset = prefix + "rst"
                return prefix + "clk", f"!{reset}" if reset in self.ports else "1'b1"
        return None, None

    def logic(self, member):
        """Indices of memories that logic reads."""
        for select in self.nodes(member, syntax.IdentifierSelectNameSyntax):
            clock, running = self.clock("")
            if not self.memory(select) or clock is None:
                continue
            index = select.selectors[0].selector
            if self.names(index) - self.constants and not self.names(index) & self.variables:
                number = self.site("index", index)
                text = f"\nalways @(posedge {clock}) if ({running}) xm_a(^({self.of(index)}), {number});\n"
                self.put(self.range(member)[1], text)

    def handshakes(self, end):
        for name, port in self.ports.items():
            clock, running = self.clock(name)
            if HANDSHAKE.search(name) and clock is not None:
                number = self.site("port", port)
                self.put(end, f"\nalways @(posedge {clock}) if ({running}) xm_t(^({name}), {number});\n")

    def instrument(self):
        self.read_names()
        text = self.text
        self.constants = set(re.findall(r"\b(?:parameter|localparam)\s+(?:signed\s+)?(?:\[[^\]]*\]\s*)?(\w+)", text))
        self.constants |= set(re.findall(r"\bgenvar\s+(\w+)", text))
        for always in self.nodes(self.root, syntax.ProceduralBlockSyntax):
            body = always.statement
            clocked = "posedge" in self.text[self.range(body)[0] : self.range(body.statement)[0]] if isinstance(
                body, syntax.TimingControlStatementSyntax) else False
            if not clocked:
                if isinstance(body, syntax.TimingControlStatementSyntax):
                    self.logic(always)
                continue
            conditions = self.nodes(body, syntax.ConditionalStatementSyntax)
            reset = any(self.of(c.predicate).strip() in RESETS for c in conditions)
            self.statement(body.statement, {"reset": reset, "constants": self.constants})
        for member in self.nodes(self.root, syntax.ContinuousAssignSyntax, syntax.NetDeclarationSyntax):
            self.logic(member)
        end = self.text.rindex("endmodule")
        self.handshakes(end)
        if self.own:
            self.put(end, HELPERS.replace("LAST", str(self.own)))
        out = self.text
        for offset, _, inserted in sorted(self.inserted, reverse=True):
            out = out[:offset] + inserted + out[offset:]
        open(self.path, "w", encoding="utf-8").write(out)


def main():
    sites = []
    for path in sys.argv[2:]:
        File(path, sites).instrument()
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        for number, site in enumerate(sites):
            out.write("\t".join([str(number), *site]) + "\n")


if __name__ == "__main__":
    main()
