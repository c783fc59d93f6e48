import { writeFileSync } from 'node:fs';

/** Numbers of the tiny model; small enough to be loaded and run in milliseconds. */
const WIDTH = 32;
const HEADS = 2;
const INNER = 64;
const LAYERS = 2;
const CONTEXT = 128;

const UINT32 = 4;
const INT32 = 5;
const FLOAT32 = 6;
const BOOL = 7;
const STRING = 8;
const ARRAY = 9;

/** `POOLING_TYPE_RANK` of llama.cpp: the output is one score for query and document together. */
const POOLING_RANK = 4;
const ALIGNMENT = 32;

const SPECIAL = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'];
const LETTERS = Array.from('abcdefghijklmnopqrstuvwxyz0123456789.,?!');

interface Tensor {
  readonly name: string;
  /** The fastest dimension first, as the format has it. */
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

/**
 * Writes a cross-encoder (BERT with a ranking head) of about 100 kB with weights from `seed`: its scores mean nothing, but
 * llama.cpp loads and runs it like a real one.
 */
export function writeTinyReranker(path: string, seed = 1): void {
  const random = randomNumbers(seed);
  const tokens = [...SPECIAL, ...LETTERS.map((letter) => `▁${letter}`), ...LETTERS];
  const tensors = tensorsOf(tokens.length, random);
  const metadata = [
    text('general.architecture', 'bert'),
    text('general.name', 'tiny reranker'),
    uint('general.alignment', ALIGNMENT),
    uint('bert.context_length', CONTEXT),
    uint('bert.embedding_length', WIDTH),
    uint('bert.block_count', LAYERS),
    uint('bert.feed_forward_length', INNER),
    uint('bert.attention.head_count', HEADS),
    float('bert.attention.layer_norm_epsilon', 1e-12),
    entry('bert.attention.causal', BOOL, Buffer.from([0])),
    uint('bert.pooling_type', POOLING_RANK),
    text('tokenizer.ggml.model', 'bert'),
    uint('tokenizer.ggml.token_type_count', 2),
    list('tokenizer.ggml.tokens', STRING, tokens.map(string)),
    list(
      'tokenizer.ggml.token_type',
      INT32,
      // 3: a control token; 1: an ordinary one.
      tokens.map((_, index) => uint32(index < SPECIAL.length ? 3 : 1)),
    ),
    uint('tokenizer.ggml.padding_token_id', 0),
    uint('tokenizer.ggml.unknown_token_id', 1),
    uint('tokenizer.ggml.bos_token_id', 2),
    uint('tokenizer.ggml.cls_token_id', 2),
    uint('tokenizer.ggml.eos_token_id', 3),
    uint('tokenizer.ggml.seperator_token_id', 3),
    uint('tokenizer.ggml.mask_token_id', 4),
  ];
  const bodies: Buffer[] = [];
  const infos: Buffer[] = [];
  let offset = 0;
  for (const { name, shape, values } of tensors) {
    // Type 0: plain 32-bit floats.
    infos.push(
      Buffer.concat([
        string(name),
        uint32(shape.length),
        ...shape.map(uint64),
        uint32(0),
        uint64(offset),
      ]),
    );
    const body = padded(Buffer.from(values.buffer));
    bodies.push(body);
    offset += body.length;
  }
  const head = Buffer.concat([
    Buffer.from('GGUF'),
    uint32(3),
    uint64(tensors.length),
    uint64(metadata.length),
    ...metadata,
    ...infos,
  ]);
  writeFileSync(path, Buffer.concat([padded(head), ...bodies]));
}

function tensorsOf(vocabulary: number, random: () => number): Tensor[] {
  const weight = (name: string, ...shape: number[]): Tensor => ({
    name: `${name}.weight`,
    shape,
    values: Float32Array.from({ length: product(shape) }, () => random() - 0.5),
  });
  const linear = (name: string, from: number, to: number): Tensor[] => [
    weight(name, from, to),
    { name: `${name}.bias`, shape: [to], values: new Float32Array(to) },
  ];
  const norm = (name: string): Tensor[] => [
    { name: `${name}.weight`, shape: [WIDTH], values: new Float32Array(WIDTH).fill(1) },
    { name: `${name}.bias`, shape: [WIDTH], values: new Float32Array(WIDTH) },
  ];
  const layers = Array.from({ length: LAYERS }, (_, layer) => `blk.${layer}`);
  return [
    weight('token_embd', WIDTH, vocabulary),
    weight('token_types', WIDTH, 2),
    weight('position_embd', WIDTH, CONTEXT),
    ...norm('token_embd_norm'),
    ...layers.flatMap((layer) => [
      ...linear(`${layer}.attn_q`, WIDTH, WIDTH),
      ...linear(`${layer}.attn_k`, WIDTH, WIDTH),
      ...linear(`${layer}.attn_v`, WIDTH, WIDTH),
      ...linear(`${layer}.attn_output`, WIDTH, WIDTH),
      ...norm(`${layer}.attn_output_norm`),
      ...linear(`${layer}.ffn_up`, WIDTH, INNER),
      ...linear(`${layer}.ffn_down`, INNER, WIDTH),
      ...norm(`${layer}.layer_output_norm`),
    ]),
    ...linear('cls', WIDTH, WIDTH),
    ...linear('cls.output', WIDTH, 1),
  ];
}

function product(shape: readonly number[]): number {
  return shape.reduce((size, length) => size * length, 1);
}

/** Numbers in 0..1, the same in every run. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function padded(bytes: Buffer): Buffer {
  const missing = (ALIGNMENT - (bytes.length % ALIGNMENT)) % ALIGNMENT;
  return missing === 0 ? bytes : Buffer.concat([bytes, Buffer.alloc(missing)]);
}

function entry(key: string, type: number, value: Buffer): Buffer {
  return Buffer.concat([string(key), uint32(type), value]);
}

function text(key: string, value: string): Buffer {
  return entry(key, STRING, string(value));
}

function uint(key: string, value: number): Buffer {
  return entry(key, UINT32, uint32(value));
}

function float(key: string, value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return entry(key, FLOAT32, bytes);
}

function list(key: string, type: number, items: readonly Buffer[]): Buffer {
  return entry(key, ARRAY, Buffer.concat([uint32(type), uint64(items.length), ...items]));
}

function string(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([uint64(bytes.length), bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}
