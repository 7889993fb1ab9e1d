/**
 * Whether it is WhatsApp's server that answered the handshake. The server's static key comes encrypted, with a chain of two
 * certificates: the root signs the intermediate, the intermediate signs the leaf, and the leaf names that static key. All of it is
 * checked here by Node's own cryptography, before anything that identifies the device is sent.
 */
import {
  createDecipheriv,
  createHash,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hkdfSync,
  verify,
} from 'node:crypto';

export interface Handshake {
  readonly ephemeral: { readonly public: Uint8Array; readonly private: Uint8Array };
  /** Public key of the root. */
  readonly root: Uint8Array;
}

export interface ServerHello {
  readonly ephemeral?: Uint8Array | null;
  readonly static?: Uint8Array | null;
  readonly payload?: Uint8Array | null;
}

/** WhatsApp's own root, as its clients have it (`WA_CERT_DETAILS` of baileys, `WACertPubKey` of whatsmeow). */
export const whatsAppRoot: Uint8Array = Buffer.from(
  '142375574d0a587166aae71ebe516437c4a28b73e3695c6ce1f7f9545da8ee6b',
  'hex',
);

const prologue = Buffer.from([0x57, 0x41, 6, 3]);
const rootSerial = 0;
const maxChainBytes = 4_096;

/** Throws or is false for anything else than a good chain. */
export function isTrustedServer(hello: ServerHello | null | undefined, { ephemeral, root }: Handshake): boolean {
  if (hello?.ephemeral?.length !== 32 || !hello.static || !hello.payload || hello.payload.length > maxChainBytes)
    return false;
  const noise = new Initiator(ephemeral.public);
  noise.mixHash(hello.ephemeral);
  noise.mixKey(agree(ephemeral.private, hello.ephemeral));
  const staticKey = noise.decrypt(hello.static);
  noise.mixKey(agree(ephemeral.private, staticKey));
  const chain = fieldsOf(noise.decrypt(hello.payload));
  const leaf = certificateOf(chain.get(1));
  const intermediate = certificateOf(chain.get(2));
  return (
    intermediate.issuerSerial === rootSerial &&
    leaf.issuerSerial === intermediate.serial &&
    isSigned(root, intermediate.details, intermediate.signature) &&
    isSigned(intermediate.key, leaf.details, leaf.signature) &&
    Buffer.from(leaf.key).equals(staticKey)
  );
}

/** As much of Noise_XX_25519_AESGCM_SHA256 as the first answer needs. */
class Initiator {
  private hash = Buffer.from('Noise_XX_25519_AESGCM_SHA256\0\0\0\0');
  private salt = this.hash;
  private key = this.hash;
  private counter = 0;

  constructor(ephemeral: Uint8Array) {
    this.mixHash(prologue);
    this.mixHash(ephemeral);
  }

  mixHash(bytes: Uint8Array): void {
    this.hash = createHash('sha256').update(this.hash).update(bytes).digest();
  }

  mixKey(secret: Uint8Array): void {
    const both = Buffer.from(hkdfSync('sha256', secret, this.salt, '', 64));
    this.salt = both.subarray(0, 32);
    this.key = both.subarray(32);
    this.counter = 0;
  }

  decrypt(sealed: Uint8Array): Buffer {
    const nonce = Buffer.alloc(12);
    nonce.writeUInt32BE(this.counter++, 8);
    const decipher = createDecipheriv('aes-256-gcm', this.key, nonce).setAAD(this.hash);
    decipher.setAuthTag(sealed.subarray(sealed.length - 16));
    const plain = Buffer.concat([decipher.update(sealed.subarray(0, sealed.length - 16)), decipher.final()]);
    this.mixHash(sealed);
    return plain;
  }
}

const privatePrefix = Buffer.from('302e020100300506032b656e04220420', 'hex');
const publicPrefix = Buffer.from('302a300506032b656e032100', 'hex');
const ed25519Prefix = Buffer.from('302a300506032b6570032100', 'hex');

/** X25519. Node refuses points that give nothing but zeros. */
const agree = (ownPrivate: Uint8Array, theirs: Uint8Array): Buffer =>
  diffieHellman({
    privateKey: createPrivateKey({ key: Buffer.concat([privatePrefix, ownPrivate]), format: 'der', type: 'pkcs8' }),
    publicKey: createPublicKey({ key: Buffer.concat([publicPrefix, theirs]), format: 'der', type: 'spki' }),
  });

const prime = 2n ** 255n - 19n;

/** XEdDSA: a signature of Ed25519 by a key of X25519, with the sign of the point in the signature's last bit. */
export function isSigned(x25519: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (x25519.length !== 32 || signature.length !== 64) return false;
  const u = littleEndian(x25519) & (2n ** 255n - 1n);
  const y = modulo((u - 1n) * inverse(modulo(u + 1n)));
  const point = bytesOf(y);
  point[31]! |= signature[63]! & 0x80;
  const plain = Buffer.from(signature);
  plain[63]! &= 0x7f;
  const key = createPublicKey({ key: Buffer.concat([ed25519Prefix, point]), format: 'der', type: 'spki' });
  return verify(null, message, key, plain);
}

const modulo = (value: bigint): bigint => ((value % prime) + prime) % prime;

/** By Fermat; zero for zero. */
function inverse(value: bigint): bigint {
  let result = 1n;
  let base = value;
  for (let exponent = prime - 2n; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = (result * base) % prime;
    base = (base * base) % prime;
  }
  return result;
}

function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes.toReversed()).toString('hex')}`);
}

const bytesOf = (value: bigint): Buffer =>
  Buffer.from(Buffer.from(value.toString(16).padStart(64, '0'), 'hex').toReversed());

interface Certificate {
  readonly details: Uint8Array;
  readonly signature: Uint8Array;
  readonly serial: number;
  readonly issuerSerial: number;
  readonly key: Uint8Array;
}

function certificateOf(field: Uint8Array | number | undefined): Certificate {
  const outer = fieldsOf(bytes(field));
  const details = bytes(outer.get(1));
  const inner = fieldsOf(details);
  const number = (at: number): number => {
    const value = inner.get(at) ?? 0;
    if (typeof value !== 'number') throw new Error('a certificate has a number that is none');
    return value;
  };
  return {
    details,
    signature: bytes(outer.get(2)),
    serial: number(1),
    issuerSerial: number(2),
    key: bytes(inner.get(3)),
  };
}

function bytes(field: Uint8Array | number | undefined): Uint8Array {
  if (!(field instanceof Uint8Array)) throw new Error('a certificate lacks a part');
  return field;
}

/** Fields of a message of Protocol Buffers, by number: whole numbers and bytes, the last one of each. Throws for anything else. */
function fieldsOf(message: Uint8Array): Map<number, Uint8Array | number> {
  const fields = new Map<number, Uint8Array | number>();
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; shift < 56; shift += 7) {
      const byte = message[at++];
      if (byte === undefined) break;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new Error('a certificate is cut off');
  };
  while (at < message.length) {
    const tag = varint();
    if ((tag & 7) === 0) fields.set(tag >>> 3, varint());
    else if ((tag & 7) === 2) {
      const end = varint() + at;
      if (end > message.length) throw new Error('a certificate is cut off');
      fields.set(tag >>> 3, message.subarray(at, end));
      at = end;
    } else throw new Error('a certificate has a field of another kind');
  }
  return fields;
}
