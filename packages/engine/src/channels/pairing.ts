/** Pairs a WhatsApp account by codes to scan or to type. The connection makes the codes and the owner sees them. */
import { defaultAccess, Refusal } from '@lodge/domain';
import type { ChannelReason } from '@lodge/domain';
import { ChannelFailure, channelPairingContext } from '@lodge/ports';
import type { ChangeNote } from '@lodge/ports';
import { findChannel } from '@lodge/store/channels';
import type { ChannelRow } from '@lodge/store/channels';
import type { ChannelsDeps } from './deps.ts';
import { restartChannel, storeChannel } from './put.ts';
import { noChannel, onChannelChange, presentChannel } from './reading.ts';

const channel = 'whatsapp';

export interface Pairing {
  readonly status: 'pending' | 'connected' | 'expired' | 'failed';
  readonly reason: ChannelReason | null;
  /** A code to scan; null while there is none. */
  readonly qr: string | null;
  /** A code to type on the phone; null where none was asked for. */
  readonly pairingCode: string | null;
  readonly expiresAt: Date | null;
  readonly attempt: number;
}

export interface PairAsk {
  /** Only digits; null: a code to scan. */
  readonly phoneNumber: string | null;
  readonly waitMs: number;
  readonly signal: AbortSignal;
  readonly note?: ChangeNote;
}

export async function pair(deps: ChannelsDeps, accountId: string, agentId: string, ask: PairAsk): Promise<Pairing> {
  const { status } = await deps.agents.get(accountId, agentId);
  if (status !== 'running' && status !== 'paused') {
    throw new Refusal('agent_not_running', 'Agent is not running. Start it first.', { agentId });
  }
  const row = await wanted(deps, accountId, agentId, ask);
  const deadline = Date.now() + ask.waitMs;
  if (row.status !== 'connected' && ask.phoneNumber !== null) {
    await askForNumber(deps, agentId, ask.phoneNumber, deadline, ask.signal);
  }
  return awaitCode(deps, row, ask, deadline);
}

export async function pairing(deps: ChannelsDeps, accountId: string, agentId: string): Promise<Pairing> {
  return pairingOf(deps, await presentChannel(deps, { accountId, agentId, channel }));
}

/** Returns the enabled channel, with a connection that asks for a code or is about to. */
async function wanted(deps: ChannelsDeps, accountId: string, agentId: string, { note }: PairAsk): Promise<ChannelRow> {
  const place = { accountId, agentId, channel } as const;
  const row = await deps.database.repeatable((db) => findChannel(db, place));
  if (row === null || !row.enabled) {
    const access = row?.access ?? defaultAccess;
    const change = { ...place, enabled: true, access, credentials: [] };
    return (await storeChannel(deps.database, change, note)).row;
  }
  const ranOut = row.status === 'pending_pairing' && row.pairing === null;
  // A pairing that was begun a moment ago has no code yet.
  const isOver = row.status === 'error' || (ranOut && Date.now() - row.updatedAt.getTime() > codeWithinMs);
  if (!isOver) return row;
  return restartChannel(deps.database, place, note);
}

/** Asks for a number until there is a connection that can be asked. */
async function askForNumber(
  { check }: ChannelsDeps,
  agentId: string,
  phoneNumber: string,
  deadline: number,
  signal: AbortSignal,
): Promise<void> {
  try {
    while (!(await check.pairByNumber(agentId, channel, phoneNumber))) {
      signal.throwIfAborted();
      if (Date.now() > deadline) throw notOpen();
      await new Promise((resolve) => setTimeout(resolve, askEveryMs));
    }
  } catch (error) {
    if (error instanceof ChannelFailure) throw new Refusal('agent_unavailable', error.reason.message);
    throw error;
  }
}

const askEveryMs = 500;
/** Time from a restart to the first code. */
const codeWithinMs = 30_000;

const notOpen = (): Refusal =>
  new Refusal('agent_unavailable', 'The connection to WhatsApp is not open yet. Try again shortly.');

/** Waits until there is a code to show, or the time is over. */
async function awaitCode(
  deps: ChannelsDeps,
  first: ChannelRow,
  { phoneNumber, signal }: PairAsk,
  deadline: number,
): Promise<Pairing> {
  const { accountId, agentId } = first;
  const place = { accountId, agentId, channel } as const;
  const changed = new Signal();
  const unsubscribe = onChannelChange(deps, agentId, () => changed.give());
  try {
    for (let row: ChannelRow | null = first; ; row = await deps.database.repeatable((db) => findChannel(db, place))) {
      if (row === null) throw noChannel(channel);
      const leftMs = deadline - Date.now();
      const now = pairingOf(deps, row);
      const isThere = phoneNumber === null ? now.qr !== null : now.pairingCode !== null;
      const isKnown = isThere || row.status === 'connected' || row.status === 'error';
      if (isKnown || leftMs <= 0 || signal.aborted) return now;
      await changed.await(Math.min(leftMs, lookEveryMs), signal);
    }
  } finally {
    unsubscribe();
  }
}

const lookEveryMs = 2_000;

/** Remembers a signal that came while nobody waited. */
class Signal {
  private next = Promise.withResolvers<void>();

  give(): void {
    this.next.resolve();
  }

  async await(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const bound = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const over = new Promise<void>((resolve) => bound.addEventListener('abort', () => resolve(), { once: true }));
    await Promise.race([this.next.promise, over]);
    this.next = Promise.withResolvers();
  }
}

export function pairingOf({ secrets, log }: Pick<ChannelsDeps, 'secrets' | 'log'>, row: ChannelRow): Pairing {
  const { agentId, status, statusReason, pairing } = row;
  const none = { qr: null, pairingCode: null, expiresAt: null, attempt: 0 };
  const reason = statusReason && { code: statusReason.code, message: statusReason.message };
  if (status === 'connected') return { status: 'connected', reason: null, ...none };
  if (status === 'error') return { status: 'failed', reason, ...none };
  if (pairing === null) return { status: 'pending', reason, ...none };
  const { expiresAt, attempt } = pairing;
  if (expiresAt.getTime() <= Date.now()) return { status: 'expired', reason, ...none, expiresAt, attempt };
  try {
    const opened = JSON.parse(secrets.open(pairing.sealed, channelPairingContext(agentId, channel))) as {
      readonly qr: string | null;
      readonly pairingCode: string | null;
    };
    return { status: 'pending', reason, qr: opened.qr, pairingCode: opened.pairingCode, expiresAt, attempt };
  } catch {
    // The code was sealed with a lost key; the next code is readable.
    log.warn({ agent_id: agentId }, 'a code to pair could not be opened');
    return { status: 'expired', reason, ...none, expiresAt, attempt };
  }
}
