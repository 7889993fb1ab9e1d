/** A person with a phone: a Signal store of their own, and what their phone shows. */
import { randomBytes } from 'node:crypto';
import {
  addTransactionCapability,
  DEFAULT_CONNECTION_CONFIG,
  encodeWAMessage,
  generateSignalPubKey,
  initAuthCreds,
  proto,
  unpadRandomMax16,
} from 'baileys';
import type {
  AuthenticationCreds,
  BinaryNode,
  SignalKeyStoreWithTransaction,
  SignalRepositoryWithLIDStore,
} from 'baileys';
import { newKeyPair } from './curve.ts';
import { bigEndian, node, server } from './nodes.ts';
import { quietLogger, quietly } from './quiet.ts';

/** A phone's view of one message. */
export interface Shown {
  readonly id: string;
  /** Number of who wrote it. */
  readonly from: string;
  /** Jid of the group, or null. */
  readonly group: string | null;
  readonly text: string;
  /** Id of the message that it answers. */
  readonly answers: string | null;
  readonly message: proto.IMessage;
}

/** Public keys of a device, by which a session with it is begun. */
export interface Bundle {
  readonly registrationId: number;
  readonly identity: Uint8Array;
  readonly signedPreKey: { readonly id: number; readonly value: Uint8Array; readonly signature: Uint8Array };
  readonly preKey: { readonly id: number; readonly value: Uint8Array } | null;
}

export interface Sealed {
  readonly type: string;
  readonly ciphertext: Uint8Array;
}

export class Person {
  readonly number: string;
  readonly lidNumber: string;
  name: string;
  /** Messages that the phone shows, oldest first. A second one with the same id is not shown. */
  readonly shown: Shown[] = [];
  /** Chats of this person in which the agent was seen typing, one entry a sign. */
  readonly sawTyping: string[] = [];
  /** Ciphertexts that this phone could not open: a client's mistake. */
  readonly unreadable: string[] = [];
  private readonly creds: AuthenticationCreds;
  private readonly keys: SignalKeyStoreWithTransaction;
  private readonly repository: SignalRepositoryWithLIDStore;
  private readonly sentGroupKeys = new Set<string>();
  private preKeyId = 100;

  /** `kept`: keys of an earlier time, by type and id. Default: a new phone. */
  constructor(number: string, name: string, kept?: { creds: AuthenticationCreds; keys: Record<string, any> }) {
    this.number = number;
    this.creds = kept?.creds ?? initAuthCreds();
    this.lidNumber = `9${number}`;
    this.name = name;
    this.keys = addTransactionCapability(memoryKeys(kept?.keys), quietLogger, {
      maxCommitRetries: 1,
      delayBetweenTriesMs: 10,
    });
    const auth = { creds: this.creds, keys: this.keys };
    this.repository = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(auth, quietLogger, async () => []);
  }

  get jid(): string {
    return `${this.number}@${server}`;
  }

  get lid(): string {
    return `${this.lidNumber}@lid`;
  }

  /** Keys for one new session, with a pre-key of its own. */
  async bundle(jid: string): Promise<BinaryNode> {
    const preKey = newKeyPair();
    const id = this.preKeyId++;
    await this.keys.set({ 'pre-key': { [id]: preKey } });
    const { signedPreKey, registrationId, signedIdentityKey } = this.creds;
    return node('user', { jid }, [
      node('registration', {}, bigEndian(registrationId, 4)),
      node('type', {}, Buffer.from([5])),
      node('identity', {}, signedIdentityKey.public),
      node('skey', {}, [
        node('id', {}, bigEndian(signedPreKey.keyId, 3)),
        node('value', {}, signedPreKey.keyPair.public),
        node('signature', {}, signedPreKey.signature),
      ]),
      node('key', {}, [node('id', {}, bigEndian(id, 3)), node('value', {}, preKey.public)]),
    ]);
  }

  /** Encrypts for a device; `bundle` is asked for when there is no session with it yet, or when `anew`. */
  async seal(device: string, bundle: () => Bundle, message: proto.IMessage, anew = false): Promise<Sealed> {
    if (anew || !(await this.repository.validateSession(device)).exists) {
      const { registrationId, identity, signedPreKey, preKey } = bundle();
      const session = {
        registrationId,
        identityKey: generateSignalPubKey(identity),
        signedPreKey: {
          keyId: signedPreKey.id,
          publicKey: generateSignalPubKey(signedPreKey.value),
          signature: signedPreKey.signature,
        },
        ...(preKey && { preKey: { keyId: preKey.id, publicKey: generateSignalPubKey(preKey.value) } }),
      };
      await quietly(() => this.repository.injectE2ESession({ jid: device, session }));
    }
    return quietly(() => this.repository.encryptMessage({ jid: device, data: encodeWAMessage(message) }));
  }

  async sealForGroup(
    group: string,
    message: proto.IMessage,
  ): Promise<{ ciphertext: Uint8Array; distribution: Uint8Array }> {
    const data = encodeWAMessage(message);
    const sealed = await this.repository.encryptGroupMessage({ group, meId: this.jid, data });
    return { ciphertext: sealed.ciphertext, distribution: sealed.senderKeyDistributionMessage };
  }

  async open(device: string, type: string, ciphertext: Uint8Array): Promise<proto.Message> {
    const kind = type === 'pkmsg' ? 'pkmsg' : 'msg';
    const message = decode(
      await quietly(() => this.repository.decryptMessage({ jid: device, type: kind, ciphertext })),
    );
    const item = message.senderKeyDistributionMessage;
    if (item) await this.repository.processSenderKeyDistributionMessage({ item, authorJid: device });
    return message;
  }

  async openOfGroup(group: string, device: string, ciphertext: Uint8Array): Promise<proto.Message> {
    return decode(await this.repository.decryptGroupMessage({ group, authorJid: device, msg: ciphertext }));
  }

  /** Whether this device was told this person's key of the group before; it counts as told from now on. */
  knowsGroupKey(group: string, device: string): boolean {
    const recipient = `${group} ${device}`;
    const known = this.sentGroupKeys.has(recipient);
    this.sentGroupKeys.add(recipient);
    return known;
  }

  /** The phone loses its session with a device, as after a restore from a backup. */
  async forget(device: string): Promise<void> {
    await this.repository.deleteSession([device]);
  }

  show(shown: Shown): void {
    if (!this.shown.some(({ id, from }) => id === shown.id && from === shown.from)) this.shown.push(shown);
  }
}

export const newMessageId = (): string => randomBytes(16).toString('hex').toUpperCase();

const decode = (padded: Uint8Array): proto.Message => proto.Message.decode(unpadRandomMax16(padded));

function memoryKeys(kept: Record<string, any> = {}): Parameters<typeof addTransactionCapability>[0] {
  const rows = new Map<string, any>();
  for (const [type, values] of Object.entries(kept)) {
    for (const [id, value] of Object.entries(values)) rows.set(`${type}:${id}`, value);
  }
  return {
    get: async (type: string, ids: string[]) => {
      const found: Record<string, any> = {};
      for (const id of ids) if (rows.has(`${type}:${id}`)) found[id] = rows.get(`${type}:${id}`);
      return found;
    },
    set: async (data: Record<string, any>) => {
      for (const [type, values] of Object.entries(data)) {
        for (const [id, value] of Object.entries(values)) {
          if (value === null || value === undefined) rows.delete(`${type}:${id}`);
          else rows.set(`${type}:${id}`, value);
        }
      }
    },
  };
}
