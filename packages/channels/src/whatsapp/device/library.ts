/**
 * The one file that knows baileys, the library for WhatsApp's linked devices. It exposes little, and repairs here the
 * behaviour that cannot be trusted:
 *
 * - it accepts any certificate of the server (`certificate.ts` checks instead, before the library answers the server);
 * - an async listener of its own that fails would be an unhandled rejection, which ends the process (`holdRejections`);
 * - a closing handshake that the server never answers would keep a dead socket for half a minute (`boundClosing`);
 * - it logs keys and texts (its logger is silent).
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Browsers,
  BufferJSON,
  Curve,
  decodeMessageNode,
  DEFAULT_CONNECTION_CONFIG,
  getMediaKeys,
  initAuthCreds,
  isJidBroadcast,
  isJidNewsletter,
  jidNormalizedUser,
  makeWASocket,
  normalizeMessageContent,
  proto,
  S_WHATSAPP_NET,
  unpadRandomMax16,
} from 'baileys';
import type {
  AuthenticationCreds,
  BinaryNode,
  SignalDataSet,
  SignalDataTypeMap,
  SignalKeyStore,
  SignalKeyStoreWithTransaction,
  SignalRepositoryWithLIDStore,
  WASocket,
} from 'baileys';
import { isTrustedServer } from './certificate.ts';
import type { Handshake } from './certificate.ts';

export type Stanza = BinaryNode;
export type Credentials = AuthenticationCreds;
export type SignalKeys = SignalKeyStore;
export type SignalValues = SignalDataSet;
export type Repository = SignalRepositoryWithLIDStore;
export type Transactions = Pick<SignalKeyStoreWithTransaction, 'transaction'>;
export type Content = proto.IMessage;

export const newCredentials = (): Credentials => initAuthCreds();

/** Credentials and keys as text, bytes within them in base64. */
export const pack = (value: unknown): string => JSON.stringify(value, BufferJSON.replacer);

/** Reverses `pack`, for the type that it had. */
export function unpack(type: keyof SignalDataTypeMap | null, text: string): unknown {
  const value: unknown = JSON.parse(text, BufferJSON.reviver);
  return type === 'app-state-sync-key' ? proto.Message.AppStateSyncKeyData.fromObject(value as object) : value;
}

/** From whom a message comes and where it was written, as the server says it. */
export interface Envelope {
  readonly id: string;
  /** Person or group, without a device. */
  readonly chat: string;
  readonly isGroup: boolean;
  /** The author, without a device. */
  readonly author: string;
  /** The author's other name: the phone number's jid of a lid, and the other way round. */
  readonly authorAlt: string | null;
  readonly fromMe: boolean;
  readonly name: string;
  readonly sentAt: Date;
  /** The jid that sender keys of this stanza belong to. */
  readonly keyOwner: string;
}

/** Throws for a stanza that is no message. */
export function envelopeOf(stanza: Stanza, me: Me): Envelope {
  const { fullMessage, author } = decodeMessageNode(stanza, me.id, me.lid ?? '');
  const { key } = fullMessage;
  const chat = key.remoteJid ?? '';
  const isGroup = chat.endsWith('@g.us');
  const alt = (isGroup ? key.participantAlt : key.remoteJidAlt) ?? null;
  return {
    id: key.id ?? '',
    chat: jidNormalizedUser(chat),
    isGroup,
    author: jidNormalizedUser(author),
    authorAlt: alt === null ? null : jidNormalizedUser(alt),
    fromMe: key.fromMe === true,
    name: fullMessage.pushName ?? '',
    sentAt: new Date(Number(stanza.attrs['t']) * 1000),
    keyOwner: author,
  };
}

/** The content of a decrypted stanza. Throws for bytes that are no message. */
export function contentOf(plaintext: Uint8Array): Content {
  const message = proto.Message.decode(unpadRandomMax16(plaintext));
  return message.deviceSentMessage?.message ?? message;
}

/** Without the wrappings of disappearing and once-seen messages. Null: nothing that was written anew, as an edit is not. */
export function unwrapped(content: Content): Content | null {
  if (content.editedMessage || content.protocolMessage) return null;
  return normalizeMessageContent(content) ?? null;
}

export const packContent = (content: Content): string =>
  Buffer.from(proto.Message.encode(content).finish()).toString('base64');
export const unpackContent = (text: string): Content => proto.Message.decode(Buffer.from(text, 'base64'));

/** The kind of a sent file, on which its keys depend. */
export type MediaKind = 'image' | 'video' | 'audio' | 'document';

export interface MediaKeys {
  readonly cipherKey: Uint8Array;
  readonly iv: Uint8Array;
  readonly macKey: Uint8Array;
}

export async function mediaKeysOf(key: Uint8Array, kind: MediaKind): Promise<MediaKeys> {
  const { cipherKey, iv, macKey } = await getMediaKeys(key, kind);
  if (!macKey) throw new Error('a file has no key for its HMAC');
  return { cipherKey, iv, macKey };
}

/** Leave to put files at the media host. */
export interface UploadLeave {
  /** A secret while it lasts. */
  readonly token: string;
  readonly forMs: number;
}

export interface Me {
  readonly id: string;
  readonly lid: string | null;
  readonly name: string | null;
}

export interface Update {
  readonly qr?: string;
  readonly isOpen?: true;
  /** The linked device is paired: the server will have it connect anew. */
  readonly isPaired?: true;
  /** The code of a closed socket: the server's, or the library's own. */
  readonly closed?: number;
  /** Until when WhatsApp lets the account open no new chats; null: it does let it. */
  readonly restrictedUntil?: Date | null;
}

export interface SocketOptions {
  readonly url: URL;
  /** Public key of the certificates' root. */
  readonly root: Uint8Array;
  readonly credentials: Credentials;
  readonly keys: SignalKeys;
  readonly connectTimeoutMs: number;
  readonly pingEveryMs: number;
  readonly queryTimeoutMs: number;
  readonly codeShownMs: number;
  guard(inner: Repository, transactions: Transactions): Repository;
  /** A message sent before, for a phone that could not read it. */
  sentBefore(id: string): Promise<Content | undefined>;
  /** Each stanza of the server, before the library looks at it. Never throws. */
  onStanza(stanza: Stanza): void;
  onUpdate(update: Update): void;
  onCredentials(): void;
}

export interface Socket {
  readonly me: Me | null;
  readonly isOpen: boolean;
  /** The code to type at the phone of this number. Only while a QR would be shown. */
  pairingCode(phoneNumber: string): Promise<string>;
  /** Encrypts and sends. Resolves when it left, which is before the server answers. */
  relay(jid: string, content: Content, id: string): Promise<void>;
  composing(jid: string): Promise<void>;
  groupTitle(jid: string): Promise<string>;
  /** Tells by `onUpdate`. */
  askRestriction(): Promise<void>;
  /** Rejects when the server gives none. Hosts that it names are not used. */
  uploadLeave(): Promise<UploadLeave>;
  /** Ends it now: nothing more is sent from the next statement on. `onUpdate` tells when it has closed. */
  end(code: number): void;
}

const maxLeaveChars = 4_096;
const maxLeaveMs = 60 * 60_000;

/** A closing handshake has this long. */
const maxClosingMs = 1_000;

/** Codes of ends that are ours. */
export const ownCodes = {
  untrusted: 9_001,
  refused: 9_002,
  timeout: 9_003,
  fresh: 9_004,
  commitFailed: 9_005,
  closed: 9_006,
};

/** Opens a socket and begins its handshake. Answers at once. */
export function openSocket(options: SocketOptions): Socket {
  const { socket, ephemeral } = withEphemeralKey(() => makeWASocket(configOf(options)));
  boundClosing(socket);
  holdRejections(socket.ws, () => end(ownCodes.refused));
  let endedBy: number | null = null;
  const end = (code: number): void => {
    endedBy ??= code;
    void socket.end(undefined).catch(() => undefined);
  };
  /** The library reports a code before WhatsApp has accepted it. */
  let asked: PromiseWithResolvers<void> | null = null;
  let isTrusted = false;
  const judge = (frame: Uint8Array): void => {
    isTrusted = isTrustedServer(proto.HandshakeMessage.decode(frame).serverHello, { ephemeral, root: options.root });
  };
  socket.ws.on('frame', (frame: Uint8Array | Stanza) => {
    try {
      if (frame instanceof Uint8Array) judge(frame);
    } catch {
      isTrusted = false;
    }
    if (!isTrusted) return end(ownCodes.untrusted);
    if (frame instanceof Uint8Array) return;
    if (asked) judgeCode(frame, asked);
    options.onStanza(frame);
  });
  socket.ws.on('unexpected-response', () => end(ownCodes.refused));
  socket.ev.on('creds.update', () => options.onCredentials());
  socket.ev.on('connection.update', (update) => {
    if (update.qr) options.onUpdate({ qr: update.qr });
    if (update.isNewLogin) options.onUpdate({ isPaired: true });
    if (update.connection === 'open') options.onUpdate({ isOpen: true });
    if (update.reachoutTimeLock) options.onUpdate({ restrictedUntil: restrictedUntil(update.reachoutTimeLock) });
    if (update.connection === 'close') {
      const error = update.lastDisconnect?.error as { output?: { statusCode?: number } } | undefined;
      options.onUpdate({ closed: endedBy ?? error?.output?.statusCode ?? 0 });
    }
  });
  return {
    get me() {
      const me = options.credentials.me;
      return me ? { id: me.id, lid: me.lid ?? null, name: me.name ?? null } : null;
    },
    get isOpen() {
      return endedBy === null && socket.ws.isOpen;
    },
    pairingCode: async (phoneNumber) => {
      asked = Promise.withResolvers<void>();
      asked.promise.catch(() => undefined);
      const code = await socket.requestPairingCode(phoneNumber);
      await Promise.race([asked.promise, failAfter(options.queryTimeoutMs)]);
      return code;
    },
    relay: async (jid, content, id) => void (await socket.relayMessage(jid, content, { messageId: id })),
    composing: (jid) => socket.sendPresenceUpdate('composing', jid),
    groupTitle: async (jid) => (await socket.groupMetadata(jid)).subject ?? '',
    askRestriction: async () => void (await socket.fetchAccountReachoutTimelock()),
    uploadLeave: async () => leaveOf((await socket.query(leaveQuery())) as Stanza),
    end,
  };
}

function configOf(options: SocketOptions): Parameters<typeof makeWASocket>[0] {
  return {
    auth: { creds: options.credentials, keys: options.keys },
    waWebSocketUrl: options.url,
    logger: silent,
    // WhatsApp gives no code to type to a device of any other name (baileys issue 2560).
    browser: Browsers.ubuntu('Chrome'),
    connectTimeoutMs: options.connectTimeoutMs,
    keepAliveIntervalMs: options.pingEveryMs,
    defaultQueryTimeoutMs: options.queryTimeoutMs,
    qrTimeout: options.codeShownMs,
    markOnlineOnConnect: false,
    emitOwnEvents: false,
    // No history: an agent answers what is written to it from now on.
    syncFullHistory: false,
    shouldSyncHistoryMessage: () => false,
    shouldIgnoreJid: (jid) => isJidBroadcast(jid) === true || isJidNewsletter(jid) === true,
    // A commit that failed ends the socket: nothing is acknowledged, and the server delivers again.
    transactionOpts: { maxCommitRetries: 1, delayBetweenTriesMs: 0 },
    getMessage: async ({ id }) => (id ? options.sentBefore(id) : undefined),
    makeSignalRepository: (auth, logger, toLid) => {
      const keys = auth.keys as SignalKeyStoreWithTransaction;
      return options.guard(DEFAULT_CONNECTION_CONFIG.makeSignalRepository(auth, logger, toLid), keys);
    },
  };
}

const silent: NonNullable<Parameters<typeof makeWASocket>[0]['logger']> = {
  level: 'silent',
  child: () => silent,
  trace: () => undefined,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** The library makes the handshake's key first, and keeps it to itself; without it nobody could check the server. */
function withEphemeralKey(make: () => WASocket): { socket: WASocket; ephemeral: Handshake['ephemeral'] } {
  const { generateKeyPair } = Curve;
  let ephemeral: Handshake['ephemeral'] | null = null;
  Curve.generateKeyPair = () => {
    const pair = generateKeyPair();
    ephemeral ??= pair;
    return pair;
  };
  try {
    // The library's own transactions are found by the async context: a socket begins with none.
    const socket = fresh(make);
    return { socket, ephemeral: ephemeral ?? generateKeyPair() };
  } finally {
    Curve.generateKeyPair = generateKeyPair;
  }
}

const fresh = AsyncLocalStorage.snapshot();

/** Every listener that the library has put on by now is held: where it fails, the socket ends and not the process. */
function holdRejections(emitter: WASocket['ws'], onFailure: () => void): void {
  for (const event of emitter.eventNames()) {
    const listeners = emitter.rawListeners(event) as ((...given: unknown[]) => unknown)[];
    emitter.removeAllListeners(event);
    for (const listener of listeners) {
      emitter.on(event, (...given: unknown[]) => {
        try {
          void Promise.resolve(listener(...given)).catch(onFailure);
        } catch {
          onFailure();
        }
      });
    }
  }
}

function boundClosing({ ws }: WASocket): void {
  const close = ws.close.bind(ws);
  ws.close = async () => {
    const { socket } = ws as unknown as { socket: { terminate(): void } | null };
    const timer = setTimeout(() => socket?.terminate(), maxClosingMs);
    try {
      await close();
    } finally {
      clearTimeout(timer);
    }
  };
}

function judgeCode({ tag, attrs, content }: Stanza, asked: PromiseWithResolvers<void>): void {
  if (tag !== 'iq') return;
  if (attrs['type'] === 'error') asked.reject(new Error('WhatsApp refused to give a code'));
  else if (Array.isArray(content) && content[0]?.tag === 'link_code_companion_reg') asked.resolve();
}

/** The library's own answer to this is kept for ever when it is an error. */
const leaveQuery = (): Stanza => ({
  tag: 'iq',
  attrs: { type: 'set', xmlns: 'w:m', to: S_WHATSAPP_NET },
  content: [{ tag: 'media_conn', attrs: {} }],
});

function leaveOf({ content }: Stanza): UploadLeave {
  const { auth: token, ttl } = (Array.isArray(content) && content[0]?.tag === 'media_conn' && content[0].attrs) || {};
  if (!token || token.length > maxLeaveChars) throw new Error('WhatsApp gave no leave to send files');
  const seconds = Number(ttl);
  return { token, forMs: seconds > 0 ? Math.min(seconds * 1_000, maxLeaveMs) : 0 };
}

async function failAfter(timeoutMs: number): Promise<never> {
  await sleep(timeoutMs, undefined, { ref: false });
  throw new Error('WhatsApp did not answer');
}

function restrictedUntil(lock: { isActive?: boolean; timeEnforcementEnds?: Date }): Date | null {
  if (lock.isActive !== true) return null;
  return lock.timeEnforcementEnds ?? new Date(Date.now() + 60_000);
}
