/**
 * OpenClaw's handshake for hosts that freeze it. A suspended gateway serves only these calls. The suspension ends by itself
 * two minutes after its last request, by the guest's clock and by its uptime. After a restore hours later the gateway is
 * open, and `resume` finds nothing to do.
 *
 * There is one suspension at a time, and every call here requests it with the same id and options. A repeated request, for
 * example after a crash, joins the present suspension, renews it and learns its id. (OpenClaw 2026.9.6,
 * gateway-suspend-coordinator.)
 */
import { RuntimeBusy } from '@lodge/ports';
import { GatewayError, type GatewayCallOptions } from '../gateway/calls.ts';
import { RuntimeWaitError, until } from '../guest-runtime.ts';
import type { OpenclawGuest } from './gateway.ts';

const request = { requestId: 'lodge', drain: true };
const pauseMs = 200;
/** Bounds, each times the host's pace. */
const resumeTimeoutMs = 60_000;
const reopenTimeoutMs = 5_000;
/** Commands that the agent left running. They continue after a freeze as before it and may never end. */
const commands = 'background-exec';
/**
 * OpenClaw's own upkeep, which it begins while nobody talks to it. Every 15 minutes of a guest it starts a process that
 * looks for abandoned copies of databases: a minute's work on a busy host without KVM. It continues after a freeze, too.
 */
const upkeep = 'idle-task';

/**
 * Closes the gateway to new work and waits until its work has ended. Resolves with the suspension's id, valid for at least
 * one minute. Rejects with `RuntimeBusy` when the work takes longer than `timeoutMs`. After any failure the gateway is told
 * to open again.
 */
export async function suspend(
  runtime: OpenclawGuest,
  timeoutMs: number,
  signal: AbortSignal,
  { awaitUpkeep = false }: { readonly awaitUpkeep?: boolean } = {},
): Promise<string> {
  const seen: { last: Preparation } = { last: { suspensionId: null, work: null, upkeep: false } };
  const wait = { what: 'suspend', timeoutMs, pauseMs, attemptMs: 30_000, signal };
  try {
    const suspension = await until(runtime, wait, async (options) => {
      seen.last = await prepare(runtime, options);
      const { suspensionId, work, upkeep: isKept } = seen.last;
      if (suspensionId !== null && work === null && !(awaitUpkeep && isKept)) return { suspensionId };
      return `it is at work: ${work ?? (isKept ? upkeep : 'unknown')}`;
    });
    return suspension.suspensionId;
  } catch (error) {
    const { suspensionId, work } = seen.last;
    if (suspensionId !== null) await reopen(runtime, suspensionId);
    if (error instanceof RuntimeWaitError && work !== null) {
      throw new RuntimeBusy(`OpenClaw was still at work after ${Math.round(timeoutMs / 1000)} s: ${work}`);
    }
    throw error;
  }
}

/** Opens the gateway again. An open gateway is a success. */
export async function resume(runtime: OpenclawGuest, suspensionId: string, signal: AbortSignal): Promise<void> {
  const timeoutMs = resumeTimeoutMs * runtime.guest.pace;
  const wait = { what: 'resume', timeoutMs, pauseMs: 100, attemptMs: 20_000, signal };
  await until(runtime, wait, async (options) => {
    try {
      return await release(runtime, suspensionId, options);
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== 'INVALID_REQUEST') throw error;
      // It is suspended under an id that was never stored, because the suspending process ended before it could.
      const actual = await prepare(runtime, options);
      return actual.suspensionId === null
        ? 'it is suspended by another'
        : release(runtime, actual.suspensionId, options);
    }
  });
}

/**
 * Opens the gateway after a failed suspension. Never fails: an unheard call is harmless, because the suspension ends by
 * itself.
 */
export async function reopen(runtime: OpenclawGuest, suspensionId: string): Promise<void> {
  const timeoutMs = reopenTimeoutMs * runtime.guest.pace;
  const options = { timeoutMs, signal: AbortSignal.timeout(timeoutMs) };
  await release(runtime, suspensionId, options).catch(() => undefined);
}

function release({ gateway }: OpenclawGuest, suspensionId: string, options: GatewayCallOptions): Promise<object> {
  return gateway.rpc('gateway.suspend.resume', { suspensionId }, options);
}

interface Preparation {
  readonly suspensionId: string | null;
  /** Its remaining work, by OpenClaw's own names; null when a freeze would hurt nothing. */
  readonly work: string | null;
  /** Whether it does upkeep of its own. */
  readonly upkeep: boolean;
}

async function prepare({ gateway }: OpenclawGuest, options: GatewayCallOptions): Promise<Preparation> {
  const { suspensionId, status, blockers } = await gateway.rpc('gateway.suspend.prepare', request, options);
  const kinds = new Set(Array.isArray(blockers) ? blockers.map(workOf) : []);
  const work = [...kinds].filter((kind) => kind !== commands && kind !== upkeep);
  const isIdle = status === 'ready' || (status === 'draining' && kinds.size > 0 && work.length === 0);
  return {
    suspensionId: typeof suspensionId === 'string' ? suspensionId : null,
    work: isIdle ? null : namesOf(work) || namesOf([status]) || 'unknown',
    upkeep: kinds.has(upkeep),
  };
}

/**
 * Returns a blocker's kind, or the name of a request that OpenClaw made itself for upkeep. The message ends with the makers
 * of the requests.
 */
function workOf(blocker: { readonly kind?: unknown; readonly message?: unknown } | null): unknown {
  const { kind, message } = blocker ?? {};
  const isUpkeep =
    typeof message === 'string' && /^\d{1,6} active gateway request\(s\): idle-task(?: \(\d{1,6}\))?$/.test(message);
  return kind === 'root-request' && isUpkeep ? upkeep : kind;
}

const namesOf = (given: readonly unknown[]): string =>
  given
    .filter((name) => typeof name === 'string')
    .join(', ')
    .slice(0, 200);
