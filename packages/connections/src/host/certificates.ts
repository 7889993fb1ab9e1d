/**
 * Certificates (RFC 5280) of this Lodge's authority, and of the hosts of connections by it. Only machines of agents with host
 * connections trust the authority, and only names of their connections are led to this host. All keys are of the curve P-256.
 */
import { createPrivateKey, generateKeyPair, hash, randomBytes, sign, X509Certificate } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';
import { promisify } from 'node:util';
import type { Authority, AuthorityMaker } from '@lodge/ports';
import { bits, context, contextBytes, identifier, integer, octets, sequence, set, text, time, yes } from './der.ts';

const dayMs = 24 * 3_600_000;
/** A machine's clock may be behind. */
const earlierMs = 2 * dayMs;
const authorityMs = 20 * 365 * dayMs;
const hostMs = 90 * dayMs;
/** Age after which a certificate is made anew. */
const renewedMs = 30 * dayMs;
const mostKept = 1_000;

const ecdsaWithSha256 = sequence(identifier('1.2.840.10045.4.3.2'));
const nameOf = (name: string): Buffer => sequence(set(sequence(identifier('2.5.4.3'), text(name))));
const extension = (id: string, value: Uint8Array, isCritical = false): Buffer =>
  sequence(identifier(id), ...(isCritical ? [yes] : []), octets(value));
const newKeys = promisify(generateKeyPair);

interface Wanted {
  readonly issuer: Buffer;
  readonly subject: Buffer;
  /** The subject's key, as SubjectPublicKeyInfo. */
  readonly publicKey: Buffer;
  readonly lifeMs: number;
  readonly extensions: readonly Buffer[];
}

function certificate({ issuer, subject, publicKey, lifeMs, extensions }: Wanted, signer: KeyObject): string {
  const now = Date.now();
  const serial = randomBytes(16);
  const body = sequence(
    context(0, integer(Buffer.from([2]))),
    integer(serial),
    ecdsaWithSha256,
    issuer,
    sequence(time(new Date(now - earlierMs)), time(new Date(now + lifeMs))),
    subject,
    publicKey,
    context(3, sequence(...extensions)),
  );
  const whole = sequence(body, ecdsaWithSha256, bits(sign('sha256', body, signer)));
  const lines = whole.toString('base64').match(/.{1,64}/g)!;
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

const keyId = (publicKey: Uint8Array): Buffer => hash('sha256', publicKey, 'buffer').subarray(0, 20);

/** The name of each authority has a part of its own, so that a machine never confuses two. */
const authorityName = (id: string): Buffer => nameOf(`Lodge host connections ${id}`);

export const authorityMaker: AuthorityMaker = {
  async make(): Promise<Authority> {
    const { publicKey, privateKey } = await newKeys('ec', { namedCurve: 'P-256' });
    const spki = publicKey.export({ type: 'spki', format: 'der' });
    const own = authorityName(randomBytes(4).toString('hex'));
    const extensions = [
      extension('2.5.29.19', sequence(yes, integer(Buffer.from([0]))), true),
      // Signs certificates and lists of revoked ones.
      extension('2.5.29.15', bits(Buffer.from([0b0000_0110]), 1), true),
      extension('2.5.29.14', octets(keyId(spki))),
      extension('2.5.29.35', sequence(contextBytes(0, keyId(spki)))),
    ];
    const wanted = { issuer: own, subject: own, publicKey: spki, lifeMs: authorityMs, extensions };
    return {
      certificate: certificate(wanted, privateKey),
      key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    };
  },
};

interface Kept {
  readonly context: SecureContext;
  readonly until: number;
}

/** Makes certificates of hosts on demand, and keeps the last of them. All have one key, which this process draws. */
export class HostCertificates {
  readonly #authority: () => Promise<Authority>;
  readonly #kept = new Map<string, Kept>();
  #signer: Promise<Signer> | null = null;

  constructor(authority: () => Promise<Authority>) {
    this.#authority = authority;
  }

  async of(host: string): Promise<SecureContext> {
    const there = this.#kept.get(host);
    this.#kept.delete(host);
    const kept = there && there.until > Date.now() ? there : await this.#make(host);
    this.#kept.set(host, kept);
    if (this.#kept.size > mostKept) this.#kept.delete(this.#kept.keys().next().value!);
    return kept.context;
  }

  async #make(host: string): Promise<Kept> {
    this.#signer ??= newSigner(this.#authority).catch((error: unknown) => {
      this.#signer = null;
      throw error;
    });
    const { issuer, issuerKeyId, authorityKey, publicKey, key } = await this.#signer;
    const extensions = [
      extension('2.5.29.19', sequence(), true),
      // Signs handshakes.
      extension('2.5.29.15', bits(Buffer.from([0b1000_0000]), 7), true),
      extension('2.5.29.37', sequence(identifier('1.3.6.1.5.5.7.3.1'))),
      extension('2.5.29.14', octets(keyId(publicKey))),
      extension('2.5.29.35', sequence(contextBytes(0, issuerKeyId))),
      extension('2.5.29.17', sequence(contextBytes(2, Buffer.from(host)))),
    ];
    // A common name has at most 64 characters; the name that counts is in the extension.
    const subject = nameOf(host.slice(0, 64));
    const cert = certificate({ issuer, subject, publicKey, lifeMs: hostMs, extensions }, authorityKey);
    return { context: createSecureContext({ cert, key, minVersion: 'TLSv1.2' }), until: Date.now() + renewedMs };
  }
}

interface Signer {
  /** The authority's name and key id, as its certificate has them. */
  readonly issuer: Buffer;
  readonly issuerKeyId: Buffer;
  readonly authorityKey: KeyObject;
  /** The one key of the hosts' certificates. */
  readonly publicKey: Buffer;
  readonly key: string;
}

async function newSigner(authority: () => Promise<Authority>): Promise<Signer> {
  const { certificate: pem, key } = await authority();
  const own = new X509Certificate(pem);
  const name = /^CN=(.*)$/m.exec(own.subject)?.[1] ?? '';
  const hosts = await newKeys('ec', { namedCurve: 'P-256' });
  return {
    issuer: nameOf(name),
    issuerKeyId: keyId(own.publicKey.export({ type: 'spki', format: 'der' })),
    authorityKey: createPrivateKey(key),
    publicKey: hosts.publicKey.export({ type: 'spki', format: 'der' }),
    key: hosts.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}
