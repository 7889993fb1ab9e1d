/**
 * Signal sessions of one socket, with two promises that the library does not give:
 *
 * - A message is decrypted in one transaction with what it says: the moved ratchet, the message, and the key of a group that came
 *   with it. The library acknowledges after that. A process that is killed before loses neither; one that is killed after finds the
 *   message kept, and refuses its second delivery, whose key is used up.
 * - A moved ratchet of a message that is sent is kept before the message leaves, so that no key is ever used twice.
 *
 * One thing at a time, over all sockets of a device: two of them could read the same session, and one of the moves would be lost.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { withoutConsole } from './console.ts';
import type { DeviceKeys, Staged } from './keys.ts';
import type { Repository, Stanza, Transactions } from './library.ts';
import { contentOf } from './library.ts';
import type { Content } from './library.ts';

export interface Decrypted {
  readonly stanza: Stanza;
  readonly content: Content;
}

export interface RatchetOptions {
  readonly keys: DeviceKeys;
  /** Reads a decrypted stanza into its message. Never throws: what cannot be understood is nothing. */
  read(decrypted: Decrypted, repository: Repository): Promise<Pick<Staged, 'messages' | 'rows'>>;
  /** Called before each encryption: from now on something may have left. */
  onEncrypt(): void;
  keyOwnerOf(stanza: Stanza): string;
}

export class Ratchet {
  private readonly options: RatchetOptions;
  /** By the very bytes that the library hands on to be decrypted. */
  private readonly stanzas = new WeakMap<Uint8Array, Stanza>();
  private readonly outside = AsyncLocalStorage.snapshot();
  private isOver = false;

  constructor(options: RatchetOptions) {
    this.options = options;
  }

  /** Each stanza of the server, before the library looks at it. */
  see(stanza: Stanza): void {
    if (stanza.tag !== 'message' || !Array.isArray(stanza.content)) return;
    for (const { tag, content } of stanza.content) {
      if (tag === 'enc' && content instanceof Uint8Array) this.stanzas.set(content, stanza);
    }
  }

  /** The socket has ended: what it still asks for is refused, for the next one reads the same sessions. */
  end(): void {
    this.isOver = true;
  }

  guard(inner: Repository, transactions: Transactions): Repository {
    this.separate(inner.lidMapping as unknown as Record<string, unknown>);
    return {
      ...inner,
      decryptMessage: (given) =>
        this.alone(() =>
          this.decrypt(inner, transactions, given.ciphertext, given.jid, () => inner.decryptMessage(given)),
        ),
      decryptGroupMessage: (given) =>
        this.alone(() =>
          this.decrypt(inner, transactions, given.msg, given.group, () => inner.decryptGroupMessage(given)),
        ),
      // It came with a message, and was processed in that message's transaction.
      processSenderKeyDistributionMessage: async () => undefined,
      encryptMessage: (given) => this.sending(() => inner.encryptMessage(given)),
      encryptGroupMessage: (given) => this.sending(() => inner.encryptGroupMessage(given)),
      getSenderKeyDistributionMessage: (given) => this.alone(() => inner.getSenderKeyDistributionMessage(given)),
      hasSenderKey: (given) => this.alone(() => inner.hasSenderKey(given)),
      getSessionInfo: (jid) => this.alone(() => inner.getSessionInfo(jid)),
      injectE2ESession: (given) => this.alone(() => inner.injectE2ESession(given)),
      validateSession: (jid) => this.alone(() => inner.validateSession(jid)),
      migrateSession: (from, to) => this.alone(() => inner.migrateSession(from, to)),
      deleteSession: (jids) => this.alone(() => inner.deleteSession(jids)),
    };
  }

  private async decrypt(
    inner: Repository,
    transactions: Transactions,
    ciphertext: Uint8Array,
    key: string,
    open: () => Promise<Uint8Array>,
  ): Promise<Uint8Array> {
    const { options } = this;
    const stanza = this.stanzas.get(ciphertext);
    const staged: Staged = { messages: [], rows: [], isCommitted: false };
    const plaintext = await options.keys.staged.run(staged, () =>
      transactions.transaction(async () => {
        const plain = await open();
        if (!stanza) return plain;
        const content = contentOf(plain);
        const item = content.senderKeyDistributionMessage;
        if (item) await inner.processSenderKeyDistributionMessage({ item, authorJid: options.keyOwnerOf(stanza) });
        Object.assign(staged, await options.read({ stanza, content }, inner));
        return plain;
      }, key),
    );
    if (!staged.isCommitted && staged.messages.length > 0) await options.keys.write(staged.rows, staged.messages);
    return plaintext;
  }

  private sending<T>(work: () => Promise<T>): Promise<T> {
    this.options.onEncrypt();
    return this.alone(work);
  }

  /** After all that was asked for before, and outside of any transaction of the caller's: it would commit too late. */
  private alone<T>(work: () => Promise<T>): Promise<T> {
    return this.options.keys.alone(async () => {
      if (this.isOver) throw new Error('the socket has ended');
      return this.outside(() => withoutConsole(work));
    });
  }

  /** Has all methods of an object run outside of the caller's transaction. */
  private separate(target: Record<string, unknown>): void {
    for (const name of ['storeLIDPNMappings', 'getLIDForPN', 'getLIDsForPNs', 'getPNForLID', 'getPNsForLIDs']) {
      const method = target[name];
      if (typeof method !== 'function') continue;
      target[name] = (...given: unknown[]) => this.outside(() => method.apply(target, given));
    }
  }
}
