/**
 * Looks for bytes below 0x20, sixteen at a time: every byte of every document is looked at, and JavaScript has no way to
 * more than four at once. The function is small enough to stand here as the bytes of its WebAssembly module:
 *
 *     (module
 *       (memory (export "m") 1)
 *       (func (export "f") (param $end i32) (result i32) (local $at i32) (local $least v128)
 *         (local.set $least (v128.const i64x2 -1 -1))
 *         (loop $next
 *           (local.set $least (i8x16.min_u (local.get $least) (v128.load align=1 (local.get $at))))
 *           (local.set $at (i32.add (local.get $at) (i32.const 16)))
 *           (br_if $next (i32.lt_u (local.get $at) (local.get $end))))
 *         (v128.any_true (i8x16.lt_u (local.get $least) (i8x16.splat (i32.const 0x20))))))
 */
// prettier-ignore
const MODULE = Uint8Array.of(
  0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, // magic, version
  0x01, 0x06, 0x01, 0x60, 0x01, 0x7f, 0x01, 0x7f, // types: one, i32 -> i32
  0x03, 0x02, 0x01, 0x00, // functions: one of that type
  0x05, 0x03, 0x01, 0x00, 0x01, // memory: one page
  0x07, 0x09, 0x02, 0x01, 0x6d, 0x02, 0x00, 0x01, 0x66, 0x00, 0x00, // exports: memory "m", function "f"
  0x0a, 0x41, 0x01, 0x3f, // code: one body of 63 bytes
  0x02, 0x01, 0x7f, 0x01, 0x7b, // locals: $at i32, $least v128
  0xfd, 0x0c, // v128.const
  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
  0x21, 0x02, // local.set $least
  0x03, 0x40, // loop
  0x20, 0x02, // local.get $least
  0x20, 0x01, 0xfd, 0x00, 0x00, 0x00, // v128.load align=1 (local.get $at)
  0xfd, 0x77, 0x21, 0x02, // i8x16.min_u; local.set $least
  0x20, 0x01, 0x41, 0x10, 0x6a, 0x22, 0x01, // local.tee $at (i32.add (local.get $at) (i32.const 16))
  0x20, 0x00, 0x49, 0x0d, 0x00, // local.get $end; i32.lt_u; br_if
  0x0b, // end of the loop
  0x20, 0x02, 0x41, 0x20, 0xfd, 0x0f, // local.get $least; i8x16.splat (i32.const 0x20)
  0xfd, 0x26, 0xfd, 0x53, 0x0b, // i8x16.lt_u; v128.any_true; end
);

const LANES = 16;
const FIRST_PRINTABLE = 0x20;

/** Of every engine; only browsers' type definitions know it. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => {
    readonly exports: {
      readonly m: { readonly buffer: ArrayBuffer };
      readonly f: (end: number) => number;
    };
  };
};

const { m: memory, f: hasLower } = new WebAssembly.Instance(new WebAssembly.Module(MODULE)).exports;
/** What the function reads: bytes are copied in, piece by piece, which costs as much as reading them. */
const window = new Uint8Array(memory.buffer);

/** Whether a byte below 0x20 lies in the range. */
export function hasControlByte(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += window.length) {
    const length = Math.min(window.length, end - at);
    window.set(bytes.subarray(at, at + length));
    const whole = Math.ceil(length / LANES) * LANES;
    if (whole > length) window.fill(FIRST_PRINTABLE, length, whole);
    if (hasLower(whole) !== 0) return true;
  }
  return false;
}
