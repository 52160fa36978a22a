//! Arrays of Python by the array interface and DLPack, without a copy; results in a caller's array; calls of several threads.

use super::python::{library, said, Package};

/// A producer of DLPack that has nothing else, and a call that says how an act ended.
const BEGUN: &str = r#"
import ctypes, threading, time, numpy as np, meshkv
from meshkv import arrays
class Tensor:
    def __init__(self, array, kind=1):
        self.array, self.kind = array, kind
    def __dlpack__(self, **how):
        return self.array.__dlpack__(**how)
    def __dlpack_device__(self):
        return (self.kind, 0)
def tried(act, *args, **how):
    try:
        act(*args, **how)
        print("taken")
    except ValueError as why:
        print(type(why).__name__, why)
def drawn(*shape):
    return np.random.default_rng(1).standard_normal(shape).astype(np.float16)
"#;

/// Runs a script with the package before the card in its process, whose outputs are the queries.
fn run(script: &str, fault: &str) -> String {
    let (package, build) = (Package::new(), library(false));
    let mut command = package.command(&build);
    if !fault.is_empty() {
        command.env("MESHKV_FAKE_FAULT", fault);
    }
    said(command.args(["-c", &format!("{BEGUN}{script}")]))
}

#[test]
fn numbers_are_read_where_they_lie_and_written_where_the_caller_says() {
    let printed = run(
        r#"
same = lambda one, other: arrays.given(one, "keys", (3, 5, 32), "x").ctypes.data == other.ctypes.data
keys = drawn(3, 5, 32)
fixed = keys.copy()
fixed.flags.writeable = False
print(same(keys, keys), same(Tensor(keys), keys), same(fixed, fixed), same(keys.astype(np.float32), keys), same(drawn(3, 10, 32)[:, ::2], keys))
with meshkv.Device("./libmeshkv.so", "card.xclbin") as device:
    device.begin(0)
    device.append(1, 0, Tensor(keys), fixed)
    device.append(1, 0, drawn(3, 10, 32)[:, ::2], keys.astype(np.float64))
    q = drawn(1, 6, 32)
    for out in (np.zeros((1, 6, 32), np.float16), Tensor(np.zeros((1, 6, 32), np.float16))):
        seen = []
        inner = device._library.meshkv_attend
        class Spy:
            def __call__(self, *args):
                seen.extend([args[4], args[5]])
                return inner(*args)
        device._library.meshkv_attend = Spy()
        made = device.attend(1, [0], Tensor(q), out=out)
        device._library.meshkv_attend = inner
        array = getattr(out, "array", out)
        print(made is out, seen == [q.ctypes.data, array.ctypes.data], (array == q).all(), device.length(0, 1))
    into = [np.zeros(shape, np.float32) for shape in ((1, 6), (1, 6), (1, 6, 32))]
    print(device.partials(1, [0], q, out=into) is into)
"#,
        "",
    );
    assert_eq!(printed, "True True True False False\nTrue True True 10\nTrue True True 10\nTrue\n");
}

#[test]
fn an_array_that_results_cannot_go_into_is_refused_with_what_to_give() {
    let printed = run(
        r#"
with meshkv.Device("./libmeshkv.so", "card.xclbin") as device:
    device.begin(0)
    device.append(0, 0, drawn(3, 5, 32), drawn(3, 5, 32))
    q = drawn(1, 6, 32)
    fixed = q.copy()
    fixed.flags.writeable = False
    for out in (fixed, Tensor(fixed), q.tolist(), drawn(1, 6, 32).astype(np.float32), drawn(1, 5, 32), drawn(1, 12, 32)[:, ::2], q):
        tried(device.attend, 0, [0], q, out=out)
    tried(device.partials, 0, [0], q, out=[None, None, drawn(1, 6, 32)])
    tried(device.partials, 0, [0], q, out=[None])
    tried(device.attend, 0, [0], Tensor(q, 2))
    tried(device.append, 0, 0, drawn(3, 32), drawn(3, 32))
    tried(device.append, 0, 0, drawn(3, 5, 32), drawn(3, 4, 32))
    print(device.length(0, 0))
"#,
        "",
    );
    let way = "; give numpy.empty((1, 6, 32), numpy.float16), or a tensor of that shape and type";
    let unwritten = |what: &str| {
        format!("Refused out cannot be written: {what} is read-only or has no memory of its own{way}")
    };
    let expected = [
        unwritten("ndarray"),
        unwritten("Tensor"),
        unwritten("list"),
        format!("Refused out has the type float32, and results are float16{way}"),
        format!("Refused out has the shape (1, 5, 32), not (1, 6, 32), which is [stream][head][dim]{way}"),
        format!("Refused out has gaps, and results lie without{way}"),
        "Refused outputs overlap queries: give them a buffer of their own".to_owned(),
        format!("Refused out[2] has the type float16, and results are float32{}", way.replace("16", "32")),
        "Refused out has 1 arrays, and partial results are three: l, m and o".to_owned(),
        "Refused queries are in the memory of another device (type 2 of DLPack): copy them to the host first, a tensor of PyTorch with `.cpu()`".to_owned(),
        "Refused keys have the shape (3, 32), not (3, any, 32), which is [KV head][token][dim]".to_owned(),
        "Refused values have the shape (3, 4, 32), not (3, 5, 32), which is [KV head][token][dim]".to_owned(),
        "5".to_owned(),
    ];
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn other_threads_go_on_while_a_call_runs_and_a_close_waits_for_it() {
    let printed = run(
        r#"
device = meshkv.Device("./libmeshkv.so", "card.xclbin", limit=1)
print(type(device._library) is ctypes.CDLL, isinstance(device._library, ctypes.PyDLL))
device.begin(0)
device.append(0, 0, drawn(3, 5, 32), drawn(3, 5, 32))
ended = []
def call():
    begun = time.monotonic()
    try:
        device.attend(0, [0], drawn(1, 6, 32))
    except meshkv.Failed as why:
        ended.append((time.monotonic() - begun, str(why)))
thread = threading.Thread(target=call)
thread.start()
while not device._calls.locked():
    pass
count = 0
while thread.is_alive() and count < 1000000:
    count += 1
    if count == 1000:
        print("before its end:", not ended)
        device.close()
        print("after its end:", len(ended))
thread.join()
print(count >= 1000, ended[0][0] > 0.9)
tried(device.length, 0, 0)
"#,
        "hang",
    );
    let expected =
        "True False\nbefore its end: True\nafter its end: 1\nTrue True\nRefused no device is open\n";
    assert_eq!(printed, expected);
}

#[test]
fn calls_of_several_threads_get_their_own_results_and_reasons() {
    let printed = run(
        r#"
import sys
sys.setswitchinterval(1e-5)
wrong = []
with meshkv.Device("./libmeshkv.so", "card.xclbin") as device:
    def work(stream):
        random = np.random.default_rng(stream)
        device.begin(stream)
        for step in range(1, 41):
            q, k, v = (random.standard_normal((1, heads, 32)).astype(np.float16) for heads in (6, 3, 3))
            out = device.append_and_attend(0, [stream], q, k, v)
            if (out != q).any() or device.length(stream, 0) != step:
                wrong.append((stream, step))
            try:
                device.begin(stream)
            except meshkv.Refused as why:
                if str(why) != f"stream {stream} has begun already: end it first":
                    wrong.append(str(why))
        device.end(stream)
    threads = [threading.Thread(target=work, args=(stream,)) for stream in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
print(wrong)
"#,
        "",
    );
    assert_eq!(printed, "[]\n");
}
