import type { LlmApi, ReportProgress } from '@lodge/ports';
import { GatewayError } from './gateway/calls.ts';
import { lastLines, RuntimeWaitError, type GuestRuntime } from './guest-runtime.ts';
import { textPrompt, toolsPrompt } from './warmup-llm.ts';
import { warmupAnswer } from './warmup-wires.ts';

/** OpenClaw's first turn took two minutes under emulation, and more than five while others used the same processors. */
const chatTimeoutMs = 15 * 60_000;
/** Turns after which a gateway that still gets faster is warm enough. */
const maxSettlingChats = 8;
/** A turn within this factor of the fastest one counts as no faster. */
const settledFactor = 1.2;

export interface WarmUp {
  readonly apis: readonly LlmApi[];
  /** Returns the name of the agent's model in the guest, for a provider with that API. */
  readonly modelFor: (api: LlmApi) => string;
  readonly progress: ReportProgress;
  readonly signal: AbortSignal;
}

/** Chats with a runtime until it is warm. */
export class Warmer {
  private readonly runtime: GuestRuntime;
  private readonly warmUp: WarmUp;
  private chats = 0;

  constructor(runtime: GuestRuntime, warmUp: WarmUp) {
    this.runtime = runtime;
    this.warmUp = warmUp;
  }

  /** Runs one turn, which covers most of the cost of a first one. */
  async first(): Promise<void> {
    await this.chat('openai-completions', textPrompt, true);
  }

  /** Walks every path of a first request once. */
  async walkAllPaths(): Promise<void> {
    for (const api of this.warmUp.apis) {
      await this.chat(api, textPrompt, true);
      await this.chat(api, toolsPrompt, true);
      await this.chat(api, textPrompt, false);
    }
  }

  /** Repeats turns until two in a row were no faster than the best before them. */
  async settle(): Promise<void> {
    let best = Infinity;
    let settled = 0;
    for (let count = 0; settled < 2 && count < maxSettlingChats; count += 1) {
      const tookMs = await this.chat('openai-completions', textPrompt, count % 2 === 0);
      settled = tookMs * settledFactor >= best ? settled + 1 : 0;
      best = Math.min(best, tookMs);
    }
  }

  /** Brings back the pages that matter after the page cache was dropped. */
  async refresh(): Promise<void> {
    for (const api of this.warmUp.apis) await this.chat(api, textPrompt, true);
  }

  private async chat(api: LlmApi, text: string, stream: boolean): Promise<number> {
    const { progress, modelFor, signal } = this.warmUp;
    const { name, gateway } = this.runtime;
    this.chats += 1;
    progress(`warming ${name} up (turn ${this.chats})`);
    const startedAt = performance.now();
    try {
      const answer = await gateway.chat({ model: modelFor(api), text, stream, timeoutMs: chatTimeoutMs, signal });
      if (!answer.includes(warmupAnswer))
        throw new GatewayError(200, null, `${name} answered a warm-up with: ${answer}`);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      throw new RuntimeWaitError(`${error.message}. ${await lastLines(this.runtime, signal)}`, { cause: error });
    }
    return performance.now() - startedAt;
  }
}
