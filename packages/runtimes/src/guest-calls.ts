/** What every runtime asks of its guest's daemon alike. */
import type { AgentRuntime, RuntimeHealth, RuntimeLogLine } from '@lodge/ports';
import { guestClient, GuestError, maxRuntimeGraceMs } from '@lodge/guest';
import { GatewayError } from './gateway/calls.ts';
import type { GuestRuntime } from './guest-runtime.ts';
import { logPiece, logPieceBytes } from './log-piece.ts';

/** Each bound times the host's pace. From SIGTERM on; OpenClaw's own limit for the work in hand is five minutes. */
const endTimeoutMs = 10_000;
const lastSyncMs = 20_000;
/** A gateway at work on an emulated CPU is seconds late. */
const healthTimeoutMs = 10_000;

/** Of a runtime whose log lines `logLines` reads. */
export function guestCalls(
  logLines: (lines: readonly string[]) => RuntimeLogLine[],
): Pick<AgentRuntime, 'flush' | 'shutdown' | 'readLog'> {
  return {
    async flush(guest, signal) {
      await guestClient(guest).sync(false, { signal });
    },
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
  };
}

/** A guest that does not answer, or of an older image, is ended without having been asked. */
function unanswered(error: unknown): void {
  if (!(error instanceof GuestError)) throw error;
}

export async function health({ gateway, guest }: GuestRuntime, signal: AbortSignal): Promise<RuntimeHealth> {
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

/** What an agent's log tells begins with the agent, not with its template. The runtime appends, so it goes on at the start. */
export async function emptyRuntimeLog({ guest }: Pick<GuestRuntime, 'guest'>, signal: AbortSignal): Promise<void> {
  const script = 'cd /var/log/lodge/runtime && rm -f [0-9]*.log && : > current';
  await guest.exec({ argv: ['sh', '-c', script], user: 'root', timeoutMs: 30_000 * guest.pace }, { signal });
}
