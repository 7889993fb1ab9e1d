/** Keys of the stub: X25519 by Node's own crypto, so that the stub does not lean on the library of the client under test. */
import { createPrivateKey, createPublicKey, diffieHellman, generateKeyPairSync, hkdfSync } from 'node:crypto';

export interface KeyPair {
  readonly public: Buffer;
  readonly private: Buffer;
}

const privatePrefix = Buffer.from('302e020100300506032b656e04220420', 'hex');
const publicPrefix = Buffer.from('302a300506032b656e032100', 'hex');

export function newKeyPair(): KeyPair {
  const { privateKey } = generateKeyPairSync('x25519');
  return keyPairOf(privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(privatePrefix.length));
}

/** From the 32 bytes of a private key. */
export function keyPairOf(bytes: Uint8Array): KeyPair {
  const key = createPrivateKey({ key: Buffer.concat([privatePrefix, bytes]), format: 'der', type: 'pkcs8' });
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  return { private: Buffer.from(bytes), public: spki.subarray(publicPrefix.length) };
}

export const agree = (privateBytes: Uint8Array, publicBytes: Uint8Array): Buffer =>
  diffieHellman({
    privateKey: createPrivateKey({ key: Buffer.concat([privatePrefix, privateBytes]), format: 'der', type: 'pkcs8' }),
    publicKey: createPublicKey({ key: Buffer.concat([publicPrefix, publicBytes]), format: 'der', type: 'spki' }),
  });

export const expand = (secret: Uint8Array, bytes: number, salt: Uint8Array, info: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, salt, info, bytes));
