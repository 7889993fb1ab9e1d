/** Running calls over a channel: the messages of the control plane's side, and the replies to them. */
import { keptPace, Semaphore } from '@lodge/domain';
import { VmError } from '@lodge/ports';
import type { GuestAddress } from '@lodge/ports';
import { dialAt } from '../dial.ts';
import { ChannelError } from './channel.ts';
import type { Channel, Message } from './channel.ts';
import { receivedError, sentError } from './errors.ts';
import type { SentError } from './errors.ts';
import type { CallOptions, MethodName } from './methods.ts';

/**
 * Running calls at a time, and the bytes of their messages in all; more wait here, in order. The other end accepts twice as
 * much.
 */
const maxAtOnce = 1024;
const maxBytesAtOnce = 16 * 2 ** 20;
/** A caller that is this far behind must be faulty. */
const maxWaiting = 65_536;

type Exit = { readonly agentId: string; readonly executionId: string };

interface Pending extends CallOptions {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  preparing: AbortController | null;
  /** The error of a failed preparation: its caller gets it as it was thrown. */
  preparationError: { readonly sent: string; readonly error: Error } | null;
}

export class Calls {
  private readonly channel: Channel;
  private readonly pending = new Map<number, Pending>();
  private readonly places = new Semaphore(maxAtOnce);
  private readonly bytes = new Semaphore(maxBytesAtOnce);
  private waiting = 0;
  private readonly exitListeners = new Set<(exit: Exit) => void>();
  private lastId = 0;
  private gone: VmError | null = null;

  constructor(channel: Channel) {
    this.channel = channel;
    channel.receive('reply', (message) => this.settle(message));
    channel.receive('progress', ({ id, step, fraction }) => {
      this.pending.get(id as number)?.progress?.(step as string, fraction as number | undefined);
    });
    channel.receive('prepare', (message) => void this.prepare(message));
    channel.receive('unprepare', ({ id }) => this.pending.get(id as number)?.preparing?.abort());
    channel.receive('exit', (message) => {
      const { agentId, executionId } = message as unknown as Exit;
      for (const listener of this.exitListeners) listener({ agentId, executionId });
    });
    void channel.ended.then(() => this.endAll());
  }

  onExit(listener: (exit: Exit) => void): () => void {
    this.exitListeners.add(listener);
    return () => this.exitListeners.delete(listener);
  }

  async call(method: MethodName, args: unknown, options: CallOptions = {}): Promise<unknown> {
    // A message that is too long to be sent is refused here.
    const amount = Math.min(Buffer.byteLength(JSON.stringify(args)), maxBytesAtOnce);
    const room = { enter: () => this.wait(), leave: () => void (this.waiting -= 1) };
    const sent = () => this.places.through(() => this.send(method, args, options), { room });
    return this.bytes.through(sent, { room, amount });
  }

  private async send(method: MethodName, args: unknown, options: CallOptions): Promise<unknown> {
    this.lastId += 1;
    const id = this.lastId;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const pending: Pending = { ...options, resolve, reject, preparing: null, preparationError: null };
    const abort = (): void => this.channel.send({ kind: 'abort', id });
    try {
      if (this.gone) throw this.gone;
      this.pending.set(id, pending);
      this.channel.send({ kind: 'call', id, method, args, ...(options.signal?.aborted && { aborted: true }) });
      options.signal?.addEventListener('abort', abort, { once: true });
      return await promise;
    } catch (error) {
      throw this.asThrownHere(error as Error, pending);
    } finally {
      options.signal?.removeEventListener('abort', abort);
      this.pending.delete(id);
    }
  }

  private wait(): void {
    if (this.waiting >= maxWaiting) throw new VmError('failed', 'too many calls of the machine host are waiting');
    this.waiting += 1;
  }

  private settle({ id, value, error }: Message): void {
    const pending = this.pending.get(id as number);
    if (error === undefined) pending?.resolve(value);
    else pending?.reject(receivedError(error as SentError));
  }

  /** A reason that began on this side comes back unchanged. */
  private asThrownHere(error: Error, { signal, preparationError }: Pending): Error {
    if (error instanceof ChannelError) return new VmError('failed', error.message, { cause: error });
    if (preparationError !== null && error.message === preparationError.sent) return preparationError.error;
    const isAborted = error instanceof VmError && error.code === 'aborted' && signal?.aborted === true;
    return isAborted && signal.reason instanceof VmError ? signal.reason : error;
  }

  private async prepare({ id, address, credential, pace }: Message): Promise<void> {
    const pending = this.pending.get(id as number);
    if (!pending?.prepare) return;
    pending.preparing = new AbortController();
    const known = credential as string | null;
    // Both ends are on one host, so the guest is reached from here too.
    const at = { address: address as string, dial: dialAt(address as string), pace: keptPace(pace) };
    const guest: GuestAddress = { ...at, credential: () => Promise.resolve(known) };
    try {
      const facts = await pending.prepare(guest, pending.preparing.signal);
      this.channel.send({ kind: 'prepared', id, facts });
    } catch (error) {
      const sent = sentError(error);
      if (error instanceof Error) pending.preparationError = { sent: sent.message, error };
      this.channel.send({ kind: 'prepared', id, error: sent });
    }
    pending.preparing = null;
  }

  private endAll(): void {
    this.gone = new VmError('aborted', 'the machine host is gone');
    for (const { reject, preparing } of this.pending.values()) {
      preparing?.abort();
      reject(this.gone);
    }
  }
}
