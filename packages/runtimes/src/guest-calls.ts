/** Calls to the guest's daemon that all runtimes share. */
import type { AgentRuntime, GuestAddress, RuntimeFacts, RuntimeHealth, RuntimeLogLine } from '@lodge/ports';
import { guestClient, GuestError, maxRuntimeGraceMs } from '@lodge/guest';
import { forgetBrowser } from './browser.ts';
import { GatewayError } from './gateway/calls.ts';
import type { GuestRuntime } from './guest-runtime.ts';
import { logPiece, logPieceBytes } from './log-piece.ts';
import { awaitReady } from './ready.ts';

/** Bounds, each times the host's pace. The first begins with SIGTERM; OpenClaw's own limit for its work is five minutes. */
const endTimeoutMs = 10_000;
const lastSyncMs = 20_000;
/** A busy gateway on an emulated CPU answers seconds late. */
const healthTimeoutMs = 10_000;

/** Returns the calls of a runtime that `runtimeOf` finds in a guest, and whose log lines `logLines` reads. */
export function guestCalls(
  runtimeOf: (guest: GuestAddress, facts: RuntimeFacts) => GuestRuntime,
  logLines: (lines: readonly string[]) => RuntimeLogLine[],
): Pick<AgentRuntime, 'flush' | 'forget' | 'shutdown' | 'readLog' | 'health' | 'awaitBoot'> {
  return {
    async flush(guest, signal) {
      await guestClient(guest).sync(false, { signal });
    },
    forget: (guest, signal) => forgetBrowser(guestClient(guest), signal),
    async shutdown(address, _facts, signal) {
      const guest = guestClient(address);
      await guest.stopRuntime(Math.min(maxRuntimeGraceMs, endTimeoutMs * guest.pace), { signal }).catch(unanswered);
      await guest.sync(false, { timeoutMs: lastSyncMs * guest.pace, signal }).catch(unanswered);
    },
    async readLog(guest, offset, signal) {
      const { text, nextOffset } = await guestClient(guest).logs('runtime', offset, logPieceBytes, { signal });
      const { lines, leftOut } = logPiece(text);
      return { lines: logLines(lines), nextOffset, ...(leftOut > 0 && { leftOut }) };
    },
    health: async (guest, facts, signal) => health(runtimeOf(guest, facts), signal),
    awaitBoot: async (guest, facts, _settings, signal) => awaitReady(runtimeOf(guest, facts), signal, () => undefined),
  };
}

/** Ignores a guest that does not answer or has an older image; it is ended without a request. Rethrows other errors. */
function unanswered(error: unknown): void {
  if (!(error instanceof GuestError)) throw error;
}

async function health({ gateway, guest }: GuestRuntime, signal: AbortSignal): Promise<RuntimeHealth> {
  const options = { timeoutMs: healthTimeoutMs * guest.pace, signal };
  const [failing, facts] = await Promise.all([
    gateway.failing(options).catch((error: unknown) => {
      if (error instanceof GatewayError) return error.message;
      throw error;
    }),
    guest.health(options).catch((error: unknown) => {
      unanswered(error);
      return null;
    }),
  ]);
  return { gateway: failing, oomKills: facts?.oomKills ?? null, diskFreeMib: facts?.diskFreeMib ?? null };
}

/**
 * Empties the runtime's log, so that an agent's log begins with the agent and not with its template. The runtime appends, so
 * it continues at the start.
 */
export async function emptyRuntimeLog({ guest }: Pick<GuestRuntime, 'guest'>, signal: AbortSignal): Promise<void> {
  const script = 'cd /var/log/lodge/runtime && rm -f [0-9]*.log && : > current';
  await guest.exec({ argv: ['sh', '-c', script], user: 'root', timeoutMs: 30_000 * guest.pace }, { signal });
}
