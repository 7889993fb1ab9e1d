import { RuntimeBusy } from '@lodge/ports';
import { RuntimeWaitError, until } from '../guest-runtime.ts';
import type { HermesGuest } from './gateway.ts';

/** Resolves when no turn is in progress. Commands that the agent left running continue after a freeze as before it. */
export async function awaitIdle(runtime: HermesGuest, timeoutMs: number, signal: AbortSignal): Promise<void> {
  const seen = { work: 0 };
  const wait = { what: 'end its work', timeoutMs, pauseMs: 200, attemptMs: 30_000, signal };
  try {
    await until(runtime, wait, async (options) => {
      seen.work = await runtime.gateway.work(options);
      return seen.work === 0 ? {} : `turns in hand: ${seen.work}`;
    });
  } catch (error) {
    if (!(error instanceof RuntimeWaitError) || seen.work === 0) throw error;
    throw new RuntimeBusy(`Hermes was still at work after ${Math.round(timeoutMs / 1000)} s: ${seen.work} turns`);
  }
}
