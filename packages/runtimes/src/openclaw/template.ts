/**
 * From a cold guest to one that is worth cloning: configured, warm, suspended.
 *
 *   configure    the file is written; the guest's daemon sees it and starts the gateway
 *   start        until it is ready: 9-22 s natively, minutes under emulation
 *   warm         every path a first request takes is walked once, then chats until they stop getting faster
 *   drop         disk synced, page cache dropped, so that the template's memory file stays small
 *   re-warm      one more turn a provider brings back the pages that matter
 *   suspend      the gateway closes its door and finishes what it still does
 *
 * OpenClaw's worker threads, which a first turn pays for, are in the template too: the image keeps it from ending idle ones.
 */
import { randomBytes } from 'node:crypto';
import type { LlmApi, ReportProgress } from '@lodge/engine/ports';
import { configPath, modelFor, openclawConfig } from './config.ts';
import type { OpenclawFacts } from './facts.ts';
import { GatewayError } from './gateway.ts';
import { guestRuntime, lastLines, RuntimeWaitError, type GuestRuntime } from './guest-runtime.ts';
import { awaitReady } from './ready.ts';
import { suspend } from './suspension.ts';
import { textPrompt, toolsPrompt, warmupAnswer } from './warmup-llm.ts';

/** The first turn took two minutes under emulation, and more than five while others used the same processors. */
const chatTimeoutMs = 15 * 60_000;
/** Turns after which a gateway that still gets faster is warm enough. */
const mostSettlingChats = 8;
/** A turn within this factor of the fastest one counts as no faster. */
const settledFactor = 1.2;
const suspendTimeoutMs = 90_000;

export async function prepareTemplate(
  address: string,
  progress: ReportProgress,
  signal: AbortSignal,
): Promise<OpenclawFacts> {
  const token = randomBytes(32).toString('hex');
  const runtime = guestRuntime(address, token);
  progress('writing the configuration of OpenClaw');
  await runtime.guest.writeFile(configPath, openclawConfig(token), { mode: 0o600, owner: 'agent' }, { signal });
  await awaitReady(runtime, signal, (seconds) => progress(`waiting for OpenClaw to start (${seconds} s)`));
  const warmer = new Warmer(runtime, progress, signal);
  await warmer.walkAllPaths();
  await warmer.settle();
  progress('writing the guest out to its disk');
  await runtime.guest.sync(true, { signal });
  await warmer.refresh();
  progress('suspending OpenClaw');
  const suspensionId = await suspend(runtime, suspendTimeoutMs, signal);
  await runtime.guest.exec({ argv: ['sh', '-c', emptyLog], user: 'root', timeoutMs: 30_000 }, { signal });
  return { token, suspensionId };
}

/** What an agent's log tells begins with the agent, not with its template. The runtime appends, so it goes on at the start. */
const emptyLog = 'cd /var/log/lodge/runtime && rm -f [0-9]*.log && : > current';

const apis: readonly LlmApi[] = ['anthropic-messages', 'openai-completions'];

class Warmer {
  private readonly runtime: GuestRuntime;
  private readonly progress: ReportProgress;
  private readonly signal: AbortSignal;
  private chats = 0;

  constructor(runtime: GuestRuntime, progress: ReportProgress, signal: AbortSignal) {
    this.runtime = runtime;
    this.progress = progress;
    this.signal = signal;
  }

  async walkAllPaths(): Promise<void> {
    for (const api of apis) {
      await this.chat(api, textPrompt, true);
      await this.chat(api, toolsPrompt, true);
      await this.chat(api, textPrompt, false);
    }
  }

  /** Until two turns in a row were no faster than the best before them. */
  async settle(): Promise<void> {
    let best = Infinity;
    let settled = 0;
    for (let count = 0; settled < 2 && count < mostSettlingChats; count += 1) {
      const tookMs = await this.chat('openai-completions', textPrompt, count % 2 === 0);
      settled = tookMs * settledFactor >= best ? settled + 1 : 0;
      best = Math.min(best, tookMs);
    }
  }

  async refresh(): Promise<void> {
    for (const api of apis) await this.chat(api, textPrompt, true);
  }

  private async chat(api: LlmApi, text: string, stream: boolean): Promise<number> {
    this.chats += 1;
    this.progress(`warming OpenClaw up (turn ${this.chats})`);
    const startedAt = performance.now();
    const model = modelFor({ api, contextWindow: null });
    const { signal } = this;
    try {
      const answer = await this.runtime.gateway.chat({ model, text, stream, timeoutMs: chatTimeoutMs, signal });
      if (!answer.includes(warmupAnswer))
        throw new GatewayError(200, null, `OpenClaw answered a warm-up with: ${answer}`);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      throw new RuntimeWaitError(`${error.message}. ${await lastLines(this.runtime, signal)}`, { cause: error });
    }
    return performance.now() - startedAt;
  }
}
