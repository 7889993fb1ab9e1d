/** Noise_XX_25519_AESGCM_SHA256 as the responder, with WhatsApp's prologue, and the ciphers of the transport after it. */
import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import { agree, expand } from './curve.ts';
import type { KeyPair } from './curve.ts';

/** First bytes of a connection: `WA`, protocol 6, dictionary 3. */
export const prologue = Buffer.from([0x57, 0x41, 6, 3]);

const none = Buffer.alloc(0);
const tagBytes = 16;

export interface ResponderKeys {
  readonly static: KeyPair;
  readonly ephemeral: KeyPair;
  readonly chain: Uint8Array;
}

export interface ServerHello {
  readonly ephemeral: Buffer;
  readonly static: Buffer;
  readonly payload: Buffer;
}

export class Responder {
  private readonly keys: ResponderKeys;
  private hash: Buffer = Buffer.from('Noise_XX_25519_AESGCM_SHA256\0\0\0\0');
  private salt: Buffer = this.hash;
  private key: Buffer = this.hash;
  private counter = 0;

  constructor(keys: ResponderKeys) {
    this.keys = keys;
    this.mixHash(prologue);
  }

  /** Answers the client's ephemeral key. */
  hello(clientEphemeral: Uint8Array): ServerHello {
    this.mixHash(clientEphemeral);
    this.mixHash(this.keys.ephemeral.public);
    this.mixKey(agree(this.keys.ephemeral.private, clientEphemeral));
    const encryptedStatic = this.encrypt(this.keys.static.public);
    this.mixKey(agree(this.keys.static.private, clientEphemeral));
    return { ephemeral: this.keys.ephemeral.public, static: encryptedStatic, payload: this.encrypt(this.keys.chain) };
  }

  /** Opens the client's static key and what it says of itself. Throws when they were not made for this handshake. */
  finish(
    encryptedStatic: Uint8Array,
    encryptedPayload: Uint8Array,
  ): { static: Buffer; payload: Buffer; transport: Transport } {
    const clientStatic = this.decrypt(encryptedStatic);
    this.mixKey(agree(this.keys.ephemeral.private, clientStatic));
    const payload = this.decrypt(encryptedPayload);
    const both = expand(none, 64, this.salt, '');
    return { static: clientStatic, payload, transport: new Transport(both.subarray(0, 32), both.subarray(32)) };
  }

  private encrypt(plain: Uint8Array): Buffer {
    const sealed = seal(this.key, this.counter++, plain, this.hash);
    this.mixHash(sealed);
    return sealed;
  }

  private decrypt(sealed: Uint8Array): Buffer {
    const plain = open(this.key, this.counter++, sealed, this.hash);
    this.mixHash(sealed);
    return plain;
  }

  private mixHash(bytes: Uint8Array): void {
    this.hash = createHash('sha256').update(this.hash).update(bytes).digest();
  }

  private mixKey(secret: Uint8Array): void {
    const both = expand(secret, 64, this.salt, '');
    this.salt = both.subarray(0, 32);
    this.key = both.subarray(32);
    this.counter = 0;
  }
}

/** After the handshake: one key and one counter for each direction, nothing authenticated beside. */
export class Transport {
  private readonly fromClient: Buffer;
  private readonly toClient: Buffer;
  private reads = 0;
  private writes = 0;

  constructor(fromClient: Buffer, toClient: Buffer) {
    this.fromClient = fromClient;
    this.toClient = toClient;
  }

  seal(plain: Uint8Array): Buffer {
    return seal(this.toClient, this.writes++, plain, none);
  }

  open(sealed: Uint8Array): Buffer {
    return open(this.fromClient, this.reads++, sealed, none);
  }
}

function nonce(counter: number): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt32BE(counter, 8);
  return bytes;
}

function seal(key: Buffer, counter: number, plain: Uint8Array, beside: Buffer): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce(counter)).setAAD(beside);
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function open(key: Buffer, counter: number, sealed: Uint8Array, beside: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, nonce(counter)).setAAD(beside);
  decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes));
  return Buffer.concat([decipher.update(sealed.subarray(0, sealed.length - tagBytes)), decipher.final()]);
}
