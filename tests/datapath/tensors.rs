//! Reading of tensors: sound files are read unchanged, and a wrong file gets a message with a way out.

use meshkv::config::KvFormat;
use meshkv::model::datapath::tensors::{layers, synthetic, Logits, Synthetic, TensorError, Tensors};
use safetensors::tensor::{serialize, TensorView};
use safetensors::Dtype;
use std::path::Path;

type Entry = (&'static str, Dtype, Vec<usize>, Vec<u8>);

fn f16(name: &'static str, shape: [usize; 3]) -> Entry {
    let count: usize = shape.iter().product();
    (name, Dtype::F16, shape.to_vec(), (0..count as u16).flat_map(|i| (i % 1000).to_le_bytes()).collect())
}

/// A good layer 0: 4 heads, 2 KV heads, 3 positions, 5 tokens, 8 elements.
fn good() -> Vec<Entry> {
    vec![f16("layers.0.q", [4, 3, 8]), f16("layers.0.k", [2, 5, 8]), f16("layers.0.v", [2, 5, 8])]
}

fn file(entries: &[Entry]) -> Vec<u8> {
    let views = entries.iter().map(|(name, dtype, shape, data)| {
        (*name, TensorView::new(*dtype, shape.clone(), data).expect("a view"))
    });
    serialize(views, None).expect("a file")
}

fn refused(change: impl FnOnce(&mut Vec<Entry>)) -> String {
    let mut entries = good();
    change(&mut entries);
    Tensors::parse(&file(&entries), 0).expect_err("it is wrong").to_string()
}

#[test]
fn a_layer_is_read_and_query_heads_share_their_kv_head() {
    let tensors = Tensors::parse(&file(&good()), 0).unwrap();
    let sizes = (tensors.heads, tensors.kv_heads, tensors.positions, tensors.tokens, tensors.head_dim);
    assert_eq!(sizes, (4, 2, 3, 5, 8));
    assert_eq!(tensors.query(1, 2), (40..48).collect::<Vec<u16>>());
    assert_eq!(tensors.keys(0), (0..40).collect::<Vec<u16>>());
    assert_eq!((tensors.keys(1), tensors.values(2)), (tensors.keys(0), tensors.values(3)));
    assert_eq!(tensors.values(3)[0], 40);
    assert_eq!(layers(&file(&good())).unwrap(), [0]);
}

#[test]
fn keys_and_values_of_other_types_become_numbers_of_fp16() {
    let of = |dtype: Dtype, bytes: &[u8]| {
        let size = bytes.len();
        let data = bytes.repeat(80);
        assert_eq!(data.len() / 80, size);
        let mut entries = good();
        (1..3).for_each(|at| entries[at] = (entries[at].0, dtype, vec![2, 5, 8], data.clone()));
        Tensors::parse(&file(&entries), 0).unwrap()
    };
    // 1.5, but for the last: 2^-25 is half of the smallest number of FP16, and becomes 0.
    for (dtype, bytes, format, bits, rounded) in [
        (Dtype::BF16, vec![0xc0, 0x3f], KvFormat::Bf16, 0x3e00, 0),
        (Dtype::F32, 1.5f32.to_le_bytes().to_vec(), KvFormat::Fp16, 0x3e00, 0),
        (Dtype::F8_E4M3, vec![0x3c], KvFormat::Fp8E4m3, 0x3e00, 0),
        (Dtype::F8_E5M2, vec![0x3e], KvFormat::Fp8E5m2, 0x3e00, 0),
        (Dtype::I8, vec![0xfe], KvFormat::Int8, 0xc000, 0),
        (Dtype::BF16, vec![0x00, 0x33], KvFormat::Bf16, 0, 160),
    ] {
        let tensors = of(dtype, &bytes);
        assert_eq!(
            (tensors.format, tensors.keys(0)[7], tensors.values(3)[0]),
            (format, bits, bits),
            "{dtype:?}"
        );
        assert_eq!((tensors.rounded, tensors.scales(0)), (rounded, [1.0; 2]), "{dtype:?}");
    }
    let mut entries = good();
    entries.push(("layers.0.k_scale", Dtype::F32, vec![2], [0.5f32, 0.25].map(f32::to_le_bytes).concat()));
    entries.push(("layers.0.v_scale", Dtype::F32, vec![], 3f32.to_le_bytes().to_vec()));
    let tensors = Tensors::parse(&file(&entries), 0).unwrap();
    assert_eq!((tensors.scales(1), tensors.scales(2)), ([0.5, 3.0], [0.25, 3.0]));
    assert_eq!(tensors.token_scales(0), None);
}

#[test]
fn tokens_may_have_scales_of_their_own() {
    let mut entries = good();
    let scales: Vec<u8> = (0..10u16).flat_map(|at| (0x3000 + at).to_le_bytes()).collect();
    entries.push(("layers.0.k_scale", Dtype::F16, vec![2, 5], scales));
    let tensors = Tensors::parse(&file(&entries), 0).unwrap();
    // V has none, so its are 1.
    assert_eq!(tensors.token_scales(0).unwrap()[4], [0x3004, 0x3c00]);
    assert_eq!(tensors.token_scales(3).unwrap()[0], [0x3005, 0x3c00]);
    assert_eq!(tensors.scales(0), [1.0; 2]);
    let beyond = [0.5f32, 0.5, 0.5, 0.5, 0.5, 0.5, 2.0, 0.5, 0.5, 0.5].map(f32::to_le_bytes).concat();
    let refused = refused(|entries| entries.push(("layers.0.v_scale", Dtype::F32, vec![2, 5], beyond)));
    assert_eq!(
        refused,
        "layers.0.v_scale[1, 1] is 2; a scale of a token is kept in FP16, and is from 2^-14 up to 2: put a factor into \
         that of its KV head"
    );
}

#[test]
fn wrong_tensors_get_a_clear_message() {
    let missing = refused(|entries| drop(entries.remove(2)));
    assert_eq!(missing, "no tensor layers.0.v; the file has layers 0 to 0");
    let other = refused(|entries| entries.iter_mut().for_each(|entry| entry.0 = &entry.0[7..]));
    assert_eq!(other, "no tensor layers.0.q; the file has 3 others and none named as layers.0.q; the nearest: 0.q, 0.k, 0.v");
    let single = refused(|entries| {
        entries[1] = ("layers.0.k", Dtype::F32, vec![2, 5, 8], vec![0; 320]);
    });
    assert_eq!(single, "layers.0.v is F16 and the keys are F32; a cache has one format for both");
    let double = refused(|entries| entries[1] = ("layers.0.k", Dtype::F64, vec![2, 5, 8], vec![0; 640]));
    let types =
        "meshkv reads F16, BF16, F32, F8_E4M3, F8_E5M2 and I8: convert it, `tensor.half()` in PyTorch";
    assert_eq!(double, format!("layers.0.k is F64; {types}"));
    let narrow = refused(|entries| entries[0] = ("layers.0.q", Dtype::F8_E4M3, vec![4, 3, 8], vec![0; 96]));
    assert_eq!(
        narrow,
        "layers.0.q is F8_E4M3; queries are F16, BF16 or F32, whatever the format of the cache"
    );
    let beyond = refused(|entries| {
        let mut data = vec![0; 80 * 2];
        data[98..100].copy_from_slice(&0x4780_u16.to_le_bytes());
        entries[1] = ("layers.0.k", Dtype::BF16, vec![2, 5, 8], data);
    });
    assert_eq!(
        beyond,
        "layers.0.k[1, 1, 1] is 65536, and FP16 ends at 65504; divide the tensor by a power of two"
    );
    let nan = refused(|entries| entries[1] = ("layers.0.k", Dtype::F8_E4M3, vec![2, 5, 8], vec![0x7f; 80]));
    assert!(nan.starts_with("layers.0.k[0, 0, 0] is NaN"), "{nan}");
    let factor = refused(|entries| {
        entries.push((
            "layers.0.k_scale",
            Dtype::F32,
            vec![2],
            [1.0f32, -1.0].map(f32::to_le_bytes).concat(),
        ));
    });
    assert_eq!(factor, "layers.0.k_scale[1] is -1; a factor is a positive normal number");
    let factors = refused(|entries| entries.push(("layers.0.v_scale", Dtype::F32, vec![3], vec![0; 12])));
    assert_eq!(
        factors,
        "layers.0.v_scale has shape [3]; factors are F32, one for all KV heads or one for each of 2; or [2, 5], one for each \
         KV head and token"
    );
    let flat = refused(|entries| entries[0].2 = vec![12, 8]);
    assert!(flat.starts_with("layers.0.q has shape [12, 8]; it must have three dimensions"), "{flat}");
    let empty = refused(|entries| entries[1] = f16("layers.0.k", [2, 0, 8]));
    assert!(empty.contains("none of them empty"), "{empty}");
    let narrow = refused(|entries| entries[1] = f16("layers.0.k", [2, 5, 4]));
    assert_eq!(narrow, "layers.0.k has shape [2, 5, 4]; its rows must have the 8 elements of the queries");
    let short = refused(|entries| entries[2] = f16("layers.0.v", [2, 4, 8]));
    assert_eq!(short, "layers.0.v has shape [2, 4, 8]; it must be that of k, [2, 5, 8]");
    let heads = refused(|entries| {
        entries[1] = f16("layers.0.k", [3, 5, 8]);
        entries[2] = f16("layers.0.v", [3, 5, 8]);
    });
    assert_eq!(heads, "layers.0.k has shape [3, 5, 8]; its heads must divide the 4 of q");
}

#[test]
fn a_number_that_is_not_finite_is_named_by_its_place() {
    // Element 59 of [2, 5, 8] is [1, 2, 3].
    let place = |bits: u16| refused(|entries| entries[2].3[118..120].copy_from_slice(&bits.to_le_bytes()));
    let rest = "; attention of it has no finite result";
    assert_eq!(place(0x7e00), format!("layers.0.v[1, 2, 3] is NaN{rest}"));
    assert_eq!(place(0xfc00), format!("layers.0.v[1, 2, 3] is infinite{rest}"));
}

#[test]
fn a_file_cut_off_anywhere_is_refused() {
    let whole = file(&good());
    for length in (0..whole.len()).step_by(7) {
        let error = Tensors::parse(&whole[..length], 0).unwrap_err();
        assert!(matches!(error, TensorError::Damaged(_)), "{length}: {error}");
        assert!(error.to_string().contains("is the download complete?"));
    }
    let nowhere = Tensors::read(Path::new("/nonexistent/file"), 0).unwrap_err();
    assert!(nowhere.to_string().starts_with("cannot read it: "), "{nowhere}");
}

#[test]
fn a_file_of_many_names_shows_a_few_of_them_and_what_it_seems_to_be() {
    let header = |names: &mut dyn Iterator<Item = String>| {
        let entry =
            |name: String| format!("{name:?}:{{\"dtype\":\"F16\",\"shape\":[0],\"data_offsets\":[0,0]}}");
        let header = format!("{{{}}}", names.map(entry).collect::<Vec<_>>().join(","));
        [&(header.len() as u64).to_le_bytes()[..], header.as_bytes()].concat()
    };
    let refused = |bytes: &[u8]| Tensors::parse(bytes, 0).unwrap_err().to_string();
    let many =
        refused(&header(&mut (0..100_000).map(|n| format!("tensor.{n}")).chain(["layer.0.q".to_owned()])));
    assert!(
        many.contains("the file has 100001 others") && many.contains("the nearest: layer.0.q, "),
        "{many}"
    );
    assert!(many.len() < 300, "{many}");
    let long = refused(&header(&mut std::iter::once("x".repeat(1_000_000))));
    assert!(long.len() < 300, "{long}");
    let weights = (0..32).map(|n| format!("model.layers.{n}.self_attn.q_proj.weight"));
    let weights = refused(&header(&mut weights.into_iter()));
    assert!(weights.contains("seems to have the weights of a model (32 tensors, "), "{weights}");
    assert_eq!(refused(&header(&mut std::iter::empty())), "no tensor layers.0.q; the file has no tensors");
    for (begin, says) in [
        (&b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n"[..], "a pointer of Git LFS"),
        (b"PK\x03\x04 and so on", "a ZIP archive"),
        (b"<!DOCTYPE html><html>", "a page of the web"),
        (b"{\"weight_map\": {}}", "JSON, as the index of a model"),
    ] {
        let said = refused(begin);
        assert!(said.starts_with("no safetensors file, but ") && said.contains(says), "{said}");
    }
}

/// Bytes of a tensor of another layer: more than any memory of this test has.
const LARGE: u64 = 1 << 36;

#[test]
fn a_layer_of_a_large_file_is_read_without_the_rest() {
    let (mut header, mut end) = (Vec::new(), 0);
    let mut add = |name: String, shape: &str, bytes: u64| {
        let begin = end;
        end += bytes;
        header.push(format!(
            "{name:?}:{{\"dtype\":\"F16\",\"shape\":{shape},\"data_offsets\":[{begin},{end}]}}"
        ));
    };
    for part in ["q", "k", "v"] {
        add(format!("layers.1.{part}"), &format!("[{}]", LARGE / 2), LARGE);
        add(format!("layers.0.{part}"), "[2,4,8]", 128);
    }
    let header = format!("{{{}}}", header.join(","));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sparse.safetensors");
    std::fs::write(&path, [&(header.len() as u64).to_le_bytes()[..], header.as_bytes()].concat()).unwrap();
    // The rest is a hole, which reads as zeros.
    std::fs::File::options().write(true).open(&path).unwrap().set_len(8 + header.len() as u64 + end).unwrap();
    let tensors = Tensors::read(&path, 0).unwrap();
    assert_eq!((tensors.heads, tensors.tokens, tensors.query(1, 3)), (2, 4, &[0; 8][..]));
}

#[test]
fn a_seed_gives_the_same_tensors_everywhere() {
    let what = |seed, logits| Synthetic {
        seed,
        heads: 2,
        kv_heads: 1,
        positions: 1,
        tokens: 3,
        head_dim: 4,
        logits,
    };
    let normal = synthetic(&what(1, Logits::Normal));
    assert_eq!(normal, synthetic(&what(1, Logits::Normal)));
    assert_ne!(normal, synthetic(&what(2, Logits::Normal)));
    assert_eq!(normal.query(0, 0), [15588, 12691, 15474, 13978]);
}
