/** How a phone links a device: by a code that it scans, or by a code that its owner types. */
import { createDecipheriv, createCipheriv, createHmac, pbkdf2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { Curve, proto } from 'baileys';
import type { BinaryNode } from 'baileys';
import type { Account } from './account.ts';
import { agree, expand, newKeyPair } from './curve.ts';
import type { KeyPair } from './curve.ts';
import type { Link } from './link.ts';
import { bytesOf, childOf, node, seconds, server } from './nodes.ts';

const derive = promisify(pbkdf2);
const refsOfQr = 6;
/** WhatsApp refuses a device that calls itself otherwise (baileys issue 2560). */
const knownDisplays = /^(Chrome|Edge|Firefox|Opera|Safari) \((Linux|Mac OS|Ubuntu|Windows)\)$/;

/** A link that has logged in as nobody, and waits to be paired. */
export class Registration {
  readonly link: Link;
  readonly refs: readonly string[];
  readonly keys: {
    registrationId: number;
    identity: Buffer;
    signedPreKey: { id: number; value: Buffer; signature: Buffer };
  };
  /** State of pairing by a typed code. */
  private hello: { readonly number: string; readonly ref: Buffer; readonly wrapped: Buffer } | null = null;
  private typed: { readonly account: Account; readonly ephemeral: KeyPair; readonly shared: Buffer } | null = null;

  constructor(link: Link, data: proto.ClientPayload.IDevicePairingRegistrationData) {
    this.link = link;
    this.refs = Array.from({ length: refsOfQr }, () => `2@${randomBytes(16).toString('base64')}`);
    this.keys = {
      registrationId: number(data.eRegid!),
      identity: Buffer.from(data.eIdent!),
      signedPreKey: {
        id: number(data.eSkeyId!),
        value: Buffer.from(data.eSkeyVal!),
        signature: Buffer.from(data.eSkeySig!),
      },
    };
  }

  askForScan(): void {
    const refs = this.refs.map((ref) => node('ref', {}, Buffer.from(ref)));
    this.link.send(
      node('iq', { from: server, type: 'set', id: 'pair-1', xmlns: 'md' }, [node('pair-device', {}, refs)]),
    );
  }

  /** Number of the phone that has to type the code; null: no code was asked for. */
  get waitsFor(): string | null {
    return this.hello?.number ?? null;
  }

  /** The device asks to be paired by a code that it shows. */
  takeHello(iq: BinaryNode, request: BinaryNode): void {
    const display = bytesOf(childOf(request, 'companion_platform_display')).toString();
    if (!knownDisplays.test(display)) {
      const error = node('error', { code: '400', text: 'bad-request' });
      return this.link.send(node('iq', { from: server, type: 'error', id: iq.attrs['id']! }, [error]));
    }
    const ref = randomBytes(16);
    const wrapped = bytesOf(childOf(request, 'link_code_pairing_wrapped_companion_ephemeral_pub'));
    this.hello = { number: request.attrs['jid']!.split('@')[0]!, ref, wrapped };
    const answer = node('link_code_companion_reg', { stage: 'companion_hello' }, [
      node('link_code_pairing_ref', {}, ref),
    ]);
    this.link.send(node('iq', { from: server, type: 'result', id: iq.attrs['id']! }, [answer]));
  }

  /** The phone's owner types the code. A wrong one opens another key, and the device cannot answer. */
  async type(account: Account, code: string): Promise<void> {
    if (!this.hello) throw new Error('no code was asked for');
    const { wrapped, ref } = this.hello;
    const companion = ctr(await codeKey(code, wrapped.subarray(0, 32)), wrapped.subarray(32, 48), wrapped.subarray(48));
    const ephemeral = newKeyPair();
    const salt = randomBytes(32);
    const iv = randomBytes(16);
    const own = Buffer.concat([salt, iv, ctr(await codeKey(code, salt), iv, ephemeral.public)]);
    this.typed = { account, ephemeral, shared: agree(ephemeral.private, companion) };
    const attrs = { type: 'link_code_companion_reg', from: server, id: `code-${Date.now()}`, t: seconds() };
    this.link.send(
      node('notification', attrs, [
        node('link_code_companion_reg', { stage: 'primary_hello' }, [
          node('link_code_pairing_wrapped_primary_ephemeral_pub', {}, own),
          node('primary_identity_pub', {}, account.accountKey.public),
          node('link_code_pairing_ref', {}, ref),
        ]),
      ]),
    );
  }

  /** The device proves that it knows the code. Throws when it does not. */
  takeFinish(iq: BinaryNode, request: BinaryNode): void {
    if (!this.typed) throw new Error('nobody typed a code');
    const { account, shared } = this.typed;
    const bundle = bytesOf(childOf(request, 'link_code_pairing_wrapped_key_bundle'));
    const key = expand(shared, 32, bundle.subarray(0, 32), 'link_code_pairing_key_bundle_encryption_key');
    const plain = gcm(key, bundle.subarray(32, 44), bundle.subarray(44));
    const identity = plain.subarray(0, 32);
    if (!identity.equals(this.keys.identity)) throw new Error('the code was typed for another device');
    const secret = Buffer.concat([shared, agree(account.accountKey.private, identity), plain.subarray(64)]);
    this.link.send(node('iq', { from: server, type: 'result', id: iq.attrs['id']! }, []));
    this.succeed(account, expand(secret, 32, Buffer.alloc(0), 'adv_secret'));
  }

  /** The phone vouches for the device: it signs its identity, under the secret that the code carried. */
  succeed(account: Account, advSecret: Uint8Array): void {
    const details = proto.ADVDeviceIdentity.encode({ rawId: 7, timestamp: Number(seconds()), keyIndex: 1 }).finish();
    const said = Buffer.concat([Buffer.from([6, 0]), details, this.keys.identity]);
    const signed = proto.ADVSignedDeviceIdentity.encode({
      details,
      accountSignatureKey: account.accountKey.public,
      accountSignature: Curve.sign(account.accountKey.private, said),
    }).finish();
    const hmac = createHmac('sha256', advSecret).update(signed).digest();
    const device = account.linkDevice(this.keys);
    const identity = proto.ADVSignedDeviceIdentityHMAC.encode({ details: signed, hmac }).finish();
    this.link.send(
      node('iq', { from: server, type: 'set', id: 'pair-2', t: seconds() }, [
        node('pair-success', {}, [
          node('device-identity', {}, identity),
          node('device', { jid: device.jid, lid: device.lid }),
          node('platform', { name: 'android' }),
        ]),
      ]),
    );
  }
}

/** The content of a QR: reference, noise key, identity key, secret. */
export function readQr(qr: string): { readonly ref: string; readonly advSecret: Buffer } {
  const [ref = '', , , secret = ''] = (qr.split('#')[1] ?? qr).split(',');
  return { ref, advSecret: Buffer.from(secret, 'base64') };
}

const number = (bytes: Uint8Array): number => Buffer.from(bytes).readUIntBE(0, bytes.length);

const codeKey = (code: string, salt: Uint8Array): Promise<Buffer> => derive(code, salt, 2 << 16, 32, 'sha256');

function ctr(key: Buffer, iv: Uint8Array, bytes: Uint8Array): Buffer {
  const cipher = createCipheriv('aes-256-ctr', key, iv);
  return Buffer.concat([cipher.update(bytes), cipher.final()]);
}

function gcm(key: Buffer, iv: Uint8Array, sealed: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, iv);
  decipher.setAuthTag(sealed.subarray(-16));
  return Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
}
