/** The part of DER (X.690) that certificates need: values of bounded length, written and never read. */

const tagged = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag]), lengthOf(body.length), body]);
};

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  if (length < 0x100) return Buffer.from([0x81, length]);
  return Buffer.from([0x82, length >> 8, length & 0xff]);
}

export const sequence = (...parts: readonly Uint8Array[]): Buffer => tagged(0x30, ...parts);
export const set = (...parts: readonly Uint8Array[]): Buffer => tagged(0x31, ...parts);
export const octets = (...parts: readonly Uint8Array[]): Buffer => tagged(0x04, ...parts);
export const text = (value: string): Buffer => tagged(0x0c, Buffer.from(value));
export const yes: Buffer = Buffer.from([0x01, 0x01, 0xff]);
/** A constructed value with a number as its tag, in a context that gives it a meaning. */
export const context = (number: number, ...parts: readonly Uint8Array[]): Buffer => tagged(0xa0 + number, ...parts);
/** The same for plain bytes. */
export const contextBytes = (number: number, bytes: Uint8Array): Buffer => tagged(0x80 + number, bytes);
/** `unused` are bits at the end that do not count. */
export const bits = (bytes: Uint8Array, unused = 0): Buffer => tagged(0x03, Buffer.from([unused]), bytes);

/** A positive number of these bytes. */
export function integer(bytes: Uint8Array): Buffer {
  const from = bytes.findIndex((byte) => byte !== 0);
  const significant = from < 0 ? Buffer.from([0]) : bytes.subarray(from);
  return significant[0]! >= 0x80 ? tagged(0x02, Buffer.from([0]), significant) : tagged(0x02, significant);
}

/** An object identifier, such as `2.5.29.17`. */
export function identifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return tagged(0x06, Buffer.from([40 * first + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const digits = [value & 0x7f];
  for (let left = value >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80);
  return digits;
}

/** A time before 2050 as UTCTime, a later one as GeneralizedTime (RFC 5280, 4.1.2.5). */
export function time(at: Date): Buffer {
  const digits = at.toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return at.getUTCFullYear() < 2050 ? tagged(0x17, Buffer.from(digits.slice(2))) : tagged(0x18, Buffer.from(digits));
}
