/**
 * The machine host's side: answers the calls of a control plane that may be hostile. A call is checked whole before any
 * work; a refused one touches nothing.
 *
 *   call    -> checked -> under way -> reply (a value, or why not)
 *   abort   -> the call under way is told; its reply still comes
 *   prepare <- a template's guest is to be prepared -> prepared (facts, or why not); unprepare <- no more
 *   progress, exit <- told as they happen
 */
import { agentIdPattern, Shares } from '@lodge/domain';
import type { HeldShare } from '@lodge/domain';
import { ShapeError } from '@lodge/domain/shapes';
import { builtIn, VmError } from '@lodge/ports';
import type { GuestAddress, Log, RuntimeFacts, RuntimeVersions, VmDriver } from '@lodge/ports';
import { ChannelError } from './channel.ts';
import type { Channel, Message } from './channel.ts';
import { sentError, untrustedError } from './errors.ts';
import type { SentError } from './errors.ts';
import type { KnownImages } from './known-images.ts';
import { methodsFor, prepareCall } from './methods.ts';
import { facts } from './shapes.ts';

/** A caller that sends more at once must be faulty: `remote-machines.ts` stays far below. */
export const maxCallsUnderWay = 2048;
/** Bytes of their messages in all. A value occupies up to some 15 times its bytes; the longest sent call has 40 KiB. */
export const maxBytesUnderWay = 32 * 2 ** 20;
/** The control plane is the only caller, and has all of them. */
const caller = { agentId: '', accountId: '' };
const inAll = maxBytesUnderWay;
const bytesUnderWay = { perAgent: inAll, perAccount: inAll, inAll, few: inAll };

export interface MachinesToServe {
  readonly driver: VmDriver;
  readonly images: KnownImages;
  /** Versions beside those that Lodge brings; without it there are none. */
  readonly versions?: RuntimeVersions;
  readonly log: Log;
  /** The form of an agent's id; by default as the domain makes them. */
  readonly agentIds?: RegExp;
}

const broughtVersions: RuntimeVersions = {
  offered: async (runtime) => ({ fresh: builtIn(runtime), upgrade: builtIn(runtime) }),
};

interface Preparing {
  readonly resolve: (facts: RuntimeFacts) => void;
  readonly reject: (error: Error) => void;
}

interface UnderWay {
  readonly abort: AbortController;
  /** The bytes of its messages, which are kept until it ends. */
  readonly held: HeldShare;
  preparing: Preparing | null;
}

/** Serves until the channel ends. Then every running call is aborted, and its work is given up or completed. */
export function serveMachines(channel: Channel, given: MachinesToServe): void {
  const { driver, images, versions = broughtVersions, log, agentIds = agentIdPattern } = given;
  const served = { driver, images, versions };
  const methods = methodsFor(agentIds);
  const calls = new Map<number, UnderWay>();
  const budget = new Shares(bytesUnderWay);
  const reply = (id: number, outcome: { readonly value: unknown } | { readonly error: SentError }): void =>
    channel.send({ kind: 'reply', id, ...outcome });

  channel.receive('call', (message, bytes) => {
    const id = idOf(message);
    if (calls.has(id)) throw new ChannelError(`two calls have the number ${id}`);
    const held = budget.heldBy(caller);
    let run: ReturnType<typeof prepareCall>;
    try {
      if (calls.size >= maxCallsUnderWay) throw new VmError('failed', 'too many calls are under way');
      run = prepareCall(methods, message['method'], message['args']);
      takeBytes(held, bytes);
    } catch (error) {
      if (!(error instanceof ShapeError || error instanceof VmError)) throw error;
      log.warn({ why: error.message }, 'a call of the control plane was refused');
      reply(id, { error: sentError(new VmError('failed', error.message)) });
      return;
    }
    const own: UnderWay = { abort: new AbortController(), held, preparing: null };
    calls.set(id, own);
    // The call was given up before it was sent: a create still takes the place of earlier ones.
    if (message['aborted'] === true) own.abort.abort();
    const { signal } = own.abort;
    const progress = (step: string, fraction?: number): void => channel.send({ kind: 'progress', id, step, fraction });
    const prepare = (guest: GuestAddress, until: AbortSignal) => prepareThere(channel, id, own, guest, until);
    // A call that throws at once must reject like any other.
    void (async () => run(served, { signal, progress, prepare }))()
      .then((value) => reply(id, { value: value ?? null }))
      .catch((error: unknown) => reply(id, { error: sentError(error) }))
      .finally(() => {
        calls.delete(id);
        held.giveBack();
      });
  });
  channel.receive('abort', (message) => calls.get(idOf(message))?.abort.abort());
  channel.receive('prepared', (message, bytes) => {
    const own = calls.get(idOf(message));
    if (own?.preparing) takePrepared(message, own, own.preparing, bytes);
  });
  const forget = driver.onExit(({ agentId, executionId }) => channel.send({ kind: 'exit', agentId, executionId }));
  void channel.ended.then(() => {
    forget();
    const gone = new VmError('aborted', 'the control plane is gone');
    for (const { abort, preparing } of calls.values()) {
      abort.abort(gone);
      preparing?.reject(gone);
    }
  });
}

/** A call returns its bytes as it ends. Throws `VmError` if they do not fit. */
function takeBytes(held: HeldShare, bytes: number): void {
  if (!held.take(bytes)) throw new VmError('failed', 'calls of too many bytes are under way');
}

function takePrepared(message: Message, { held }: UnderWay, preparing: Preparing, bytes: number): void {
  if (message['error'] != null) return preparing.reject(untrustedError(message['error']));
  try {
    takeBytes(held, bytes);
    preparing.resolve(facts(message['facts'], 'prepared.facts'));
  } catch (error) {
    preparing.reject(error as Error);
  }
}

/** Makes the control plane prepare a guest, which it reaches by itself. */
async function prepareThere(
  channel: Channel,
  id: number,
  own: UnderWay,
  guest: GuestAddress,
  signal: AbortSignal,
): Promise<RuntimeFacts> {
  const credential = await guest.credential();
  const { promise, resolve, reject } = Promise.withResolvers<RuntimeFacts>();
  own.preparing = { resolve, reject };
  const giveUp = (): void => {
    channel.send({ kind: 'unprepare', id });
    reject(signal.reason instanceof Error ? signal.reason : new VmError('aborted', 'the preparation was given up'));
  };
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    if (signal.aborted) giveUp();
    else channel.send({ kind: 'prepare', id, address: guest.address, credential, pace: guest.pace });
    return await promise;
  } finally {
    signal.removeEventListener('abort', giveUp);
    own.preparing = null;
  }
}

function idOf({ id }: Message): number {
  if (typeof id === 'number' && Number.isSafeInteger(id) && id >= 0) return id;
  throw new ChannelError('a message has no number');
}
