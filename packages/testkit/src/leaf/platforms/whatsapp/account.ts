/** An account of WhatsApp: a person's phone, the device linked with it, and what waits for that device on the server. */
import type { BinaryNode } from 'baileys';
import { newKeyPair } from './curve.ts';
import type { KeyPair } from './curve.ts';
import type { Link } from './link.ts';
import { childOf, childrenOf, node, numberOf, bytesOf, seconds, server } from './nodes.ts';
import { Person } from './person.ts';
import type { Bundle } from './person.ts';

/** Below this many pre-keys the server asks the device for more. */
const fewPreKeys = 5;
const maxOfflineBatch = 100;

export interface Receipt {
  readonly id: string;
  /** `delivered` where the device gave none. */
  readonly type: string;
}

export class Account {
  readonly phone: Person;
  readonly accountKey: KeyPair = newKeyPair();
  device: Device | null = null;
  link: Link | null = null;
  /** Live messages are kept back on the link that is open now: it answers pings and delivers nothing. */
  deafLink: Link | null = null;
  /** Stanzas that the device has not acknowledged: they come again at its next login. */
  readonly waiting: BinaryNode[] = [];
  /** The message that was delivered last. */
  last: BinaryNode | null = null;
  readonly receipts: Receipt[] = [];
  /** Ids of messages that the device refused. */
  readonly refused: string[] = [];
  /** By the id of a message to this account: sends it anew, when the device says that it cannot read it. */
  readonly resend = new Map<string, () => Promise<void>>();
  logins = 0;
  /** Reason of the failure at each login; null: logins are let in. */
  refusesLogins: string | null = null;
  /** WhatsApp lets this account open no new chats, and refuses what it sends with 463. */
  restricted = false;
  private devices = 4;

  constructor(phone: Person) {
    this.phone = phone;
  }

  /** Links the device of a registration; the earlier one is gone. */
  linkDevice(keys: Pick<Device, 'registrationId' | 'identity' | 'signedPreKey'>): Device {
    this.devices += 1;
    this.device = new Device(this, this.devices, keys);
    this.waiting.length = 0;
    return this.device;
  }

  /** Kept until the device acknowledges it, and sent at once when the device is there. */
  deliver(stanza: BinaryNode): void {
    this.last = stanza;
    this.waiting.push(stanza);
    if (this.link && this.link !== this.deafLink) this.link.send(stanza);
  }

  acknowledge(ids: readonly string[]): void {
    for (const id of ids) {
      const at = this.waiting.findIndex(({ attrs }) => attrs['id'] === id);
      if (at !== -1) this.waiting.splice(at, 1);
    }
  }

  /** The device says that it is ready: what waits is announced, and comes when it asks. */
  announceBacklog(link: Link): void {
    const count = String(this.waiting.length);
    if (this.waiting.length === 0) return link.send(node('ib', { from: server }, [node('offline', { count })]));
    const attrs = { count, message: count, appdata: '0', receipt: '0', notification: '0' };
    link.send(node('ib', { from: server }, [node('offline_preview', attrs)]));
  }

  sendBacklog(link: Link): void {
    const batch = this.waiting.slice(0, maxOfflineBatch);
    for (const stanza of batch) link.send({ ...stanza, attrs: { ...stanza.attrs, offline: '1' } });
    link.send(node('ib', { from: server }, [node('offline', { count: String(batch.length) })]));
  }

  takeBundle(): Bundle {
    const device = this.device;
    if (!device) throw new Error(`${this.phone.number} has no linked device`);
    const preKey = device.preKeys.shift() ?? null;
    if (device.preKeys.length === fewPreKeys) {
      const attrs = { type: 'encrypt', from: server, id: `low${device.preKeys.length}-${Date.now()}`, t: seconds() };
      this.link?.send(node('notification', attrs, [node('count', { value: String(device.preKeys.length) })]));
    }
    const { registrationId, identity, signedPreKey } = device;
    return { registrationId, identity, signedPreKey, preKey };
  }
}

export class Device {
  readonly id: number;
  readonly jid: string;
  readonly lid: string;
  readonly registrationId: number;
  readonly identity: Uint8Array;
  signedPreKey: Bundle['signedPreKey'];
  readonly preKeys: { readonly id: number; readonly value: Uint8Array }[] = [];

  constructor(account: Account, id: number, keys: Pick<Device, 'registrationId' | 'identity' | 'signedPreKey'>) {
    this.id = id;
    this.jid = `${account.phone.number}:${id}@${server}`;
    this.lid = `${account.phone.lidNumber}:${id}@lid`;
    this.registrationId = keys.registrationId;
    this.identity = keys.identity;
    this.signedPreKey = keys.signedPreKey;
  }

  /** An upload of pre-keys, or a rotated signed one. */
  takeKeys(upload: BinaryNode): void {
    const signed = childOf(upload, 'skey') ?? childOf(childOf(upload, 'rotate'), 'skey');
    if (signed) {
      const [id, value, signature] = ['id', 'value', 'signature'].map((tag) => childOf(signed, tag));
      this.signedPreKey = { id: numberOf(id), value: bytesOf(value), signature: bytesOf(signature) };
    }
    for (const key of childrenOf(childOf(upload, 'list'), 'key')) {
      this.preKeys.push({ id: numberOf(childOf(key, 'id')), value: bytesOf(childOf(key, 'value')) });
    }
  }
}
